package fieldveil.problems_test

of_paths(json_paths) := of_catalog(set_to("services", [service(json_paths)]))

service(json_paths) := {"protocol": "http", "service": "orders", "paths": json_paths}

at_path(path) := ["catalog", "test", "services", 0, "paths", path]

test_json_paths_name_labels if {
	of_paths({"$.customer.ssn": "a", "$['customer']['born']": "b", "$.items[*].card": "a", "$..ssn": "a"}) == set()
}

test_a_path_that_is_none_or_can_not_stream_is_a_problem if {
	of_paths({"customer.ssn": "a", "$.items[-1]": "a"}) == {
		problem(
			at_path("customer.ssn"),
			"customer.ssn is no JSON path",
			"begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step",
		),
		problem(
			at_path("$.items[-1]"),
			"[-1] can not be followed while a body streams by",
			"use .name, ['any name'], [*], [0] and ..name alone",
		),
	}
}

test_a_path_of_an_undefined_label_is_a_problem if {
	of_paths({"$.x": "c"}) == {problem(
		at_path("$.x"),
		"no catalog defines the label c",
		"define it, or name one of those that are defined",
	)}
}

test_a_path_of_two_labels_is_a_problem_at_both_places_however_it_is_spelled if {
	found := of_paths({"$.x.y": "a", "$['x'].y": "b"})
	paths(found) == {at_path("$.x.y"), at_path("$['x'].y")}
	{one.reason | some one in found} == {
		"$.x.y can be the same value, and has the label a",
		"$['x'].y can be the same value, and has the label b",
	}
	of_paths({"$.x.y": "a", "$['x'].y": "a"}) == set()
}

test_a_path_of_another_service_may_have_another_label if {
	of_catalog(set_to("services", [
		{"protocol": "http", "service": "orders", "paths": {"$.x": "a"}},
		{"protocol": "http", "service": "people", "paths": {"$.x": "b"}},
	])) == set()
}

test_a_service_of_another_shape_is_a_problem_and_says_where if {
	place := ["catalog", "test", "services", 0]
	every key, value in {"protocol": "grpc", "service": "", "paths": {}, "more": 1} {
		found := of_catalog(set_to("services", [json.patch(service({"$.x": "a"}), set_to(key, value))]))
		array.concat(place, [key]) in paths(found)
	}
	array.concat(place, ["paths", "$.x"]) in paths(of_paths({"$.x": text}))
}
