package fieldveil.problems_test

import data.fieldveil.problems
import data.fieldveil.tokens_test

of_issuer(patches) := found if {
	found := problems.found with data.tokens as {"test": json.patch(tokens_test.issuer, patches)}
}

by_url(url) := [{"op": "remove", "path": "jwks"}, {"op": "add", "path": "jwks_url", "value": url}]

test_issuers_with_keys_or_with_their_url_are_fine if {
	of_issuer([]) == set()
	every url in [
		"https://issuer.example/jwks.json",
		"https://issuer.example",
		"http://127.0.0.1:8080/keys",
		"http://localhost/keys",
		"http://[::1]:80/keys",
	] {
		of_issuer(by_url(url)) == set()
	}
}

test_an_issuer_of_another_shape_is_a_problem_and_says_where if {
	every case in [
		["issuer", "", ["issuer"]],
		["issuer", "https://issuer.example\n", ["issuer"]],
		["issuer", concat("", ["x" | some _ in numbers.range(1, 256)]), ["issuer"]],
		["audience", [], ["audience"]],
		["algorithms", [], ["algorithms"]],
		["algorithms", ["HS256"], ["algorithms", 0]],
		["algorithms", ["RS256", "none"], ["algorithms", 1]],
		["leeway_seconds", 61, ["leeway_seconds"]],
		["leeway_seconds", -1, ["leeway_seconds"]],
		["jwks/keys", [], ["jwks", "keys"]],
		["jwks/keys/0/kty", "oct", ["jwks", "keys", 0, "kty"]],
		["secret", "x", ["secret"]],
	] {
		[pointer, value, path] := case
		array.concat(["tokens", "test"], path) in paths(of_issuer(set_to(pointer, value)))
	}
	every path in ["issuer", "audience", "algorithms", "jwks"] {
		some one in of_issuer([{"op": "remove", "path": path}])
		array.slice(one.path, 0, 2) == ["tokens", "test"]
	}
}

test_private_keys_do_not_belong_here if {
	every member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] {
		found := of_issuer(set_to(concat("/", ["jwks/keys/0", member]), "secret"))
		["tokens", "test", "jwks", "keys", 0, member] in paths(found)
		not contains(json.marshal(found), "secret")
	}
	beside := of_issuer(set_to("jwks/private", {"d": "secret"}))
	paths(beside) == {["tokens", "test", "jwks", "private"]}
	not contains(json.marshal(beside), "secret")
}

test_what_issuers_publish_of_a_key_may_stand_there if {
	of_issuer([{"op": "add", "path": concat("/", ["jwks/keys/0", member]), "value": value} |
		some member, value in {
			"use": "sig",
			"alg": "RS256",
			"key_ops": ["verify"],
			"x5c": ["MIIB"],
			"x5t": "AA",
			"x5t#S256": "AA",
			"ext": true,
		}
	]) == set()
}

test_keys_come_from_one_place if {
	count(of_issuer([{"op": "add", "path": "jwks_url", "value": "https://issuer.example"}])) > 0
}

test_keys_are_not_fetched_in_the_clear_from_another_host if {
	every url in [
		"http://issuer.example/jwks.json",
		"http://127.0.0.1.example/keys",
		"http://127.0.0.1@evil.example/keys",
		"http://localhost.example",
		"https://user:password@issuer.example",
		"file:///etc/passwd",
		"issuer.example",
		"",
	] {
		["tokens", "test", "jwks_url"] in paths(of_issuer(by_url(url)))
	}
}

test_an_issuer_stands_once_for_each_audience if {
	issuer := tokens_test.issuer
	twice := problems.found with data.tokens as {"one": issuer, "two": object.union(issuer, {"leeway_seconds": 5})}
	twice == {problem(
		["tokens", "two"],
		"one has the same issuer and the same audience",
		"say in one of them what holds for both",
	)}
	others := {"one": issuer, "two": object.union(issuer, {"audience": "other"})}
	apart := problems.found with data.tokens as others
	apart == set()
}

test_a_key_that_verifies_nothing_is_a_problem if {
	every odd in [
		{"kty": "OKP", "crv": "X25519", "x": "woeSvnnkAbCTrkbJB5HxvYo98w1TY3NLDuqAcwQlfgA"},
		{"kty": "EC", "crv": "secp256k1", "x": "MTEx", "y": "MjIy"},
		object.union(tokens_test.public(tokens_test.private_ec), {"use": "enc"}),
	] {
		of_issuer([{"op": "add", "path": "jwks/keys/0", "value": odd}]) == {problem(
			["tokens", "test", "jwks", "keys", 0],
			"it verifies no signature of ES256 or EdDSA or PS256 or PS384 or PS512 or RS256 or RS384 or RS512",
			"leave it out: keys are RSA, EC of P-256, P-384 or P-521, or OKP of Ed25519, and for signatures",
		)}
	}
	keys := [["tokens", "test", "jwks", "keys", 0], ["tokens", "test", "jwks", "keys", 2]]
	paths(of_issuer(set_to("algorithms", ["ES256"]))) == {path | some path in keys}
}

test_a_key_that_can_not_be_read_is_a_problem if {
	every odd in [
		{"kty": "RSA", "n": "x"},
		{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
		object.union(tokens_test.public(tokens_test.private_ec), {"x": "woeSvnnkAbCTrkbJB5HxvYo98w1TY3NLDuqAcwQlfgA"}),
		{"kty": "OKP", "crv": "Ed25519", "x": "AA"},
	] {
		of_issuer([{"op": "add", "path": "jwks/keys/0", "value": odd}]) == {problem(
			["tokens", "test", "jwks", "keys", 0],
			"no key can be made of it",
			"copy it anew: RSA has n and e, EC x and y of a point on its curve, OKP x, all in base64url",
		)}
	}
}
