package fieldveil.tokens

# What a key must be for a token to be signed with it, by algorithm (RFC 7518, section 3.1; RFC 8037).
kinds := object.union(
	{algorithm: {"kty": "RSA"} | some algorithm in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]},
	{
		"ES256": {"kty": "EC", "crv": "P-256"},
		"ES384": {"kty": "EC", "crv": "P-384"},
		"ES512": {"kty": "EC", "crv": "P-521"},
		"EdDSA": {"kty": "OKP", "crv": "Ed25519"},
	},
)

# METADATA
# title: public_members
# description: What of a key is read (RFC 7517, section 4; RFC 7518, section 6).
public_members := {"kty", "crv", "n", "e", "x", "y"}

# METADATA
# title: fits
# description: |
#   Whether a key is one that verifies signatures of this algorithm. Issuers publish others beside them, which are
#   passed over (RFC 7517, section 5). A private key that stands among public ones is everybody's.
fits(key, algorithm) if {
	kind := kinds[algorithm]
	object.filter(key, object.keys(kind)) == kind
	object.get(key, "use", "sig") == "sig"
	object.get(key, "alg", algorithm) == algorithm
	"verify" in object.get(key, "key_ops", ["verify"])
	not is_private(key)
}

# METADATA
# title: is_readable
# description: Whether a key can be made of what is said of it. None has signed this token.
is_readable(key) if io.jwt.verify_es256("e30.e30.AA", alone(key)) == false

is_private(key) if "d" in object.keys(key)

# Each is handed over by itself: one that can not be read spoils those that stand beside it.
alone(key) := json.marshal({"keys": [object.filter(key, public_members)]})

# With a kid: the keys that have it, or else those that have none.
called(keys, kid) := keys if {
	kid == ""
} else := of_kid if {
	of_kid := [key | some key in keys; key.kid == kid]
	count(of_kid) > 0
} else := [key | some key in keys; not has_kid(key)]

has_kid(key) if "kid" in object.keys(key)
