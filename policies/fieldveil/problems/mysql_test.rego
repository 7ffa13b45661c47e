package fieldveil.problems_test

import data.fieldveil.problems

# A column of the type in a database of the protocol.
column_of(protocol, type) := found if {
	catalog := {
		"labels": {"a": {"protection": "randomized", "keyset": "k", "type": type}},
		"databases": [{"protocol": protocol, "database": "shop", "columns": {"shop.t": {"x": "a"}}}],
	}
	found := problems.found with data.catalog as {"test": catalog} with data.rules as {}
}

test_a_type_without_values_in_mysql_is_a_problem_there_alone if {
	every case in [
		["timestamptz(3)", "declare timestamp: MySQL keeps no zone with a value"],
		["text[]", "declare json or text"],
		["numeric(66)", "declare at most 65 digits, and 30 of them behind the point"],
		["numeric(40,31)", "declare at most 65 digits, and 30 of them behind the point"],
	] {
		[type, remedy] := case
		column_of("mysql", type) == {{
			"path": ["catalog", "test", "databases", 0, "columns", "shop.t", "x"],
			"reason": sprintf("label a is of type %v, of which MySQL has no values", [type]),
			"remedy": remedy,
		}}
		column_of("postgres", type) == set()
	}
}

test_other_types_are_fine_in_both if {
	every type in {"timestamp(3)", "datetime", "numeric", "numeric(65,30)", "numeric(5)", "json", "varbinary(16)"} {
		column_of("mysql", type) == set()
		column_of("postgres", type) == set()
	}
}
