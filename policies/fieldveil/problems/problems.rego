# METADATA
# title: Problems
# description: What is wrong with catalog and rules. While there is anything, there is no plan for anybody.
package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.shape
import data.fieldveil.treatment

# METADATA
# title: none
# description: Whether catalog and rules are sound.
none if count(found) == 0

# METADATA
# title: found
# description: |
#   Each problem as {"path", "reason", "remedy"}, for `opa eval data.fieldveil.problems.found`. The path leads to the
#   offending value in data, as far as it exists.
# entrypoint: true
found contains problem if {
	count(columns.catalogs) == 0
	problem := {
		"path": ["catalog"],
		"reason": "no catalog is loaded",
		"remedy": "load a folder such as catalog/shop with a data.yaml or data.json",
	}
}

found contains problem if {
	some name, catalog in columns.catalogs
	some problem in shape.problems(["catalog", name], catalog, "catalog")
}

found contains problem if {
	some name, ruleset in treatment.rulesets
	some problem in shape.problems(["rules", name], ruleset, "rules")
}
