package fieldveil.problems_test

test_a_label_of_which_two_catalogs_say_different_things_is_a_problem_at_both_places if {
	remedy := "define the label once, or in all catalogs alike"
	every key, value in {"protection": "indexed", "keyset": "other", "type": "varchar", "mask": "last4"} {
		one := json.patch(catalog, set_to("labels/a/mask", "first1"))
		found := of_catalogs({"one": one, "two": json.patch(one, set_to(sprintf("labels/a/%v", [key]), value))})
		paths(found) == {["catalog", "one", "labels", "a", key], ["catalog", "two", "labels", "a", key]}
	}
	of_catalogs({"one": catalog, "two": json.patch(catalog, set_to("labels/a/protection", "deterministic"))}) == {
	problem(["catalog", name, "labels", "a", "protection"], reason, remedy) |
		some name in ["one", "two"]
		reason := "protection of label a is said in 2 ways: \"deterministic\" and \"randomized\""
	}
}

test_a_label_of_which_one_catalog_says_more_is_a_problem_at_the_label_of_the_other if {
	paths(of_catalogs({"one": catalog, "two": json.patch(catalog, set_to("labels/a/tenant", "acme"))})) == {
		["catalog", "one", "labels", "a"],
		["catalog", "two", "labels", "a", "tenant"],
	}
	of_catalogs({"one": catalog, "two": json.patch(catalog, set_to("labels/a/on_plaintext", "refuse"))}) == set()
}

equality := {"deterministic": {}, "indexed": {}, "format_preserving": {"alphabet": "digits"}}

test_few_values_whose_equality_shows_are_a_problem_unless_accepted_for_a_reason if {
	shown := {problem(
		at_a(["protection"]),
		"equality shows: fewer than 1000 values are told apart by how often each is stored",
		"use randomized, or say why it is accepted: accept_leakage: \"the reason\"",
	)}
	every protection, more in equality {
		every distinct_values in ["bool", "enum", 1, 999] {
			said := {"protection": protection, "type": "text", "distinct_values": distinct_values}
			definition := object.union(more, said)
			of_label(definition) == shown
			of_label(object.union(definition, {"accept_leakage": "joined by a report"})) == set()
			of_label(object.union(definition, {"protection": "randomized"})) == of_label(object.union(definition, {
				"protection": "randomized",
				"accept_leakage": "no matter",
			}))
		}
		every distinct_values in [1000, 1000000] {
			definition := {"protection": protection, "type": "text", "distinct_values": distinct_values}
			of_label(object.union(more, definition)) == set()
		}
	}
	of_label({"protection": "deterministic", "type": "bool"}) == shown
	of_label({"protection": "indexed", "type": "bool", "distinct_values": 5000}) == shown
	of_label({"protection": "randomized", "type": "bool", "distinct_values": "bool"}) == set()
	every reason in ["", " \t\n"] {
		definition := {"protection": "indexed", "type": "bool", "accept_leakage": reason}
		at_a(["accept_leakage"]) in paths(of_label(definition))
	}
}

test_masks_and_numbers_of_values_have_a_form if {
	every mask in ["last5", "partial", "partial(1,\"\",1)", "partial(65,\"x\",0)", "partial(0,\"x\" ,0)", ""] {
		at_a(["mask"]) in paths(of_catalog(set_to("labels/a/mask", mask)))
	}
	every mask in ["last4", "first1", "email", "partial(2,\"XX\",1)", "partial(0,\"*\",64)"] {
		of_catalog(set_to("labels/a/mask", mask)) == set()
	}
	every distinct_values in [0, -1, 1.5, "few", true] {
		at_a(["distinct_values"]) in paths(of_catalog(set_to("labels/a/distinct_values", distinct_values)))
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

test_a_mask_for_another_type_than_its_labels_is_a_problem if {
	every case in [["last4", "date"], ["year", "text"], ["partial(1,\"x\",1)", "int4"], ["email", "text[]"]] {
		[mask, type] := case
		of_label({"protection": "randomized", "type": type, "mask": mask}) == {problem(
			at_a(["mask"]),
			sprintf("mask %v is not for type %v", [mask, type]),
			"use another format, or leave the mask out",
		)}
	}
	every case in [["timestamptz(3)", "year"], ["datetime", "year"], ["mediumtext", "last4"]] {
		[type, mask] := case
		of_label({"protection": "randomized", "type": type, "mask": mask}) == set()
	}
}
