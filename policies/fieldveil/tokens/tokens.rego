# METADATA
# title: Tokens
# description: |
#   JWTs of the issuers that data.tokens.<name> lists. A token is verified, or refused with a reason that holds nothing
#   of it.
package fieldveil.tokens

import data.fieldveil.clock

# Seconds for which the keys of a URL are kept, after which a key that is not among them is looked for again, and after
# which keys are asked for again that could not be had.
keys_kept := 300

keys_missed := 10

keys_failed := 5

# Less than the second that the filter waits for a plan: OPA breaks off a question that nobody waits for, and learns
# nothing of its answer.
fetch_timeout := "700ms"

# METADATA
# title: issuers
# description: Every issuer, by name.
issuers[name] := issuer if some name, issuer in data.tokens

# METADATA
# title: claims
# description: The claims of a token that is valid; else undefined.
claims(token) := payload if {
	count(valid(token)) > 0
	payload := payload_of(token)
}

# METADATA
# title: refusal
# description: Why a token is not valid; undefined for one that is.
refusal(token) := reason if {
	count(valid(token)) == 0
	reason := why(token)
}

# METADATA
# title: changes
# description: The seconds at which a token begins and ceases to be valid.
changes(token) := {moment |
	has_times(token)
	some issuer in by_issuer(token)
	some moment in {begin_of(token, issuer), end_of(token, issuer)}
}

# METADATA
# title: retry_at
# description: The second at which keys are asked for again that could not be had now; undefined if that is not why.
retry_at(token) := clock.now + keys_failed if {
	count(by_time(token)) > 0
	count(with_keys(token)) == 0
}

# The first of these that is so says why.
why(token) := "it is not known any more: set it again" if {
	token == "unknown"
} else := "it is no signed JWT" if {
	not is_jwt(token)
} else := "its issuer is none that is believed here" if {
	count(by_issuer(token)) == 0
} else := "it is for another audience" if {
	count(by_audience(token)) == 0
} else := "it is signed with an algorithm that its issuer may not use" if {
	count(by_algorithm(token)) == 0
} else := "it does not say when it expires" if {
	not is_time(object.get(payload_of(token), "exp", ""))
} else := "what it says of when it begins is no time" if {
	not is_time(object.get(payload_of(token), "nbf", 0))
} else := "what it says in sub names nobody" if {
	not names_somebody(payload_of(token))
} else := "it has expired" if {
	count(not_expired(token)) == 0
} else := "it is not valid yet" if {
	count(by_time(token)) == 0
} else := "the keys of its issuer can not be had" if {
	count(with_keys(token)) == 0
} else := "its signature does not hold"

# Each step takes of the one before it.

by_issuer(token) := [issuer |
	is_jwt(token)
	payload := payload_of(token)
	some issuer in issuers
	issuer.issuer == payload.iss
]

by_audience(token) := [issuer |
	some issuer in by_issuer(token)
	has_audience(payload_of(token).aud, issuer.audience)
]

has_audience(audience, expected) if audience == expected

has_audience(audience, expected) if {
	is_array(audience)
	expected in audience
}

by_algorithm(token) := [issuer |
	some issuer in by_audience(token)
	header_of(token).alg in issuer.algorithms
]

not_expired(token) := [issuer |
	has_times(token)
	names_somebody(payload_of(token))
	some issuer in by_algorithm(token)
	clock.now < end_of(token, issuer)
]

by_time(token) := [issuer |
	some issuer in not_expired(token)
	clock.now >= begin_of(token, issuer)
]

with_keys(token) := [{"issuer": issuer, "jwks": jwks} |
	some issuer in by_time(token)
	jwks := jwks_of(token, issuer)
]

valid(token) := [entry |
	some entry in with_keys(token)
	verified(token, entry.issuer, entry.jwks)
]

verified(token, issuer, jwks) if {
	some key in called(jwks.keys, kid_of(token))
	fits(key, header_of(token).alg)
	io.jwt.decode_verify(token, {
		"cert": alone(key),
		"alg": header_of(token).alg,
		"iss": issuer.issuer,
		"aud": issuer.audience,
		"time": moment_of(token),
	})[0]
}

# Leeway is ours: the moment at which the library looks is the nearest to now in the token's own time.
moment_of(token) := max([begin, min([clock.now, floor(payload.exp) - 1])]) * 1000000000 if {
	payload := payload_of(token)
	begin := ceil(object.get(payload, "nbf", 0))
}

# Parts of seconds are cut off, as of now.
end_of(token, issuer) := floor(payload_of(token).exp) + leeway_of(issuer)

begin_of(token, issuer) := ceil(object.get(payload_of(token), "nbf", 0)) - leeway_of(issuer)

leeway_of(issuer) := object.get(issuer, "leeway_seconds", 0)

has_times(token) if {
	is_time(payload_of(token).exp)
	is_time(object.get(payload_of(token), "nbf", 0))
}

names_somebody(payload) if not "sub" in object.keys(payload)

names_somebody(payload) if subject_of(payload)

# METADATA
# title: subject_of
# description: |
#   Whom verified claims name, for budgets and for the audit; undefined where they name nobody. The filter takes up to
#   512 bytes, each of which is two digits in hexadecimal, and no control characters, which would break lines of logs.
subject_of(payload) := subject if {
	every name in ["iss", "sub"] {
		regex.match(`^[^\x00-\x1f\x7f-\x9f]+$`, payload[name])
	}
	subject := sprintf("token:%v#%v", [payload.iss, payload.sub])
	count(hex.encode(subject)) <= 2 * 512
}

# Until the year 9999: a number that is much greater would take long to count with.
is_time(value) if {
	is_number(value)
	value >= 0
	value <= 253402300799
}

# A token within a token is none, and nor is one that asks for more than is understood here (RFC 7515, section 4.1.11).
# The library opens the inner one and shows that one's header, so the outer is read by hand.
is_jwt(token) if {
	is_string(token)
	outer := json.unmarshal(base64url.decode(split(token, ".")[0]))
	count({"cty", "crit"} & object.keys(outer)) == 0
	is_object(payload_of(token))
}

header_of(token) := io.jwt.decode(token)[0]

payload_of(token) := io.jwt.decode(token)[1]

kid_of(token) := object.get(header_of(token), "kid", "")

jwks_of(_, issuer) := issuer.jwks

jwks_of(token, issuer) := kept_or_anew(token, issuer, fetched(issuer.jwks_url, keys_kept))

# A token without a kid may be signed with a key that is new.
kept_or_anew(token, issuer, kept) := kept if {
	knows(kept, kid_of(token))
} else := kept if {
	verified(token, issuer, kept)
} else := fetched(issuer.jwks_url, keys_missed)

knows(jwks, kid) if {
	kid != ""
	some key in jwks.keys
	key.kid == kid
}

fetched(url, seconds) := response.body if {
	response := http.send({
		"method": "GET",
		"url": url,
		"timeout": fetch_timeout,
		"raise_error": false,
		"force_json_decode": true,
		"force_cache": true,
		"force_cache_duration_seconds": seconds,
	})
	response.status_code == 200
	is_array(response.body.keys)
}
