package fieldveil.problems

import data.fieldveil.shape
import data.fieldveil.tokens

found contains problem if {
	some name, issuer in tokens.issuers
	some problem in shape.problems(["tokens", name], issuer, "tokens")
}

found contains problem if {
	some name, issuer in tokens.issuers
	some other, same in tokens.issuers
	other < name
	[same.issuer, same.audience] == [issuer.issuer, issuer.audience]
	problem := {
		"path": ["tokens", name],
		"reason": sprintf("%v has the same issuer and the same audience", [other]),
		"remedy": "say in one of them what holds for both",
	}
}

found contains problem if {
	some key in static_keys
	not fits_one(key.key, key.algorithms)
	problem := {
		"path": key.path,
		"reason": sprintf("it verifies no signature of %v", [concat(" or ", sort(key.algorithms))]),
		"remedy": "leave it out: keys are RSA, EC of P-256, P-384 or P-521, or OKP of Ed25519, and for signatures",
	}
}

found contains problem if {
	some key in static_keys
	fits_one(key.key, key.algorithms)
	not tokens.is_readable(key.key)
	problem := {
		"path": key.path,
		"reason": "no key can be made of it",
		"remedy": "copy it anew: RSA has n and e, EC x and y of a point on its curve, OKP x, all in base64url",
	}
}

static_keys contains key if {
	some name, issuer in tokens.issuers
	some i, one in issuer.jwks.keys
	key := {"path": ["tokens", name, "jwks", "keys", i], "key": one, "algorithms": {name | some name in issuer.algorithms}}
}

fits_one(key, algorithms) if {
	some algorithm in algorithms
	tokens.fits(key, algorithm)
}
