package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.shape.schemas
import data.fieldveil.treatment

# What a mask can be made of; the types as their first word. Arrays have no mask.
types_of(name) := {type | some type in schemas.whole.masks.types[mask.types]} if {
	mask := schemas.whole.masks.masks[name]
}

# Every mask of a rule, with its place in it.
masks_of_rules contains mask if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	some place in [["read"], ["read", "budget", "then"]]
	read := object.get(rule, place, {})
	read.treatment == "mask"
	mask := {"path": array.concat(["rules", name, "rules", i], place), "rule": rule, "read": read}
}

found contains problem if {
	some mask in masks_of_rules
	is_known(mask.read.format)
	some label in (treatment.labels_of(mask.rule) - maskable[mask.read.format])
	problem := {
		"path": array.concat(mask.path, ["format"]),
		"reason": sprintf("mask %v is not for label %v of type %v", [mask.read.format, label, columns.labels[label].type]),
		"remedy": "use another format or treatment, or leave the label out of the rule",
	}
}

found contains problem if {
	some mask in masks_of_rules
	not mask.read.format
	some label in ((treatment.labels_of(mask.rule) & object.keys(columns.labels)) - object.keys(columns.masks))
	problem := {
		"path": mask.path,
		"reason": sprintf("it names no format, and label %v has no mask of its own", [label]),
		"remedy": "add format here, or mask to the label in the catalog",
	}
}

# Once for each format, however many rules have it.
maskable[format] := {label |
	some label, definition in columns.labels
	is_for(format, definition.type)
} if {
	some format in formats
}

formats contains mask.read.format if some mask in masks_of_rules

# What is no format at all, the schema has a word for.
is_known(format) if types_of(split(format, "(")[0])

# Whether a mask of this format can be made of values of this type.
is_for(format, type) if {
	not endswith(type, "[]")
	split(type, "(")[0] in types_of(split(format, "(")[0])
}
