package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.shape.schemas

found contains problem if {
	some column in columns.mapped
	column.protocol == "mysql"
	type := columns.labels[column.label].type
	remedy := without_a_form(type)
	problem := {
		"path": column.path,
		"reason": sprintf("label %v is of type %v, of which MySQL has no values", [column.label, type]),
		"remedy": remedy,
	}
}

# Why MySQL has no values of the type: what to declare instead.
without_a_form(type) := "declare json or text" if {
	endswith(type, "[]")
} else := instead if {
	instead := schemas.whole.types.types[split(type, "(")[0]].instead_in_mysql
} else := "declare at most 65 digits, and 30 of them behind the point" if {
	startswith(type, "numeric(")
	not fits(digits_of(type))
}

fits(digits) if {
	digits[0] <= 65
	digits[1] <= 30
}

# Precision and scale; 0 is the scale that is not said.
digits_of(type) := array.concat([to_number(digits) | some digits in split(modifier, ",")], [0]) if {
	modifier := trim_suffix(split(type, "(")[1], ")")
}
