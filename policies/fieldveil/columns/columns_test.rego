package fieldveil.columns_test

import data.fieldveil.columns

database(name, settings) := object.union({"protocol": "postgres", "database": name, "columns": {}}, settings)

test_a_column_names_a_label_or_defines_its_own if {
	own := {"protection": "randomized", "keyset": "pii", "type": "date", "tenant": "acme", "on_plaintext": "null"}
	catalog := {"hr": {
		"labels": {"person.name": {"protection": "randomized", "keyset": "pii", "type": "text"}},
		"databases": [database("hr", {"columns": {"public.person": {"name": "person.name", "Born": own}}})],
	}}
	found := columns.protected with data.catalog as catalog
	{[column.column, column.label] | some column in found} == {
		["name", "person.name"],
		["Born", "public.person.Born"],
	}
	labels := columns.labels with data.catalog as catalog
	labels["public.person.Born"] == own
	labels["person.name"].tenant == ""
	labels["person.name"].on_plaintext == "refuse"
}

test_a_label_defined_alike_in_two_catalogs_is_one_label if {
	one := {"labels": {"a": {"protection": "randomized", "keyset": "k", "type": "text"}}, "databases": []}
	two := json.patch(one, [{"op": "add", "path": "labels/a/on_plaintext", "value": "refuse"}])
	labels := columns.labels with data.catalog as {"one": one, "two": two}
	object.keys(labels) == {"a"}
}

test_a_label_defined_in_two_ways_is_not_usable if {
	one := {"labels": {"a": {"protection": "randomized", "keyset": "k", "type": "text"}}, "databases": []}
	two := json.patch(one, [{"op": "replace", "path": "labels/a/keyset", "value": "other"}])
	labels := columns.labels with data.catalog as {"one": one, "two": two}
	labels == {}
}

test_the_least_age_counts_of_a_database_that_stands_in_two_catalogs if {
	catalog := {
		"one": {"databases": [database("shop", {"ttl_seconds": 20, "max_stale_seconds": 50})]},
		"two": {"databases": [database("shop", {"ttl_seconds": 10, "max_stale_seconds": 60})]},
		"other": {"databases": [database("other", {"ttl_seconds": 1, "max_stale_seconds": 1})]},
	}
	ttl_seconds := columns.ttl_seconds("postgres", "shop") with data.catalog as catalog
	ttl_seconds == 10
	max_stale_seconds := columns.max_stale_seconds("postgres", "shop") with data.catalog as catalog
	max_stale_seconds == 50
}

test_a_database_without_ages_has_the_usual_ones if {
	columns.ttl_seconds("postgres", "shop") == 30
	columns.max_stale_seconds("postgres", "shop") == 300
}

test_what_is_said_for_rules_and_checks_is_no_storage if {
	definition := {"protection": "randomized", "keyset": "k", "type": "text"}
	more := {"mask": "last4", "distinct_values": 5, "accept_leakage": "none"}
	catalog := {"one": {"labels": {"a": object.union(definition, more), "b": definition}, "databases": []}}
	labels := columns.labels with data.catalog as catalog
	object.keys(labels.a) == object.keys(labels.b)
	masks := columns.masks with data.catalog as catalog
	masks == {"a": "last4"}
}

test_a_relation_has_one_name_however_it_is_quoted if {
	every written, name in {
		"public.customer": "public.customer",
		`"public"."customer"`: "public.customer",
		`public."customer_2$"`: "public.customer_2$",
		`"public"."Order"`: `public."Order"`,
		`"My ""odd"".Shop"."a""b.c"`: `"My ""odd"".Shop"."a""b.c"`,
		`"a"."2b"`: `a."2b"`,
		`"a""b".c`: `"a""b".c`,
	} {
		columns.as_plain(written) == name
	}
}
