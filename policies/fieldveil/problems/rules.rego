package fieldveil.problems

import data.fieldveil.treatment

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
	some conditions in ["who", "unless"]
	some j, network in rule[conditions].session.source
	not net.cidr_is_valid(network)
	problem := {
		"path": ["rules", name, "rules", i, conditions, "session", "source", j],
		"reason": sprintf("%v is not a network", [network]),
		"remedy": "write one such as 10.0.0.0/8 or 127.0.0.1/32",
	}
}
