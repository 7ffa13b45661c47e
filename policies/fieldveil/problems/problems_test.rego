package fieldveil.problems_test

import data.fieldveil.problems

text := {"protection": "randomized", "keyset": "pii", "type": "text"}

catalog := {
	"labels": {"a": text, "b": object.union(text, {"type": "timestamp(3)"})},
	"databases": [{"protocol": "postgres", "database": "shop", "columns": {"public.t": {"x": "a", "y": "b"}}}],
}

rule := {"name": "r", "who": {"session": {"user": ["ann"]}}, "labels": ["a"], "read": {"treatment": "reveal"}}

of_catalog(patches) := found if {
	found := problems.found with data.catalog as {"test": json.patch(catalog, patches)} with data.rules as {}
}

of_catalogs(catalogs) := found if {
	found := problems.found with data.catalog as catalogs with data.rules as {}
}

of_rule(patches) := found if {
	rules := {"test": {"rules": [json.patch(rule, patches)]}}
	found := problems.found with data.catalog as {"test": catalog} with data.rules as rules
}

set_to(path, value) := [{"op": "add", "path": path, "value": value}]

problem(path, reason, remedy) := {"path": path, "reason": reason, "remedy": remedy}

paths(found) := {one.path | some one in found}

test_the_example_has_no_problem if {
	problems.none
	problems.found == set()
}

test_the_catalog_and_rule_of_these_tests_have_no_problem if {
	of_catalog([]) == set()
	of_rule([]) == set()
}

test_no_catalog_is_a_problem if {
	of_catalogs({}) == {problem(
		["catalog"],
		"no catalog is loaded",
		"load a folder such as catalog/shop with a data.yaml or data.json",
	)}
	not problems.none with data.catalog as {}
}

test_missing_schemas_are_a_problem if {
	found := problems.found with data.schemas as {}
	paths(found) == {["catalog", "shop"], ["rules", "shop"]}
}

test_a_catalog_of_another_shape_is_a_problem_and_says_where if {
	columns := ["databases", 0, "columns"]
	every case in [
		["label", {}, ["label"]],
		["labels/a/protection", "blind", ["labels", "a", "protection"]],
		["labels/a/alphabet", "hex", ["labels", "a", "alphabet"]],
		["labels/a/on_plaintext", "ignore", ["labels", "a", "on_plaintext"]],
		["labels/a/keyset", "pii/", ["labels", "a", "keyset"]],
		["labels/a/keyset", "pii/acme/more", ["labels", "a", "keyset"]],
		["labels/a/keyset", "../pii", ["labels", "a", "keyset"]],
		["labels/a/tenant", {}, ["labels", "a", "tenant"]],
		["labels/a/tenant", {"from": "session.application_name"}, ["labels", "a", "tenant", "from"]],
		["labels/a/tenant", {"from": "listener", "names": {}}, ["labels", "a", "tenant", "names"]],
		["labels/a/tenant", {"from": "listener", "names": {"u": "U"}}, ["labels", "a", "tenant", "names", "u"]],
		["labels/a/type", "varchar(x)", ["labels", "a", "type"]],
		["labels/a/type", "xml", ["labels", "a", "type"]],
		["labels/a/type", "time(7)", ["labels", "a", "type"]],
		["labels/a/type", "text[][]", ["labels", "a", "type"]],
		["labels/a~1b", text, ["labels", "a/b"]],
		["databases/0/protocol", "oracle", ["databases", 0, "protocol"]],
		["databases/0/database", "", ["databases", 0, "database"]],
		["databases/0/ttl_seconds", 0, ["databases", 0, "ttl_seconds"]],
		["databases/0/columns/customer", {"x": "a"}, array.concat(columns, ["customer"])],
		["databases/0/columns/public.Customer", {"x": "a"}, array.concat(columns, ["public.Customer"])],
		["databases/0/columns/public.t.x", {"x": "a"}, array.concat(columns, ["public.t.x"])],
		["databases/0/columns/public.u", {}, array.concat(columns, ["public.u"])],
		["databases/0/columns/public.t/x", {"type": "text"}, array.concat(columns, ["public.t", "x"])],
		["databases/0/columns/public.t/x", 5, array.concat(columns, ["public.t", "x"])],
	] {
		[pointer, value, path] := case
		array.concat(["catalog", "test"], path) in paths(of_catalog(set_to(pointer, value)))
	}
	every pointer, path in {
		"labels/a/keyset": ["labels", "a"],
		"databases/0/database": ["databases", 0],
	} {
		array.concat(["catalog", "test"], path) in paths(of_catalog([{"op": "remove", "path": pointer}]))
	}
}

test_a_catalog_may_have_labels_and_another_their_columns if {
	of_catalog([{"op": "remove", "path": "databases"}]) == set()
	catalogs := {"labels": {"labels": {"a": text}}, "columns": {"databases": [{
		"protocol": "postgres",
		"database": "shop",
		"columns": {"public.t": {"x": "a"}},
	}]}}
	problems.found == set() with data.catalog as catalogs with data.rules as {}
	nothing := problems.found with data.catalog as {"test": {}} with data.rules as {}
	paths(nothing) == {["catalog", "test"]}
}

test_a_quoted_relation_and_a_column_of_its_own_label_are_fine if {
	of_catalog(set_to("databases/0/columns/\"My Shop\".\"a\"\"b.c\"", {"X y": text})) == set()
}

test_every_known_type_fits_and_its_arrays if {
	every type in {
		"bpchar", "varchar(5)", "numeric(10,2)", "time", "time(3)", "timestamptz(6)", "json", "jsonb",
		"longtext", "tinyint(1)", "double", "datetime", "datetime(3)", "mediumblob", "varbinary(16)",
	} {
		of_catalog(set_to("labels/a/type", type)) == set()
		of_catalog(set_to("labels/a/type", sprintf("%v[]", [type]))) == set()
	}
}
