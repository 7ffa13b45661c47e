package fieldveil.shape_test

import data.fieldveil.shape

schema := {
	"type": "object",
	"additionalProperties": false,
	"required": ["size"],
	"properties": {
		"size": {"type": "integer", "minimum": 1},
		"word": {"enum": ["a", "b"]},
		"either": {"anyOf": [{"type": "string"}, {
			"type": "object",
			"required": ["from"],
			"properties": {"from": {"pattern": "^[a-z]+$", "examples": ["x", "abc"]}},
		}]},
		"parts": {
			"type": "object",
			"propertyNames": {"pattern": "^[a-z.]+$", "examples": ["a.b"]},
			"additionalProperties": {"type": "object", "additionalProperties": false},
		},
		"list": {"type": "array", "items": {"type": "string"}},
	},
}

problems(document) := found if {
	found := shape.problems(["here"], document, "thing") with data.schemas as {"thing": schema}
}

test_what_fits_has_no_problem if {
	problems({"size": 1, "word": "a", "either": "x", "parts": {"a.b": {}}, "list": ["x"]}) == set()
}

test_what_can_not_be_checked_is_a_problem if {
	unchecked := {{
		"path": ["here"],
		"reason": "it can not be checked against schemas/thing",
		"remedy": "make it an object, and load the folder schemas beside it",
	}}
	every document in [5, null, "{\"size\": 1}", [], true] {
		problems(document) == unchecked
	}
	found := shape.problems(["here"], {"size": 1}, "thing") with data.schemas as {}
	found == unchecked
}

test_each_complaint_has_the_path_of_its_value_a_reason_and_a_remedy if {
	problems({"size": 1, "sise": 2}) == {{
		"path": ["here", "sise"],
		"reason": "its name may not stand here",
		"remedy": "leave it out, or write one of: either, list, parts, size, word",
	}}
	problems({"size": 1, "parts": {"a.b": {"c": 1}}}) == {{
		"path": ["here", "parts", "a.b", "c"],
		"reason": "its name may not stand here",
		"remedy": "leave it out",
	}}
	problems({"size": 1, "parts": {"A": {}}}) == {{
		"path": ["here", "parts", "A"],
		"reason": "its name has not the form of names here",
		"remedy": "write one such as a.b",
	}}
	problems({}) == {{"path": ["here"], "reason": "size is required", "remedy": "add size"}}
	problems({"size": 1, "word": "c"}) == {{
		"path": ["here", "word"],
		"reason": "it is none of the words that may stand here",
		"remedy": "write one of: \"a\", \"b\"",
	}}
	problems({"size": 0}) == {{
		"path": ["here", "size"],
		"reason": "Must be greater than or equal to 1",
		"remedy": "see schemas/thing for what may stand here",
	}}
	problems({"size": 1, "list": ["a", 5]}) == {{
		"path": ["here", "list", 1],
		"reason": "a text is wanted here, and this is a whole number",
		"remedy": "write a text, in quotes if YAML takes it for something else, as it does null, true and 12",
	}}
}

test_of_alternatives_only_the_complaint_that_tells_something_is_left if {
	problems({"size": 1, "either": {"from": "A"}}) == {{
		"path": ["here", "either", "from"],
		"reason": "it has not the form that is wanted here",
		"remedy": "write one such as abc or x",
	}}
}

test_several_complaints_are_several_problems if {
	{problem.path | some problem in problems({"word": "c", "x": 1})} == {["here"], ["here", "word"], ["here", "x"]}
}

test_a_pattern_without_examples_has_a_remedy_too if {
	bare := json.remove(schema, ["properties/either/anyOf/1/properties/from/examples"])
	found := shape.problems(["here"], {"size": 1, "either": {"from": "A"}}, "thing") with data.schemas as {"thing": bare}
	{problem.remedy | some problem in found} == {"see schemas/thing for what may stand here"}
}

test_a_value_of_another_type_is_told_in_plain_words if {
	problems({"size": "1"}) == {{
		"path": ["here", "size"],
		"reason": "a whole number is wanted here, and this is a text",
		"remedy": "write digits without quotes",
	}}
	problems({"size": 1, "list": "x"}) == {{
		"path": ["here", "list"],
		"reason": "a list is wanted here, and this is a text",
		"remedy": "write a list, also of one: [a]",
	}}
	problems({"size": 1, "parts": null}) == {{
		"path": ["here", "parts"],
		"reason": "a mapping is wanted here, and this is null",
		"remedy": "write a mapping: {key: value}",
	}}
}

remedies(document, name) := {problem.remedy | some problem in shape.problems(["here"], document, name)}

rule(changes) := {"rules": [object.union({"name": "r", "who": {"session": {"user": ["u"]}}, "labels": ["a"]}, changes)]}

test_a_name_that_belongs_elsewhere_is_told_where if {
	remedies(rule({"write": "seal", "who": {"user": ["u"]}}), "rules") == {concat("", [
		"write session: {user: …}, or one of: ",
		"claims, client_certificate, headers, listener, request, session, time, workload",
	])}
	remedies(rule({"write": "seal", "who": {"sesion": {}}}), "rules") == {concat(" ", [
		"leave it out, or write one of:",
		"claims, client_certificate, headers, listener, request, session, time, workload",
	])}
	some remedy in remedies(rule({"write": "seal", "treatment": "mask"}), "rules")
	startswith(remedy, "write read: {treatment: …}, or one of: break_glass, labels, name, read,")
	label := {"keyset": "k", "type": "text", "protection": "randomized", "masks": "x"}
	remedies({"labels": {"a.b": label}}, "catalog") == {concat(" ", [
		"leave it out, or write one of: accept_leakage, alphabet, distinct_values, keyset, mask, on_plaintext,",
		"protection, tenant, type",
	])}
}

test_a_name_that_another_excludes_is_to_be_left_out if {
	remedies(rule({"write": "refuse", "unless": {"session": {"user": ["u"]}}}), "rules") == {concat(" ", [
		"leave it out,",
		"or the key that excludes it",
	])}
}

test_a_mapping_is_shown_by_an_example if {
	mask := "{format: last4, treatment: mask}"
	budget := {"rows": 5, "per_seconds": 6}
	masked := object.union(budget, {"then": "mask"})
	remedies(rule({"read": "mask"}), "rules") == {concat(" ", ["write a mapping such as", mask])}
	remedies(rule({"read": {"treatment": "reveal", "budget": masked}}), "rules") == {concat(" ", [
		"write a mapping such as",
		mask,
	])}
	remedies(rule({"read": {"treatment": "reveal", "budget": budget}}), "rules") == {concat(" ", ["add then:", mask])}
	remedies({"labels": {"a.b": "text"}}, "catalog") == {concat(" ", [
		"write a mapping such as",
		"{keyset: pii, protection: randomized, type: text}",
	])}
}

test_of_several_that_would_do_all_are_named if {
	remedies(rule({}), "rules") == {"add read: {format: last4, treatment: mask} or write"}
	issuer := {"issuer": "i", "audience": "a", "algorithms": ["ES256"]}
	shape.problems(["here"], issuer, "tokens") == {{
		"path": ["here"],
		"reason": "jwks or jwks_url is required",
		"remedy": "add jwks or jwks_url: https://login.example.com/.well-known/jwks.json",
	}}
	both := object.union(issuer, {"jwks_url": "https://a/", "jwks": {"keys": [{"kty": "EC"}]}})
	shape.problems(["here"], both, "tokens") == {{
		"path": ["here"],
		"reason": "jwks and jwks_url exclude each other",
		"remedy": "keep one of them",
	}}
}

test_what_is_wrong_once_is_said_once if {
	remedies(rule({"read": {"treatment": "reveal", "format": "last4"}}), "rules") == {concat(" ", [
		"write \"mask\",",
		"or leave out the key that wants it",
	])}
	limit := {"name": "r", "unless": {"session": {"user": ["u"]}}, "labels": ["a"], "read": {"treatment": "x"}}
	remedies({"rules": [limit]}, "rules") == {"write one of: \"mask\", \"conceal\", \"null\", \"refuse\""}
}

test_a_catalog_may_have_labels_alone if {
	label := {"keyset": "k", "type": "text", "protection": "randomized"}
	shape.problems([], {"labels": {"a.b": label}}, "catalog") == set()
	shape.problems([], {"services": []}, "catalog") == set()
	count(shape.problems([], {}, "catalog")) == 1
}
