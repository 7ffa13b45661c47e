package fieldveil.problems_test

x := ["databases", 0, "columns", "public.t", "x"]

test_a_column_of_an_undefined_label_is_a_problem if {
	of_catalog(set_to("databases/0/columns/public.t/x", "c")) == {problem(
		array.concat(["catalog", "test"], x),
		"no catalog defines the label c",
		"define it, or name one of those that are defined",
	)}
}

test_a_column_of_two_labels_is_a_problem_at_both_places if {
	other := set_to("databases/0/columns/public.t/x", "b")
	found := of_catalogs({"one": catalog, "two": json.patch(catalog, other)})
	paths(found) == {array.concat(["catalog", "one"], x), array.concat(["catalog", "two"], x)}
	{one.reason | some one in found} == {"the column has 2 labels: a, b"}
}

test_a_column_of_another_database_may_have_another_label if {
	of_catalogs({"one": catalog, "two": json.patch(catalog, [
		{"op": "replace", "path": "databases/0/database", "value": "other"},
		{"op": "replace", "path": "databases/0/columns/public.t/x", "value": "b"},
	])}) == set()
}

test_a_plan_that_is_too_old_before_it_is_renewed_is_a_problem if {
	remedy := "let max_stale_seconds be no less than ttl_seconds"
	of_catalog(set_to("databases/0/max_stale_seconds", 29)) == {problem(
		["catalog", "test", "databases", 0, "max_stale_seconds"],
		"a plan would be too old after 29 seconds and renewed after 30",
		remedy,
	)}
	of_catalog(set_to("databases/0/ttl_seconds", 301)) == {problem(
		["catalog", "test", "databases", 0, "ttl_seconds"],
		"a plan would be too old after 300 seconds and renewed after 301",
		remedy,
	)}
	of_catalog(set_to("databases/0/max_stale_seconds", 30)) == set()
}
