package custom

import data.fieldveil.columns

deny if {
	unused := 1
	nosuch(input)
}
