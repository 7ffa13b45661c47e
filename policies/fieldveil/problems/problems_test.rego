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

of_rule(patches) := found if {
	rules := {"test": {"rules": [json.patch(rule, patches)]}}
	found := problems.found with data.catalog as {"test": catalog} with data.rules as rules
}

set_to(path, value) := [{"op": "add", "path": path, "value": value}]

test_the_example_has_no_problem if {
	problems.none
	problems.found == set()
}

test_the_catalog_and_rule_of_these_tests_have_no_problem if {
	of_catalog([]) == set()
	of_rule([]) == set()
}

test_no_catalog_is_a_problem if {
	some message in problems.found with data.catalog as {}
	message == "no catalog is loaded: data.catalog is missing or empty"
	not problems.none with data.catalog as {}
}

test_missing_schemas_are_a_problem if {
	found := problems.found with data.schemas as {}
	found == {
		"catalog shop does not have the shape of schemas/catalog",
		"rules shop do not have the shape of schemas/rules",
	}
}

test_a_catalog_of_another_shape_is_a_problem_and_says_where if {
	some message in of_catalog(set_to("labels/a/protection", "none"))
	startswith(message, "catalog test: labels.a.protection: ")
	every patch in [
		set_to("label", {}),
		set_to("labels/a/protection", "blind"),
		set_to("labels/a/alphabet", "hex"),
		set_to("labels/a/on_plaintext", "ignore"),
		set_to("labels/a/keyset", "pii/"),
		set_to("labels/a/keyset", "pii/acme/more"),
		set_to("labels/a/tenant", {}),
		set_to("labels/a/tenant", {"from": "session.application_name"}),
		set_to("labels/a/tenant", {"from": "session.user", "names": {}}),
		set_to("labels/a/tenant", {"from": "session.user", "names": {"acme_app": "Acme"}}),
		set_to("labels/a/type", "varchar(x)"),
		set_to("labels/a/type", "xml"),
		set_to("labels/a/type", "time(7)"),
		set_to("labels/a/type", "text[][]"),
		set_to("labels/a/keyset", "../pii"),
		set_to("labels/a~1b", text),
		[{"op": "remove", "path": "labels/a/keyset"}],
		[{"op": "remove", "path": "databases"}],
		[{"op": "remove", "path": "databases/0/database"}],
		set_to("databases/0/protocol", "mysql"),
		set_to("databases/0/database", ""),
		set_to("databases/0/ttl_seconds", 0),
		set_to("databases/0/columns/customer", {"x": "a"}),
		set_to("databases/0/columns/public.Customer", {"x": "a"}),
		set_to("databases/0/columns/public.customer.x", {"x": "a"}),
		set_to("databases/0/columns/public.u", {}),
		set_to("databases/0/columns/public.t/x", {"protection": "randomized"}),
		set_to("databases/0/columns/public.t/x", 5),
	] {
		"catalog test does not have the shape of schemas/catalog" in of_catalog(patch)
	}
}

test_a_quoted_relation_and_a_column_of_its_own_label_are_fine if {
	of_catalog(set_to("databases/0/columns/\"My Shop\".\"a\"\"b.c\"", {"X y": text})) == set()
}

test_rules_of_another_shape_are_a_problem_and_say_where if {
	some message in of_rule(set_to("write", "plain"))
	startswith(message, "rules test: rules.0")
	every patch in [
		set_to("raed", {"treatment": "refuse"}),
		set_to("read/treatment", "show"),
		set_to("read/format", "last4"),
		set_to("read", {"treatment": "mask"}),
		set_to("read", {"treatment": "mask", "format": "last5"}),
		set_to("who", {}),
		set_to("who/session", {}),
		set_to("who/session/user", []),
		set_to("who/session/user", [""]),
		set_to("who/session/user", "ann"),
		set_to("who/session/usr", ["ann"]),
		set_to("who/claims", {"roles": ["x"]}),
		set_to("labels", []),
		set_to("unless", {"session": {"user": ["ann"]}}),
		[{"op": "remove", "path": "name"}],
		[{"op": "remove", "path": "who"}],
		[{"op": "remove", "path": "labels"}],
		[{"op": "remove", "path": "read"}],
	] {
		"rules test do not have the shape of schemas/rules" in of_rule(patch)
	}
}

test_a_limit_can_neither_reveal_nor_let_write if {
	misshapen := "rules test do not have the shape of schemas/rules"
	misshapen in of_limit({"read": {"treatment": "reveal"}})
	misshapen in of_limit({"write": "seal"})
	of_limit({"read": {"treatment": "mask", "format": "last4"}, "write": "refuse"}) == set()
	of_limit({"read": {"treatment": "refuse"}}) == set()
}

of_limit(decision) := found if {
	limit := object.union({"name": "l", "unless": {"session": {"user": ["ann"]}}, "labels": ["a"]}, decision)
	found := problems.found with data.catalog as {"test": catalog} with data.rules as {"test": {"rules": [limit]}}
}

test_a_label_stored_in_two_ways_is_a_problem if {
	other := set_to("labels/a/tenant", "acme")
	found := problems.found with data.catalog as {"one": catalog, "two": json.patch(catalog, other)} with data.rules as {}
	found == {"label a is stored in 2 different ways"}
}

of_label(definition) := of_catalog(set_to("labels/a", object.union({"keyset": "pii"}, definition)))

test_every_protection_is_fine_with_what_it_needs if {
	every protection in {"randomized", "deterministic", "indexed"} {
		every on_plaintext in {"refuse", "reveal", "null"} {
			of_label({"protection": protection, "type": "int4", "on_plaintext": on_plaintext}) == set()
		}
	}
	every type in {"text", "varchar", "varchar(6)", "varchar(1000)", "bpchar(6)"} {
		of_label({"protection": "format_preserving", "type": type, "alphabet": "digits"}) == set()
	}
	every alphabet in {"alphanumeric", "alphanumeric_lower", "alphanumeric_upper"} {
		of_label({"protection": "format_preserving", "type": "varchar(4)", "alphabet": alphabet}) == set()
	}
}

test_a_format_preserving_label_without_an_alphabet_is_a_problem if {
	of_label({"protection": "format_preserving", "type": "text"}) == {concat("", [
		"label a: alphabet: format_preserving needs one: ",
		"write alphanumeric or alphanumeric_lower or alphanumeric_upper or digits",
	])}
}

test_an_alphabet_of_another_protection_is_a_problem if {
	every protection in {"randomized", "deterministic", "indexed"} {
		message := sprintf("label a: alphabet: %v has none: leave it out", [protection])
		of_label({"protection": protection, "type": "text", "alphabet": "digits"}) == {message}
	}
}

test_a_format_preserving_label_of_a_type_that_is_no_characters_is_a_problem if {
	every type in {"int8", "numeric(10,2)", "timestamp(3)", "uuid", "bytea", "json", "text[]", "varchar(20)[]"} {
		message := sprintf(
			"label a: type: %v can not be format_preserving: use bpchar or text or varchar or another protection",
			[type],
		)
		of_label({"protection": "format_preserving", "type": type, "alphabet": "digits"}) == {message}
	}
}

test_a_format_preserving_label_with_fewer_than_a_million_values_is_a_problem if {
	every short in [
		["varchar(5)", "digits", 6],
		["bpchar(1)", "digits", 6],
		["varchar(3)", "alphanumeric", 4],
		["bpchar(3)", "alphanumeric_lower", 4],
		["varchar(3)", "alphanumeric_upper", 4],
	] {
		[type, alphabet, least] := short
		message := sprintf(
			concat("", [
				"label a: type: %v has fewer than a million values of %v: ",
				"use a length of at least %v or another protection",
			]),
			[type, alphabet, least],
		)
		of_label({"protection": "format_preserving", "type": type, "alphabet": alphabet}) == {message}
	}
}

test_a_format_preserving_label_can_not_tell_plaintext_apart if {
	message := "label a: on_plaintext: nothing tells plaintext from format_preserving values: leave it out"
	every on_plaintext in {"reveal", "null"} {
		definition := {"protection": "format_preserving", "type": "text", "alphabet": "digits", "on_plaintext": on_plaintext}
		of_label(definition) == {message}
	}
}

test_what_a_column_of_its_own_label_says_is_checked_too if {
	own := {"protection": "format_preserving", "keyset": "pii", "type": "varchar(5)", "alphabet": "digits"}
	some message in of_catalog(set_to("databases/0/columns/public.t/z", own))
	startswith(message, "label public.t.z: type: ")
}

test_a_tenants_own_keyset_is_for_no_other_tenant if {
	own := set_to("labels/a/keyset", "pii/acme")
	of_catalog(own) == set()
	of_catalog(array.concat(own, set_to("labels/a/tenant", "acme"))) == set()
	of_catalog(array.concat(own, set_to("labels/a/tenant", "globex"))) == {concat("", [
		"label a: tenant: keyset pii/acme is that of tenant acme alone: ",
		"leave the tenant out, or name another keyset",
	])}
}

test_a_keyset_whose_tenant_the_principal_chooses_names_none if {
	by_claim := set_to("labels/a/tenant", {"from": "claims.tenant"})
	of_catalog(by_claim) == set()
	of_catalog(array.concat(by_claim, set_to("labels/a/keyset", "pii/acme"))) == {concat("", [
		"label a: keyset: pii/acme is one tenant's own, and the principal chooses the tenant: ",
		"leave the tenant out of it",
	])}
}

test_two_labels_with_one_tag_are_a_problem if {
	of_catalog([
		{"op": "add", "path": "labels/customer.field34667", "value": text},
		{"op": "add", "path": "labels/customer.field6209", "value": text},
	]) == {"labels customer.field34667 and customer.field6209 have the same label tag: rename one"}
}

test_a_column_of_an_undefined_label_is_a_problem if {
	message := "column public.t.x has the label c, which no catalog defines"
	of_catalog(set_to("databases/0/columns/public.t/x", "c")) == {message}
}

test_a_column_of_two_labels_is_a_problem if {
	other := set_to("databases/0/columns/public.t/x", "b")
	found := problems.found with data.catalog as {"one": catalog, "two": json.patch(catalog, other)} with data.rules as {}
	found == {"column public.t.x of shop has 2 labels"}
}

test_a_column_of_another_database_may_have_another_label if {
	other := [
		{"op": "replace", "path": "databases/0/database", "value": "other"},
		{"op": "replace", "path": "databases/0/columns/public.t/x", "value": "b"},
	]
	found := problems.found with data.catalog as {"one": catalog, "two": json.patch(catalog, other)} with data.rules as {}
	found == set()
}

test_a_plan_that_is_too_old_before_it_is_renewed_is_a_problem if {
	message := "database shop: max_stale_seconds is less than ttl_seconds"
	of_catalog(set_to("databases/0/max_stale_seconds", 29)) == {message}
	of_catalog(set_to("databases/0/max_stale_seconds", 30)) == set()
}

test_a_pattern_like_no_label_is_a_problem if {
	of_rule(set_to("labels", ["a", "customer.*"])) == {"rule \"r\": no label is like customer.*"}
}

test_a_mask_for_another_type_is_a_problem if {
	every format in {"last4", "first1", "email"} {
		mask := {"treatment": "mask", "format": format}
		of_rule(set_to("read", mask)) == set()
		patches := array.concat(set_to("read", mask), set_to("labels", ["b"]))
		of_rule(patches) == {sprintf("rule \"r\": mask %v is not for label b of type timestamp(3)", [format])}
	}
	year := {"treatment": "mask", "format": "year"}
	of_rule(set_to("read", year)) == {"rule \"r\": mask year is not for label a of type text"}
	of_rule(array.concat(set_to("read", year), set_to("labels", ["b"]))) == set()
}

test_an_array_has_no_mask if {
	masked := object.union(rule, {"read": {"treatment": "mask", "format": "last4"}})
	every type in {"text[]", "varchar(5)[]"} {
		changed := json.patch(catalog, set_to("labels/a/type", type))
		found := problems.found with data.catalog as {"test": changed} with data.rules as {"test": {"rules": [masked]}}
		found == {sprintf("rule \"r\": mask last4 is not for label a of type %v", [type])}
	}
}

test_every_known_type_fits_and_its_arrays if {
	every type in {"bpchar", "varchar(5)", "numeric(10,2)", "time", "time(3)", "timestamptz(6)", "json", "jsonb"} {
		of_catalog(set_to("labels/a/type", type)) == set()
		of_catalog(set_to("labels/a/type", sprintf("%v[]", [type]))) == set()
	}
}

test_a_source_that_is_no_network_is_a_problem if {
	message := "rule \"r\": source 10.0.0.1 is not a network such as 10.0.0.0/8"
	of_rule(set_to("who/session/source", ["10.0.0.0/8", "10.0.0.1"])) == {message}
}
