package fieldveil.problems_test

import data.fieldveil.problems

read_path := ["rules", "test", "rules", 0, "read"]

budget_then(then) := {"treatment": "reveal", "budget": {"rows": 5, "per_seconds": 60, "then": then}}

with_own_mask(rules) := found if {
	masked := json.patch(catalog, set_to("labels/a/mask", "last4"))
	found := problems.found with data.catalog as {"test": masked} with data.rules as {"test": {"rules": rules}}
}

test_a_mask_without_a_format_needs_one_of_the_label if {
	missing := "it names no format, and label a has no mask of its own"
	remedy := "add format here, or mask to the label in the catalog"
	mask := {"treatment": "mask"}
	of_rule(set_to("read", mask)) == {problem(read_path, missing, remedy)}
	place := array.concat(read_path, ["budget", "then"])
	of_rule(set_to("read", budget_then(mask))) == {problem(place, missing, remedy)}
	with_own_mask([object.union(rule, {"read": mask})]) == set()
	with_own_mask([object.union(rule, {"read": budget_then(mask)})]) == set()
}

test_a_label_that_catalogs_say_differently_is_no_second_problem_of_a_rule if {
	masked := json.patch(catalog, set_to("labels/a/mask", "last4"))
	rules := [object.union(rule, {"read": {"treatment": "mask"}})]
	found := problems.found with data.catalog as {"test": catalog, "other": masked}
		with data.rules as {"test": {"rules": rules}}
	{one.path[0] | some one in found} == {"catalog"}
}

test_a_format_that_is_none_is_said_once if {
	count(of_rule(set_to("read", {"treatment": "mask", "format": "last5"}))) == 1
	bad := json.patch(catalog, set_to("labels/a/mask", "last5"))
	found := problems.found with data.catalog as {"test": bad} with data.rules as {}
	count(found) == 1
}

test_a_mask_after_a_budget_is_for_its_type_too if {
	year := {"treatment": "mask", "format": "year"}
	of_rule(set_to("read", budget_then(year))) == {problem(
		array.concat(read_path, ["budget", "then", "format"]),
		"mask year is not for label a of type text",
		"use another format or treatment, or leave the label out of the rule",
	)}
	of_rule(set_to("read", budget_then({"treatment": "mask", "format": "last4"}))) == set()
}

test_a_mask_of_first_and_last_is_for_characters if {
	mask := {"treatment": "mask", "format": "partial(1,\"xx\",2)"}
	of_rule(set_to("read", mask)) == set()
	patches := array.concat(set_to("read", mask), set_to("labels", ["b"]))
	{one.reason | some one in of_rule(patches)} == {"mask partial(1,\"xx\",2) is not for label b of type timestamp(3)"}
}

test_a_format_or_a_budget_of_another_shape_is_a_problem if {
	every format in [
		"partial",
		"partial()",
		"partial(1,xx,1)",
		"partial(1, \"xx\",1)",
		"partial(65,\"xx\",1)",
		"partial(1,\"\",1)",
		"partial(01,\"x\",1)",
		"partial(1,\"a\\b\",1)",
		"last4 ",
	] {
		array.concat(read_path, ["format"]) in paths(of_rule(set_to("read", {"treatment": "mask", "format": format})))
	}
	some_rows := {"treatment": "reveal", "budget": {"rows": 5, "per_seconds": 60, "then": {"treatment": "null"}}}
	of_rule(set_to("read", some_rows)) == set()
	every key, values in {"rows": [0, 1000000001, 1.5, "5"], "per_seconds": [0, 86401, -1]} {
		every value in values {
			patch := [{"op": "add", "path": concat("/", ["read/budget", key]), "value": value}]
			found := of_rule(array.concat(set_to("read", some_rows), patch))
			array.concat(read_path, ["budget", key]) in paths(found)
		}
	}
	every then in [{"treatment": "reveal"}, {"treatment": "conceal"}, {"treatment": "null", "format": "last4"}, "null"] {
		some one in of_rule(set_to("read", budget_then(then)))
		array.slice(one.path, 0, 7) == array.concat(read_path, ["budget", "then"])
	}
	every treatment in ["mask", "conceal", "null", "refuse"] {
		read := object.union(some_rows, {"treatment": treatment})
		array.concat(read_path, ["treatment"]) in paths(of_rule(set_to("read", read)))
	}
}
