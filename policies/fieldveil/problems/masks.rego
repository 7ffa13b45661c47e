package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.treatment

# What each mask can be made of; the types as their first word. Arrays have no mask.
masks := {
	"last4": {"text", "varchar", "bpchar"},
	"first1": {"text", "varchar", "bpchar"},
	"email": {"text", "varchar", "bpchar"},
	"partial": {"text", "varchar", "bpchar"},
	"year": {"date", "timestamp", "timestamptz"},
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
	some label in treatment.labels_of(mask.rule)
	type := columns.labels[label].type
	not is_for(mask.read.format, type)
	problem := {
		"path": array.concat(mask.path, ["format"]),
		"reason": sprintf("mask %v is not for label %v of type %v", [mask.read.format, label, type]),
		"remedy": "use another format or treatment, or leave the label out of the rule",
	}
}

found contains problem if {
	some mask in masks_of_rules
	not mask.read.format
	some label in treatment.labels_of(mask.rule)
	not has_mask(label)
	problem := {
		"path": mask.path,
		"reason": sprintf("it names no format, and label %v has no mask of its own", [label]),
		"remedy": "add format here, or mask to the label in the catalog",
	}
}

has_mask(label) if columns.masks[label]

# Whether a mask of this format can be made of values of this type.
is_for(format, type) if {
	not endswith(type, "[]")
	split(type, "(")[0] in masks[split(format, "(")[0]]
}
