package fieldveil.problems_test

import data.fieldveil.problems

test_rules_of_another_shape_are_a_problem_and_say_where if {
	every case in [
		["raed", {"treatment": "refuse"}, ["raed"]],
		["read/treatment", "show", ["read", "treatment"]],
		["read", {"treatment": "mask", "format": "last5"}, ["read", "format"]],
		["write", "plain", ["write"]],
		["who", {}, ["who"]],
		["who/session", {}, ["who", "session"]],
		["who/session/user", [], ["who", "session", "user"]],
		["who/session/user", [""], ["who", "session", "user", 0]],
		["who/session/user", "ann", ["who", "session", "user"]],
		["who/session/usr", ["ann"], ["who", "session", "usr"]],
		["labels", [], ["labels"]],
	] {
		[pointer, value, path] := case
		array.concat(["rules", "test", "rules", 0], path) in paths(of_rule(set_to(pointer, value)))
	}
	every path in {"name", "who", "labels", "read"} {
		["rules", "test", "rules", 0] in paths(of_rule([{"op": "remove", "path": path}]))
	}
	every path, value in {
		"read/format": "last4",
		"read": {"treatment": "mask"},
		"who/claims": {"roles": "x"},
		"unless": {"session": {"user": ["ann"]}},
	} {
		some one in of_rule(set_to(path, value))
		array.slice(one.path, 0, 4) == ["rules", "test", "rules", 0]
	}
}

test_a_limit_can_neither_reveal_nor_let_write if {
	place := ["rules", "test", "rules", 0]
	array.concat(place, ["read", "treatment"]) in paths(of_limit({"read": {"treatment": "reveal"}}))
	array.concat(place, ["write"]) in paths(of_limit({"write": "seal"}))
	of_limit({"read": {"treatment": "mask", "format": "last4"}, "write": "refuse"}) == set()
	of_limit({"read": {"treatment": "refuse"}}) == set()
}

of_limit(decision) := found if {
	limit := object.union({"name": "l", "unless": {"session": {"user": ["ann"]}}, "labels": ["a"]}, decision)
	found := problems.found with data.catalog as {"test": catalog} with data.rules as {"test": {"rules": [limit]}}
}

test_a_pattern_like_no_label_is_a_problem if {
	of_rule(set_to("labels", ["a", "customer.*"])) == {problem(
		["rules", "test", "rules", 0, "labels", 1],
		"no label is like customer.*",
		"correct it: a catalog must define a label that it names",
	)}
}

no_mask(format, label, type) := {problem(
	["rules", "test", "rules", 0, "read", "format"],
	sprintf("mask %v is not for label %v of type %v", [format, label, type]),
	"use another format or treatment, or leave the label out of the rule",
)}

test_a_mask_for_another_type_is_a_problem if {
	every format in {"last4", "first1", "email"} {
		mask := {"treatment": "mask", "format": format}
		of_rule(set_to("read", mask)) == set()
		of_rule(array.concat(set_to("read", mask), set_to("labels", ["b"]))) == no_mask(format, "b", "timestamp(3)")
	}
	year := {"treatment": "mask", "format": "year"}
	of_rule(set_to("read", year)) == no_mask("year", "a", "text")
	of_rule(array.concat(set_to("read", year), set_to("labels", ["b"]))) == set()
}

test_an_array_has_no_mask if {
	masked := object.union(rule, {"read": {"treatment": "mask", "format": "last4"}})
	every type in {"text[]", "varchar(5)[]"} {
		changed := json.patch(catalog, set_to("labels/a/type", type))
		found := problems.found with data.catalog as {"test": changed} with data.rules as {"test": {"rules": [masked]}}
		found == no_mask("last4", "a", type)
	}
}

test_a_source_that_is_no_network_is_a_problem if {
	of_rule(set_to("who/session/source", ["10.0.0.0/8", "10.0.0.1"])) == {problem(
		["rules", "test", "rules", 0, "who", "session", "source", 1],
		"10.0.0.1 is not a network",
		"write one such as 10.0.0.0/8 or 127.0.0.1/32",
	)}
}
