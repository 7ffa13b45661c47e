package fieldveil.tokens_test

import data.fieldveil.tokens

# What issuers publish beside the keys that sign tokens, and what is none.
passed_over := [
	{"kty": "AKP", "kid": "pq", "alg": "ML-DSA-44", "pub": "AAAA"},
	{"kty": "EC", "kid": "secp", "crv": "secp256k1", "x": "MTEx", "y": "MjIy"},
	{"kty": "OKP", "kid": "dh", "crv": "X25519", "x": "woeSvnnkAbCTrkbJB5HxvYo98w1TY3NLDuqAcwQlfgA"},
	{"kty": "oct", "kid": "shared", "k": "AAAA"},
	{"kty": "RSA", "kid": "odd", "n": "x"},
	{"kty": "EC", "kid": "odd", "crv": "P-256", "x": 5, "y": null},
	{"kty": "EC", "kid": "none", "crv": "P-256"},
	{"kid": "nothing"},
	{},
	"key",
	null,
]

with_jwks(keys) := object.union(issuer, {"jwks": {"keys": keys}})

refusal_by(given, keys) := refusal_at(given, now, with_jwks(keys))

no_signature := "its signature does not hold"

test_a_key_that_is_not_understood_spoils_none_beside_it if {
	every odd in passed_over {
		keys := array.concat([odd], jwks.keys)
		every given in [token({}), signed(private_ec, {"alg": "ES256"}, claims), of_rsa, of_ed] {
			claims_at(given, now, with_jwks(keys)) == claims
			claims_at(given, now, with_jwks(array.reverse(keys))) == claims
		}
	}
	claims_at(token({}), now, with_jwks(array.concat(passed_over, jwks.keys))) == claims
}

of_rsa := signed(private_rsa, {"alg": "PS256", "kid": "rsa"}, claims)

of_ed := signed(private_ed, {"alg": "EdDSA"}, claims)

test_keys_that_are_not_understood_verify_nothing if refusal_by(token({}), passed_over) == no_signature

test_a_key_for_something_else_verifies_nothing if {
	every other in [
		{"use": "enc"},
		{"use": null},
		{"alg": "ES384"},
		{"alg": "RS256"},
		{"key_ops": ["encrypt"]},
		{"key_ops": []},
		{"crv": "P-384"},
		{"kty": "RSA"},
		{"d": "AAAA"},
	] {
		refusal_by(token({}), [object.union(public(private_ec), other)]) == no_signature
	}
	of_signing := {"use": "sig", "alg": "ES256", "key_ops": ["verify", "sign"]}
	claims_at(token({}), now, with_jwks([object.union(public(private_ec), of_signing)])) == claims
}

test_a_token_is_verified_by_the_keys_of_its_kid if {
	stranger := object.union(public(private_stranger), {"kid": "ec"})
	ours := public(private_ec)
	claims_at(token({}), now, with_jwks([stranger, ours])) == claims
	refusal_by(token({}), [stranger, object.union(ours, {"kid": "other"})]) == no_signature
	refusal_by(token({}), [stranger, object.remove(ours, ["kid"])]) == no_signature
	refusal_by(token({}), [object.union(ours, {"use": "enc"}), object.remove(ours, ["kid"])]) == no_signature
}

test_a_kid_that_no_key_has_leaves_those_without_one if {
	nameless := object.remove(public(private_ec), ["kid"])
	claims_at(token({}), now, with_jwks([nameless])) == claims
	claims_at(token({}), now, with_jwks([nameless, public(private_stranger)])) == claims
	refusal_by(token({}), [object.union(nameless, {"kid": "former"})]) == no_signature
}

test_every_kind_of_key_fits_its_algorithms if {
	curves := {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
	every curve, algorithm in curves {
		{one | some one, _ in tokens.kinds; tokens.fits({"kty": "EC", "crv": curve}, one)} == {algorithm}
	}
	{one | some one, _ in tokens.kinds; tokens.fits({"kty": "OKP", "crv": "Ed25519"}, one)} == {"EdDSA"}
	{one | some one, _ in tokens.kinds; tokens.fits({"kty": "RSA"}, one)} == {
		"RS256", "RS384", "RS512",
		"PS256", "PS384", "PS512",
	}
}
