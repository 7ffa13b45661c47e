package fieldveil.problems_test

test_a_label_stored_in_two_ways_is_a_problem_at_both_places if {
	found := of_catalogs({"one": catalog, "two": json.patch(catalog, set_to("labels/a/tenant", "acme"))})
	reason := "label a is stored in 2 different ways"
	remedy := "define it once, or in all catalogs alike"
	found == {
		problem(["catalog", "one", "labels", "a"], reason, remedy),
		problem(["catalog", "two", "labels", "a"], reason, remedy),
	}
}

of_label(definition) := of_catalog(set_to("labels/a", object.union({"keyset": "pii"}, definition)))

at_a(keys) := array.concat(["catalog", "test", "labels", "a"], keys)

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
	of_label({"protection": "format_preserving", "type": "text"}) == {problem(
		at_a([]),
		"format_preserving needs an alphabet",
		"add alphabet: alphanumeric or alphanumeric_lower or alphanumeric_upper or digits",
	)}
}

test_an_alphabet_of_another_protection_is_a_problem if {
	every protection in {"randomized", "deterministic", "indexed"} {
		of_label({"protection": protection, "type": "text", "alphabet": "digits"}) == {problem(
			at_a(["alphabet"]),
			sprintf("%v has no alphabet", [protection]),
			"leave it out",
		)}
	}
}

test_a_format_preserving_label_of_a_type_that_is_no_characters_is_a_problem if {
	every type in {"int8", "numeric(10,2)", "timestamp(3)", "uuid", "bytea", "json", "text[]", "varchar(20)[]"} {
		of_label({"protection": "format_preserving", "type": type, "alphabet": "digits"}) == {problem(
			at_a(["type"]),
			sprintf("%v can not be format_preserving", [type]),
			"use bpchar or text or varchar, or another protection",
		)}
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
		of_label({"protection": "format_preserving", "type": type, "alphabet": alphabet}) == {problem(
			at_a(["type"]),
			sprintf("%v has fewer than a million values of %v", [type, alphabet]),
			sprintf("use a length of at least %v, or another protection", [least]),
		)}
	}
}

test_a_format_preserving_label_can_not_tell_plaintext_apart if {
	every on_plaintext in {"reveal", "null"} {
		definition := {"protection": "format_preserving", "type": "text", "alphabet": "digits", "on_plaintext": on_plaintext}
		of_label(definition) == {problem(
			at_a(["on_plaintext"]),
			"nothing tells plaintext from format_preserving values",
			"leave it out",
		)}
	}
}

test_what_a_column_of_its_own_label_says_is_checked_too if {
	own := {"protection": "format_preserving", "keyset": "pii", "type": "varchar(5)", "alphabet": "digits"}
	found := of_catalog(set_to("databases/0/columns/public.t/z", own))
	paths(found) == {["catalog", "test", "databases", 0, "columns", "public.t", "z", "type"]}
}

test_a_tenants_own_keyset_is_for_no_other_tenant if {
	own := set_to("labels/a/keyset", "pii/acme")
	of_catalog(own) == set()
	of_catalog(array.concat(own, set_to("labels/a/tenant", "acme"))) == set()
	of_catalog(array.concat(own, set_to("labels/a/tenant", "globex"))) == {problem(
		at_a(["tenant"]),
		"keyset pii/acme is that of tenant acme alone",
		"leave the tenant out, or name another keyset",
	)}
}

test_a_keyset_whose_tenant_the_principal_chooses_names_none if {
	by_claim := set_to("labels/a/tenant", {"from": "claims.tenant"})
	of_catalog(by_claim) == set()
	of_catalog(array.concat(by_claim, set_to("labels/a/keyset", "pii/acme"))) == {problem(
		at_a(["keyset"]),
		"pii/acme is one tenant's own, and the principal chooses the tenant",
		"leave the tenant out of it",
	)}
}

test_two_labels_with_one_tag_are_a_problem_at_both_places if {
	reason := "labels customer.field34667 and customer.field6209 have the same label tag"
	of_catalog([
		{"op": "add", "path": "labels/customer.field34667", "value": text},
		{"op": "add", "path": "labels/customer.field6209", "value": text},
	]) == {
		problem(["catalog", "test", "labels", "customer.field34667"], reason, "rename one"),
		problem(["catalog", "test", "labels", "customer.field6209"], reason, "rename one"),
	}
}
