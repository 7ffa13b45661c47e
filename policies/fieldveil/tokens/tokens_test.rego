package fieldveil.tokens_test

import data.fieldveil.tokens

# A second at which `claims` are valid.
now := 1790000000

refusal(given) := refusal_at(given, now, issuer)

refusal_at(given, second, of) := reason if {
	reason := tokens.refusal(given) with data.tokens as {"test": of} with time.now_ns as second * 1000000000
	not claims_at(given, second, of)
}

claims_of(given) := claims_at(given, now, issuer)

claims_at(given, second, of) := found if {
	found := tokens.claims(given) with data.tokens as {"test": of} with time.now_ns as second * 1000000000
}

valid(given) if {
	claims_of(given)
	not refusal(given)
}

test_the_claims_of_a_valid_token_are_had if {
	given := token({"roles": ["support"], "tenant": "acme"})
	claims_of(given) == object.union(claims, {"roles": ["support"], "tenant": "acme"})
	not refusal(given)
}

test_every_algorithm_that_the_issuer_may_use_is_verified if {
	every algorithm in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] {
		valid(signed(private_rsa, {"alg": algorithm, "kid": "rsa"}, claims))
	}
	valid(signed(private_ec, {"alg": "ES256", "kid": "ec"}, claims))
	valid(signed(private_ed, {"alg": "EdDSA", "kid": "ed"}, claims))
	valid(signed(private_ec, {"alg": "ES256"}, claims))
}

test_an_algorithm_that_the_issuer_may_not_use_is_refused if {
	some_only := object.union(issuer, {"algorithms": ["RS256"]})
	refusal_at(token({}), now, some_only) == "it is signed with an algorithm that its issuer may not use"
}

test_what_is_no_token_is_refused if {
	every odd in ["x", "a.b.c", "..", "eyJhbGciOiJub25lIn0", " ", null, 5, true, false, [], {"token": ""}] {
		refusal(odd) == "it is no signed JWT"
	}
	refusal("unknown") == "it is not known any more: set it again"
}

unsigned(header, payload) := concat(".", [
	base64url.encode_no_pad(json.marshal(header)),
	base64url.encode_no_pad(json.marshal(payload)),
	"",
])

test_a_token_without_a_signature_is_refused if {
	refusal(unsigned({"alg": "none"}, claims)) == "it is signed with an algorithm that its issuer may not use"
	refusal(unsigned({"alg": "ES256", "kid": "ec"}, claims)) == "its signature does not hold"
	refusal(unsigned({"kid": "ec"}, claims)) == "it is signed with an algorithm that its issuer may not use"

	# Not even for an issuer that a schema would not let say so.
	careless := object.union(issuer, {"algorithms": ["none"]})
	refusal_at(unsigned({"alg": "none"}, claims), now, careless) == "its signature does not hold"
}

# The public key as a shared secret, as somebody would have it who takes the algorithm from the token.
test_a_token_signed_with_the_public_key_as_a_secret_is_refused if {
	every key in jwks.keys {
		secrets := {json.marshal(key), json.marshal(jwks), object.get(key, "n", "n"), object.get(key, "x", "x")}
		every secret in secrets {
			symmetric := {"kty": "oct", "k": base64url.encode_no_pad(secret)}
			forged := signed(symmetric, {"alg": "HS256", "kid": key.kid}, claims)
			refusal(forged) == "it is signed with an algorithm that its issuer may not use"
			careless := object.union(issuer, {"algorithms": ["HS256", "RS256", "ES256"]})
			refusal_at(forged, now, careless) == "its signature does not hold"
		}
	}
}

test_a_token_that_another_key_has_signed_is_refused if {
	every header in [{"alg": "ES256"}, {"alg": "ES256", "kid": "ec"}, {"alg": "ES256", "kid": "stranger"}] {
		refusal(signed(private_stranger, header, claims)) == "its signature does not hold"
	}

	# A key that the token itself brings counts for nothing.
	own := {"alg": "ES256", "jwk": public(private_stranger)}
	refusal(signed(private_stranger, own, claims)) == "its signature does not hold"
}

test_a_token_whose_claims_were_changed_is_refused if {
	parts := split(token({"roles": ["intern"]}), ".")
	other := base64url.encode_no_pad(json.marshal(object.union(claims, {"roles": ["admin"]})))
	refusal(concat(".", [parts[0], other, parts[2]])) == "its signature does not hold"
}

test_a_token_of_another_issuer_is_refused if {
	every iss in ["https://issuer.example/", "https://other.example", "", null, ["https://issuer.example"]] {
		refusal(token({"iss": iss})) == "its issuer is none that is believed here"
	}
	without := object.remove(claims, ["iss"])
	refusal(signed(private_ec, {"alg": "ES256"}, without)) == "its issuer is none that is believed here"
	tokens.refusal(token({})) == "its issuer is none that is believed here"
}

test_a_token_for_another_audience_is_refused if {
	every aud in ["other", "", "fieldveil ", null, [], ["other"], {"fieldveil": true}] {
		refusal(token({"aud": aud})) == "it is for another audience"
	}
	refusal(signed(private_ec, {"alg": "ES256"}, object.remove(claims, ["aud"]))) == "it is for another audience"
	valid(token({"aud": ["other", "fieldveil"]}))
}

test_a_token_must_say_when_it_expires if {
	every exp in ["1800000000", null, true, -1, 253402300800, [1800000000]] {
		refusal(token({"exp": exp})) == "it does not say when it expires"
	}
	refusal(signed(private_ec, {"alg": "ES256"}, object.remove(claims, ["exp"]))) == "it does not say when it expires"
}

test_a_token_that_begins_at_no_time_is_refused if {
	every nbf in ["1700000000", null, -1, 253402300800] {
		refusal(token({"nbf": nbf})) == "what it says of when it begins is no time"
	}
}

test_a_token_is_valid_until_the_second_at_which_it_expires if {
	claims_at(token({}), 1799999999, issuer)
	refusal_at(token({}), 1800000000, issuer) == "it has expired"
	claims_at(token({"exp": 1800000000.9}), 1799999999, issuer)
	refusal_at(token({"exp": 1800000000.9}), 1800000000, issuer) == "it has expired"
}

test_a_token_is_valid_from_the_second_at_which_it_begins if {
	given := token({"nbf": 1790000000})
	refusal_at(given, 1789999999, issuer) == "it is not valid yet"
	claims_at(given, 1790000000, issuer)
	refusal_at(token({"nbf": 1790000000.1}), 1790000000, issuer) == "it is not valid yet"
}

test_leeway_is_for_both_ends if {
	lenient := object.union(issuer, {"leeway_seconds": 30})
	given := token({"nbf": 1790000000})
	claims_at(given, 1789999970, lenient)
	refusal_at(given, 1789999969, lenient) == "it is not valid yet"
	claims_at(given, 1800000029, lenient)
	refusal_at(given, 1800000030, lenient) == "it has expired"
}

test_a_token_changes_when_it_begins_and_when_it_expires if {
	changes(token({"nbf": 1790000000}), issuer) == {1790000000, 1800000000}
	changes(token({"nbf": 1790000000}), object.union(issuer, {"leeway_seconds": 30})) == {1789999970, 1800000030}
	changes("unknown", issuer) == set()
	changes(token({"exp": "never"}), issuer) == set()
	changes(token({"iss": "other"}), issuer) == set()
}

changes(given, of) := found if {
	found := tokens.changes(given) with data.tokens as {"test": of}
}

test_a_token_within_a_token_and_one_that_asks_for_more_are_refused if {
	every header in [{"cty": "JWT"}, {"cty": "x"}, {"crit": ["exp"]}, {"crit": []}, {"b64": false, "crit": ["b64"]}] {
		given := signed(private_ec, object.union({"alg": "ES256", "kid": "ec"}, header), claims)
		refusal(given) == "it is no signed JWT"
	}

	# Whoever signs what others bring vouches for nothing of it.
	header := json.marshal({"alg": "ES256", "kid": "ec", "cty": "JWT", "typ": "nested"})
	nested := io.jwt.encode_sign_raw(header, token({"sub": "chief"}), json.marshal(private_ec))
	refusal(nested) == "it is no signed JWT"
	io.jwt.decode(nested)[1].sub == "chief"
}

test_a_header_that_is_none_is_refused if {
	every header in ["[]", "5", "null", "{", "{\"alg\":1e1000000000}", ""] {
		parts := split(token({}), ".")
		refusal(concat(".", [base64url.encode_no_pad(header), parts[1], parts[2]])) == "it is no signed JWT"
	}
}

test_a_reason_holds_nothing_of_the_token if {
	given := token({"iss": "https://secretive.example"})
	every part in array.concat(split(given, "."), ["secretive", "ann", "1800000000"]) {
		not contains(refusal(given), part)
	}
}

test_one_of_several_issuers_is_enough if {
	others := {
		"a": object.union(issuer, {"audience": "other"}),
		"b": object.union(issuer, {"jwks": {"keys": [public(private_stranger)]}}),
		"c": issuer,
	}
	found := tokens.claims(token({})) with data.tokens as others with time.now_ns as now * 1000000000
	found == claims
}

# Keys of a URL.

by_url(name) := object.union(object.remove(issuer, ["jwks"]), {"jwks_url": url(name)})

url(name) := sprintf("https://issuer.example/%v.json", [name])

# What is kept for five minutes, by URL; and what is fetched anew.
kept := {
	url("all"): {"status_code": 200, "body": jwks},
	url("old"): {"status_code": 200, "body": {"keys": [public(private_rsa)]}},
	url("stale"): {"status_code": 200, "body": {"keys": [public(private_rsa)]}},
	url("down"): {"status_code": 0, "error": {"message": "no route to host"}},
	url("missing"): {"status_code": 404, "body": jwks},
	url("odd"): {"status_code": 200, "body": {"error": "maintenance"}},
}

anew := {
	url("all"): {"status_code": 200, "body": jwks},
	url("old"): {"status_code": 200, "body": jwks},
	url("stale"): {"status_code": 503, "body": {}},
	url("down"): {"status_code": 200, "body": jwks},
}

send(request) := kept[request.url] if {
	request.method == "GET"
	request.force_cache_duration_seconds == 300
	request.timeout == "700ms"
}

send(request) := anew[request.url] if {
	request.force_cache_duration_seconds == 10
	request.timeout == "700ms"
}

claims_by_url(given, name) := found if {
	found := tokens.claims(given) with data.tokens as {"test": by_url(name)}
		with time.now_ns as now * 1000000000
		with http.send as send
}

refusal_by_url(given, name) := reason if {
	reason := tokens.refusal(given) with data.tokens as {"test": by_url(name)}
		with time.now_ns as now * 1000000000
		with http.send as send
}

test_keys_are_fetched if claims_by_url(token({}), "all") == claims

test_a_key_that_is_not_there_is_looked_for_anew if claims_by_url(token({}), "old") == claims

test_a_token_without_a_kid_is_tried_with_keys_that_are_kept_and_then_with_those_that_are_new if {
	nameless := signed(private_ec, {"alg": "ES256"}, claims)
	claims_by_url(nameless, "all") == claims
	claims_by_url(nameless, "old") == claims
	refusal_by_url(signed(private_stranger, {"alg": "ES256"}, claims), "old") == "its signature does not hold"
}

# Of "down" one would have the keys by the second question, which is not asked.
test_without_keys_a_token_is_refused if {
	every name in ["down", "missing", "odd", "stale"] {
		every kid in [{"kid": "ec"}, {}] {
			given := signed(private_ec, object.union({"alg": "ES256"}, kid), claims)
			refusal_by_url(given, name) == "the keys of its issuer can not be had"
			not claims_by_url(given, name)
		}
	}
}

test_keys_that_are_kept_serve_on_without_their_server if {
	every kid in [{"kid": "rsa"}, {}] {
		claims_by_url(signed(private_rsa, object.union({"alg": "RS256"}, kid), claims), "stale") == claims
	}
}

retry_by_url(given, name) := second if {
	second := tokens.retry_at(given) with data.tokens as {"test": by_url(name)}
		with time.now_ns as now * 1000000000
		with http.send as send
}

test_keys_that_could_not_be_had_are_asked_for_again_soon if {
	every name in ["down", "missing", "odd", "stale"] {
		retry_by_url(token({}), name) == now + 5
	}
	not retry_by_url(token({}), "all")
	not retry_by_url(token({"exp": now}), "down")
	not retry_by_url(token({"iss": "other"}), "down")
	not retry_by_url(signed(private_stranger, {"alg": "ES256"}, claims), "all")
	not retry_by_url("unknown", "down")
}
