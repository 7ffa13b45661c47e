package fieldveil.problems_test

# Labels of every kind that can meet: two texts, one that holds JSON, and an array.
kinds := {
	"a": text,
	"b": text,
	"json": object.union(text, {"type": "jsonb"}),
	"list": object.union(text, {"type": "text[]"}),
	"equal": object.union(text, {"protection": "deterministic"}),
	"same": object.union(text, {"protection": "deterministic"}),
}

of_services(by_catalog) := found if {
	catalogs := {name: {"services": [object.union({"protocol": "http", "service": "s"}, service)]} |
		some name, service in by_catalog
	}
	found := of_catalogs(object.union(catalogs, {"labels": {"labels": kinds}}))
}

of_routes(routes) := of_services({"test": {"routes": routes}})

in_route(i, place) := array.concat(["catalog", "test", "services", 0, "routes", i], place)

clashing(routes) := {array.slice(one.path, 4, count(one.path)) | some one in of_routes(routes)}

test_overlapping_json_paths_of_two_labels_are_a_problem_at_both_places if {
	found := of_routes([
		{"path": "/people/{id}", "methods": ["GET"], "response": {"$..ssn": "a"}},
		{"path": "/people/**", "response": {"$.people[*].ssn": "b"}},
	])
	remedy := "give both one label, in all catalogs and spellings alike, or let no request have both"
	found == {
		problem(
			in_route(0, ["response", "$..ssn"]),
			"/people/** response $.people[*].ssn can be the same value, and has the label b",
			remedy,
		),
		problem(
			in_route(1, ["response", "$.people[*].ssn"]),
			"GET /people/{id} response $..ssn can be the same value, and has the label a",
			remedy,
		),
	}
}

test_paths_of_two_labels_may_overlap_where_no_request_has_both if {
	one := {"path": "/people/{id}", "methods": ["GET"], "response": {"$..ssn": "a"}}
	every other in [
		{"path": "/people", "response": {"$.ssn": "b"}},
		{"path": "/firms/**", "response": {"$.ssn": "b"}},
		{"path": "/people/{id}", "methods": ["PUT"], "response": {"$.ssn": "b"}},
		{"path": "/people/{id}", "request": {"$.ssn": "b"}},
		{"path": "/people/{id}", "query": {"ssn": "equal"}},
		{"path": "/people/{id}", "response": {"$.ssn.digits": "b"}},
	] {
		of_routes([one, other]) == set()
	}
}

test_spellings_and_catalogs_make_no_difference if {
	every spelling in ["$.x", "$['x']", "$['\\u0078']", "$..x", "$[*]"] {
		found := of_services({
			"one": {"paths": {"$.x": "a"}},
			"two": {"routes": [{"path": "/p", "methods": ["POST"], "request": {spelling: "b"}}]},
		})
		paths(found) == {
			["catalog", "one", "services", 0, "paths", "$.x"],
			["catalog", "two", "services", 0, "routes", 0, "request", spelling],
		}
		of_services({
			"one": {"paths": {"$.x": "a"}},
			"two": {"routes": [{"path": "/p", "methods": ["POST"], "request": {spelling: "a"}}]},
		}) == set()
	}
}

test_every_kind_of_end_is_compared_with_any_element if {
	every path in ["$.x.y", "$.x[3]", "$.x[*]", "$..y", "$[*][*]"] {
		clashing([{"path": "/p", "request": {path: "a", "$['x'][*]": "b"}}]) == {
			["routes", 0, "request", path],
			["routes", 0, "request", "$['x'][*]"],
		}
	}
}

test_head_is_of_the_routes_of_get if {
	count(of_routes([
		{"path": "/p", "methods": ["GET"], "query": {"q": "equal"}},
		{"path": "/p", "methods": ["HEAD"], "query": {"q": "same"}},
	])) == 2
}

test_names_of_two_labels_are_a_problem_wherever_they_stand if {
	every kind in ["query", "headers"] {
		clashing([
			{"path": "/people/{id}", kind: {"x-ssn": "equal"}},
			{"path": "/people/me", kind: {"x-ssn": "same"}},
			{"path": "/firms", kind: {"x-ssn": "same"}},
			{"path": "/people/me/x", kind: {"x-ssn": "same"}},
			{"path": "/people/you", kind: {"X-SSN-2": "same"}},
		]) & {["routes", i, kind, "x-ssn"] | some i in [0, 1, 2, 3]} == {
			["routes", 0, kind, "x-ssn"],
			["routes", 1, kind, "x-ssn"],
		}
	}
}

test_segments_of_two_labels_are_a_problem_where_they_are_one_segment if {
	clashing([
		{"path": "/people/{ssn}", "segments": {"ssn": "equal"}},
		{"path": "/{kind}/{id}", "segments": {"id": "same", "kind": "same"}},
		{"path": "/people/{a}/{ssn}", "segments": {"ssn": "same"}},
	]) == {["routes", 0, "segments", "ssn"], ["routes", 1, "segments", "id"]}
}

test_what_lies_inside_a_value_of_json_has_its_label if {
	of_routes([
		{"path": "/p", "methods": ["GET"], "response": {"$.profile": "json"}},
		{"path": "/**", "response": {"$..ssn": "a"}},
	]) == {problem(
		in_route(1, ["response", "$..ssn"]),
		"it can lie inside GET /p response $.profile, which is sealed whole with the label json",
		"give both one label, or leave one out: nothing is looked for inside what is sealed whole",
	)}
	every path in ["$.profile.ssn", "$.profile[*]", "$['profile'][0].x", "$[*][*]"] {
		clashing([{"path": "/p", "request": {"$.profile": "json", path: "a"}}]) == {["routes", 0, "request", path]}
		clashing([{"path": "/p", "request": {"$.profile": "json", path: "json"}}]) == set()
	}
	every path in ["$.ssn", "$.profiles.ssn", "$[0].ssn"] {
		clashing([{"path": "/p", "request": {"$.profile": "json", path: "a"}}]) == set()
	}
}

test_what_lies_inside_an_array_has_its_label if {
	found := clashing([{"path": "/p", "request": {"$.tags": "list", "$.tags[*]": "a", "$.ssn": "b", "$.tags.x": "a"}}])
	found == {["routes", 0, "request", "$.tags[*]"]}
}

test_what_lies_inside_a_text_is_no_problem_for_there_is_nothing if {
	clashing([{"path": "/p", "request": {"$.name": "a", "$..ssn": "b"}}]) == set()
}
