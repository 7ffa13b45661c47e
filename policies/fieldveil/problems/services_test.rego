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

test_a_service_needs_paths_or_routes if {
	bare := {"protocol": "http", "service": "orders"}
	{one.reason | some one in of_catalog(set_to("services", [bare]))} == {"paths or routes is required"}
	of_catalog(set_to("services", [object.union(bare, {"routes": [{"path": "/health"}]})])) == set()
}

test_a_route_of_another_shape_is_a_problem_and_says_where if {
	every key, value in {
		"path": "",
		"methods": [],
		"methods/0": "get",
		"request": {},
		"response": {},
		"query": {"a\tb": "equal"},
		"query/": 5,
		"graphql": "yes",
		"more": 1,
	} {
		route := json.patch({"path": "/x", "methods": ["GET"], "query": {"ssn": "equal"}}, set_to(key, value))
		in_route(0, [split(key, "/")[0]]) in {array.slice(one.path, 0, 7) | some one in of_routes([route])}
	}
	every said in [{"unmatched": "warn"}, {"ttl_seconds": 0}, {"max_stale_seconds": 100000}] {
		found := of_services({"test": object.union({"paths": {"$.a": "a"}}, said)})
		some key, _ in said
		paths(found) == {["catalog", "test", "services", 0, key]}
	}
}

test_a_route_that_no_request_can_fit_is_a_problem if {
	of_routes([{"path": "/people/", "query": {"ssn": "equal"}}]) == {problem(
		in_route(0, ["path"]),
		"it has an empty segment",
		"leave out doubled and trailing slashes, which the filter ignores",
	)}
}

test_a_label_that_is_not_defined_is_a_problem_at_every_place if {
	route := {
		"path": "/{id}",
		"request": {"$.x": "c"},
		"response": {"$.x": "c"},
		"query": {"x": "c"},
		"headers": {"x": "c"},
		"segments": {"id": "c"},
	}
	found := of_routes([route])
	{one.reason | some one in found} == {"no catalog defines the label c"}
	count(found) == 5
}

test_a_segment_that_the_path_does_not_name_is_a_problem if {
	of_routes([{"path": "/people/{id}", "segments": {"ssn": "equal"}}]) == {problem(
		in_route(0, ["segments", "ssn"]),
		"/people/{id} has no parameter {ssn}",
		"name one of the path's, without its braces",
	)}
	of_routes([{"path": "/{id}", "segments": {"id": "equal"}}]) == set()
}

test_a_header_is_named_in_lower_case if {
	every name in ["X-SSN", "x ssn", ":path", "x-ssn:", "größe"] {
		of_routes([{"path": "/p", "headers": {name: "equal"}}]) == {problem(
			in_route(0, ["headers", name]),
			sprintf("%v is no header's name in lower case", [name]),
			"write letters in lower case, digits and - as in x-customer-ssn",
		)}
	}
	every name in ["x-ssn", "ssn", "x_ssn.1"] {
		of_routes([{"path": "/p", "headers": {name: "equal"}}]) == set()
	}
}

test_a_header_that_others_read_is_a_problem if {
	every name in [
		"authorization", "cookie", "host", "connection", "transfer-encoding", "te", "upgrade", "content-type",
		"content-length", "content-encoding", "x-forwarded-for", "x-envoy-original-path", "if-match", "range",
	] {
		of_routes([{"path": "/p", "headers": {name: "equal"}}]) == {problem(
			in_route(0, ["headers", name]),
			sprintf("%v is not the service's own: others read it or say in it who asks", [name]),
			"leave it out, or let clients send the value in a header of its own",
		)}
	}
}

test_path_of_graphql_outside_of_variables_or_data_is_a_problem if {
	every case in [
		{"in": "request", "paths": ["$.ssn", "$.data.ssn", "$[0].variables.ssn", "$['query']"], "member": "variables"},
		{"in": "response", "paths": ["$.ssn", "$.variables.ssn", "$.customer.data"], "member": "data"},
	] {
		every path in case.paths {
			of_routes([{"path": "/p", "graphql": true, case["in"]: {path: "equal"}}]) == {problem(
				in_route(0, [case["in"], path]),
				sprintf("%v is outside of $.%v, where a %v of GraphQL has its values", [path, case.member, case["in"]]),
				sprintf("begin it with $.%v, or leave out graphql", [case.member]),
			)}
			of_routes([{"path": "/p", case["in"]: {path: "equal"}}]) == set()
		}
	}
	sound := {
		"request": {"$.variables.ssn": "equal", "$..email": "equal", "$[*].note": "equal"},
		"response": {"$.data..ssn": "equal", "$['data'].email": "equal"},
		"headers": {"x-ssn": "equal"},
	}
	of_routes([object.union({"path": "/p", "graphql": true}, sound)]) == set()
}

of_searched(definition) := found if {
	catalogs := {"test": {
		"labels": {"x": object.union(text, definition)},
		"services": [{
			"protocol": "http",
			"service": "s",
			"routes": [{"path": "/{id}", "query": {"x": "x"}, "headers": {"x": "x"}, "segments": {"id": "x"}}],
		}],
	}}
	found := of_catalogs(catalogs)
}

test_what_stands_outside_of_bodies_can_be_searched_by if {
	every definition in [
		{"protection": "deterministic"},
		{"protection": "deterministic", "type": "numeric(10,2)"},
		{"protection": "deterministic", "type": "timestamptz"},
		{"protection": "deterministic", "type": "bpchar(4)"},
		{"protection": "format_preserving", "alphabet": "digits"},
	] {
		of_searched(definition) == set()
	}
	every why, definition in {
		"equal values are stored differently": {"protection": "randomized"},
		"the index lies within the envelope": {"protection": "indexed"},
		"equal values of type jsonb have several texts": {"protection": "deterministic", "type": "jsonb"},
		"equal values of type json have several texts": {"protection": "deterministic", "type": "json"},
		"equal values of type float8 have several texts": {"protection": "deterministic", "type": "float8"},
		"equal values of type numeric have several texts": {"protection": "deterministic", "type": "numeric"},
		"equal values of type bpchar[] have several texts": {"protection": "deterministic", "type": "bpchar[]"},
	} {
		found := of_searched(definition)
		{one.reason | some one in found} == {sprintf("label x can not be searched by here: %v", [why])}
		{one.path[6] | some one in found} == {"query", "headers", "segments"}
	}
}

test_ages_of_a_service_are_those_of_a_database if {
	found := of_services({"test": {"paths": {"$.a": "a"}, "ttl_seconds": 60, "max_stale_seconds": 30}})
	found == {problem(
		["catalog", "test", "services", 0, "max_stale_seconds"],
		"a plan would be too old after 30 seconds and renewed after 60",
		"let max_stale_seconds be no less than ttl_seconds",
	)}
	odd := of_services({"test": {"paths": {"$.a": "a"}, "ttl_seconds": json.unmarshal("30.0")}})
	paths(odd) == {["catalog", "test", "services", 0, "ttl_seconds"]}
}
