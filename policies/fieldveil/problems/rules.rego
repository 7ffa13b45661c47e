package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.treatment

# What each mask can be made of; the types as their first word. Arrays have no mask.
masks := {
	"last4": {"text", "varchar", "bpchar"},
	"first1": {"text", "varchar", "bpchar"},
	"email": {"text", "varchar", "bpchar"},
	"year": {"date", "timestamp", "timestamptz"},
}

found contains problem if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	some j, pattern in rule.labels
	count(treatment.labels_like[pattern]) == 0
	problem := {
		"path": ["rules", name, "rules", i, "labels", j],
		"reason": sprintf("no label is like %v", [pattern]),
		"remedy": "correct it: a catalog must define a label that it names",
	}
}

found contains problem if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	rule.read.treatment == "mask"
	some label in (treatment.labels_of(rule) - maskable[rule.read.format])
	problem := {
		"path": ["rules", name, "rules", i, "read", "format"],
		"reason": sprintf("mask %v is not for label %v of type %v", [rule.read.format, label, columns.labels[label].type]),
		"remedy": "use another format or treatment, or leave the label out of the rule",
	}
}

found contains problem if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	some conditions in ["who", "unless"]
	some j, network in rule[conditions].session.source
	not net.cidr_is_valid(network)
	problem := {
		"path": ["rules", name, "rules", i, conditions, "session", "source", j],
		"reason": sprintf("%v is not a network", [network]),
		"remedy": "write one such as 10.0.0.0/8 or 127.0.0.1/32",
	}
}

maskable[format] := {label |
	some label, definition in columns.labels
	not endswith(definition.type, "[]")
	split(definition.type, "(")[0] in types
} if {
	some format, types in masks
}
