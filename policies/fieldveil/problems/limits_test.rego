package fieldveil.problems_test

of_columns(many) := set_to("databases/0/columns/public.many", {name: "a" |
	some i in numbers.range(1, many)
	name := sprintf("c%v", [i])
})

# Two stand in the catalog of these tests.
test_more_columns_than_the_filter_takes_are_a_problem if {
	of_catalog(of_columns(4094)) == set()
	of_catalog(of_columns(4095)) == {problem(
		["catalog", "test", "databases", 0],
		"the database has 4097 protected columns, and the filter takes 4096",
		"protect fewer",
	)}
}

test_a_type_that_the_database_would_not_take_is_a_problem if {
	every type, why in {
		"varchar(10485761)": "its length is more than 10485760",
		"bpchar(99999999999999999999)": "its length is more than 10485760",
		"varchar(10485761)[]": "its length is more than 10485760",
		"numeric(1001)": "its precision is more than 1000",
		"numeric(5000,1)": "its precision is more than 1000",
		"numeric(5,9)": "its scale is more than its precision",
		"numeric(10,2000)[]": "its scale is more than its precision",
	} {
		of_catalog(set_to("labels/a/type", type)) == {problem(
			["catalog", "test", "labels", "a", "type"],
			sprintf("%v is no type: %v", [type, why]),
			"write it as the database has it",
		)}
	}
	every type in ["varchar(10485760)", "numeric(1000)", "numeric(1000,1000)", "numeric(3,0)", "numeric(3,002)[]"] {
		of_catalog(set_to("labels/a/type", type)) == set()
	}
}

test_a_number_that_is_not_written_as_a_whole_one_is_a_problem if {
	every key in ["ttl_seconds", "max_stale_seconds"] {
		every written in ["300.0", "2e2"] {
			of_catalog(set_to(concat("/", ["databases/0", key]), json.unmarshal(written))) == {problem(
				["catalog", "test", "databases", 0, key],
				sprintf("%v is not written as a whole number", [written]),
				"write digits alone",
			)}
		}
	}
	every key in ["rows", "per_seconds"] {
		budget := object.union({"rows": 5, "per_seconds": 60, "then": {"treatment": "null"}}, {key: json.unmarshal("50.0")})
		paths(of_rule(set_to("read/budget", budget))) == {["rules", "test", "rules", 0, "read", "budget", key]}
	}
	paths(of_issuer(set_to("leeway_seconds", json.unmarshal("1e1")))) == {["tokens", "test", "leeway_seconds"]}
	of_issuer(set_to("leeway_seconds", 20)) == set()
}

test_a_tenant_that_no_text_of_the_database_can_be_is_a_problem if {
	["catalog", "test", "labels", "a", "tenant"] in paths(of_catalog(set_to("labels/a/tenant", "a\u0000b")))
	of_catalog(set_to("labels/a/tenant", "Ä b")) == set()
}

twice(label) := set_to("databases/0/columns/\"public\".\"t\"", {"x": label})

test_one_column_that_is_written_in_two_ways_is_one if {
	of_catalog(twice("a")) == set()
	paths(of_catalog(twice("b"))) == {
		["catalog", "test", "databases", 0, "columns", "public.t", "x"],
		["catalog", "test", "databases", 0, "columns", "\"public\".\"t\"", "x"],
	}
}

many_fields(many) := {sprintf("q%v", [i]): "equal" | some i in numbers.range(1, many)}

test_more_fields_than_the_filter_takes_are_a_problem_also_by_the_methods_that_rules_name if {
	routes := [{"path": "/p", "query": many_fields(1366)}]
	of_routes(routes) == set()
	rules := {"test": {"rules": [{
		"name": "r",
		"unless": {"request": {"method": ["GET", "PUT"]}},
		"labels": ["equal"],
		"read": {"treatment": "null"},
	}]}}
	catalogs := {"test": {
		"labels": kinds,
		"services": [{"protocol": "http", "service": "s", "routes": routes}],
	}}
	found := data.fieldveil.problems.found with data.catalog as catalogs with data.rules as rules
	found == {problem(
		["catalog", "test", "services", 0],
		"the service's plan has 4098 fields, and the filter takes 4096",
		"name fewer, or fewer methods in rules: a route has its fields again for each that they tell apart",
	)}
}
