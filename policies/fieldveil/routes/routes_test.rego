package fieldveil.routes_test

import data.fieldveil.routes

test_a_route_is_segments_and_parameters if {
	every path in {
		"/", "/**", "/customers", "/customers/{id}", "/customers/{id}/orders/{order_id}", "/files/**", "/v1.0/a~b", "/größe",
		"/customers/{id}/**", "/a:b", "/...", "/a,b=c@d",
	} {
		not routes.fault(path)
	}
}

test_what_is_no_route_is_told_why if {
	every path, reason in {
		"": "a route begins with /",
		"customers": "a route begins with /",
		"**": "a route begins with /",
		"http://shop/customers": "a route begins with /",
		"/customers?id={id}": "a route has no query and no fragment",
		"/customers#top": "a route has no query and no fragment",
		"//": "it has an empty segment",
		"/customers/": "it has an empty segment",
		"/customers//{id}": "it has an empty segment",
		"/**/orders": "** is not its last segment",
		"/**/**": "** is not its last segment",
		"/customers/*": "* is no segment of a route",
		"/customers/a*": "a* is no segment of a route",
		"/customers/***": "*** is no segment of a route",
		"/customers/{id}.json": "{id}.json is no segment of a route",
		"/customers/{}": "{} is no segment of a route",
		"/customers/{1}": "{1} is no segment of a route",
		"/customers/{a-b}": "{a-b} is no segment of a route",
		"/customers/:id": ":id is no segment of a route",
		"/customers/<id>": "<id> is no segment of a route",
		"/customers/:id%20": ":id%20 is no segment of a route",
		"/a/../b": ".. is no segment of a route",
		"/a/.": ". is no segment of a route",
		"/a;v=1": "a;v=1 is no segment of a route",
		"/a b": "a b is no segment of a route",
		"/a\u0000": "a\u0000 is no segment of a route",
		"/a\\b": "a\\b is no segment of a route",
		"/a\u00a0": "a\u00a0 is no segment of a route",
		"/{a}/{b}/{a}": "its parameters are not told apart: {a} {b} {a}",
	} {
		routes.fault(path).reason == reason
		is_string(routes.fault(path).remedy)
	}
}

route(path, methods) := {"route": path, "methods": methods}

meet(one, other) if {
	routes.meet(route(one, set()), route(other, set()))
	routes.meet(route(other, set()), route(one, set()))
}

test_routes_meet_where_one_path_fits_both if {
	every pair in [
		["/", "/"],
		["/", "/**"],
		["/a", "/a"],
		["/a", "/{x}"],
		["/a/{x}", "/{y}/b"],
		["/{a}/{b}", "/{c}/{d}"],
		["/a/**", "/a"],
		["/a/**", "/{x}/b/c"],
		["/**", "/a/b/c"],
		["/**", "/**"],
		["/a/**", "/a/b/**"],
		["/a/**", "/{x}/**"],
	] {
		meet(pair[0], pair[1])
		meet(pair[1], pair[0])
	}
}

test_routes_do_not_meet_where_no_path_fits_both if {
	every pair in [
		["/", "/a"],
		["/", "/{x}"],
		["/a", "/A"],
		["/a", "/b"],
		["/a", "/a/b"],
		["/a/{x}", "/a"],
		["/a/{x}", "/b/{x}"],
		["/a/**", "/b"],
		["/a/**", "/b/**"],
		["/a/b/**", "/a"],
		["/a/**", "/"],
		["/{x}/a/**", "/{x}/b/c"],
	] {
		not routes.meet(route(pair[0], set()), route(pair[1], set()))
		not routes.meet(route(pair[1], set()), route(pair[0], set()))
	}
}

test_routes_meet_where_one_method_fits_both if {
	every pair in [[set(), {"GET"}], [{"GET", "PUT"}, {"PUT", "POST"}], [{"GET"}, {"HEAD"}], [set(), set()]] {
		routes.meet(route("/a", pair[0]), route("/a", pair[1]))
	}
	not routes.meet(route("/a", {"GET"}), route("/a", {"PUT", "get"}))
}

test_a_parameter_is_where_its_segment_is if {
	routes.position("/customers/{id}/orders/{order}", "id") == 1
	routes.position("/customers/{id}/orders/{order}", "order") == 3
	not routes.position("/customers/{id}", "customers")
	not routes.position("/customers/{id}", "order")
}
