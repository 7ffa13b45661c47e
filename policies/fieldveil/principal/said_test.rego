package fieldveil.principal_test

import data.fieldveil.principal
import data.fieldveil.tokens_test

# Purposes and tokens, and where they may stand.

accepting(accept) := {"one": {"rules": []}, "two": {"accept": accept, "rules": []}}

purpose(changes, accept) := said if {
	said := principal.attributes.session.purpose with input as object.union(asking, changes)
		with data.rules as accepting(accept)
}

named(name) := {"session": {"application_name": name, "purpose": ""}}

by_name := {"purpose": ["application_name"]}

by_comment := {"purpose": ["comment"]}

test_a_purpose_that_is_set_counts_always if {
	purpose({}, {}) == "refund"
	said := principal.attributes.session.purpose with input as asking with data.rules as {}
	said == "refund"
}

test_a_purpose_stands_as_a_word_in_application_name if {
	every name in [
		"fieldveil.purpose=audit",
		"billing fieldveil.purpose=audit",
		"fieldveil.purpose=audit,billing",
		"a;fieldveil.purpose=audit;b",
		"fieldveil.purpose=audit fieldveil.purpose=audit",
	] {
		purpose(named(name), by_name) == "audit"
	}
	every name in [
		"",
		"audit",
		"purpose=audit",
		"xfieldveil.purpose=audit",
		"fieldveil.purpose=",
		"fieldveil.purpose",
		"FIELDVEIL.PURPOSE=audit",
		"fieldveil.purpose=audit fieldveil.purpose=refund",
		null,
		5,
		["fieldveil.purpose=audit"],
	] {
		purpose(named(name), by_name) == ""
	}
}

test_application_name_counts_only_where_it_is_accepted if {
	every accept in [{}, by_comment, {"token": ["comment"]}] {
		purpose(named("fieldveil.purpose=audit"), accept) == ""
	}
}

test_a_comment_counts_only_where_it_is_accepted if {
	said := {"comment": {"purpose": "audit"}}
	purpose(said, by_comment) == "audit"
	every accept in [{}, by_name, {"token": ["comment"]}] {
		purpose(said, accept) == "refund"
	}
}

test_the_statement_goes_before_the_session_and_that_before_the_name if {
	both := {"purpose": ["application_name", "comment"]}
	name := {"session": {"application_name": "fieldveil.purpose=audit"}}
	purpose(object.union(name, {"comment": {"purpose": "export"}}), both) == "export"
	purpose(name, both) == "refund"
	purpose(named("fieldveil.purpose=audit"), both) == "audit"
}

test_an_odd_purpose_is_none if {
	every odd in [null, 5, true, ["refund"], {"refund": true}] {
		purpose({"session": {"purpose": odd}}, {}) == ""
		purpose({"session": {"purpose": ""}, "comment": {"purpose": odd}}, by_comment) == ""
	}
	purpose({"session": {"purpose": ""}, "comment": 5}, by_comment) == ""
}

test_comments_are_read_where_some_set_accepts_something_of_them if {
	every case in [[{}, false], [by_name, false], [by_comment, true], [{"token": ["comment"]}, true]] {
		[accept, expected] := case
		principal.reads_comments == expected with data.rules as accepting(accept)
	}
	not principal.reads_comments with data.rules as {}
}

# Tokens.

now := 1790000000

ann := tokens_test.token({"team": "billing"})

bob := tokens_test.token({"sub": "bob", "team": "audit"})

expired := tokens_test.token({"exp": 1789999999})

resolved(changes, accept) := found if {
	found := object.union(
		{"team": principal.attributes.claims.team, "subject": principal.subject},
		{"denied": reason | reason := principal.denied},
	) with input as object.union(asking, changes)
		with data.rules as accepting(accept)
		with data.tokens as {"test": tokens_test.issuer}
		with time.now_ns as now * 1000000000
}

denied(changes, accept) := reason if {
	reason := principal.denied with input as object.union(asking, changes)
		with data.rules as accepting(accept)
		with data.tokens as {"test": tokens_test.issuer}
		with time.now_ns as now * 1000000000
	claims := principal.attributes.claims with input as object.union(asking, changes)
		with data.rules as accepting(accept)
		with data.tokens as {"test": tokens_test.issuer}
		with time.now_ns as now * 1000000000
	claims == {}
}

in_comments := {"token": ["comment"]}

test_the_claims_are_those_of_the_token if {
	resolved({"token": ann}, {}) == {"team": "billing", "subject": "token:https://issuer.example#ann"}
}

test_without_a_token_the_claims_are_those_that_envoy_has_verified if {
	resolved({}, {}) == {"team": "support", "subject": "user:app"}
	resolved({"claims": {"iss": "i", "sub": "s"}}, {}) == {"team": "support", "subject": "token:i#s"}
}

test_the_statements_token_takes_the_place_of_the_sessions if {
	said := {"comment": {"token": bob}}
	found := {"team": "audit", "subject": "token:https://issuer.example#bob"}
	resolved(said, in_comments) == found
	resolved(object.union(said, {"token": ann}), in_comments) == found
	resolved(object.union(said, {"token": expired}), in_comments) == found
	denied({"token": ann, "comment": {"token": expired}}, in_comments) == "the token is not valid: it has expired"
}

test_a_token_in_a_comment_that_may_bring_none_is_refused if {
	every accept in [{}, by_comment, by_name] {
		reason := denied({"token": ann, "comment": {"token": bob}}, accept)
		reason == "the token is not valid: comments may bring none here"
	}
}

test_a_token_that_is_not_valid_leaves_no_claims if {
	denied({"token": expired}, {}) == "the token is not valid: it has expired"
	denied({"token": "unknown"}, {}) == "the token is not valid: it is not known any more: set it again"
	every odd in [null, 5, true, false, [], {}, "x"] {
		denied({"token": odd}, {}) == "the token is not valid: it is no signed JWT"
		denied({"comment": {"token": odd}}, in_comments) == "the token is not valid: it is no signed JWT"
	}
}

test_a_token_without_sub_leaves_the_login_user_as_the_subject if {
	anonymous := object.union(object.remove(tokens_test.claims, ["sub"]), {"team": "x"})
	signed := tokens_test.signed(tokens_test.private_ec, {"alg": "ES256"}, anonymous)
	resolved({"token": signed}, {}) == {"team": "x", "subject": "user:app"}
}

odd_names := ["", null, 5, ["ann"], "ann\nuser:chief", "\u0085", concat("", [long, "x"])]

# With the issuer's name as long as may be.
long := concat("", array.concat(["ë" | some _ in numbers.range(1, 241)], ["x"]))

test_a_token_that_names_nobody_or_not_in_one_line_is_refused if {
	every sub in odd_names {
		denied({"token": tokens_test.token({"sub": sub})}, {}) == "the token is not valid: what it says in sub names nobody"
	}
	{long, "a#b", " "} == {sub |
		some sub in [long, "a#b", " "]
		subject := resolved({"token": tokens_test.token({"sub": sub, "team": "x"})}, {}).subject
		subject == sprintf("token:https://issuer.example#%v", [sub])
	}
}

test_claims_that_name_nobody_leave_the_login_user_as_the_subject if {
	every sub in odd_names {
		resolved({"claims": {"iss": "https://issuer.example", "sub": sub, "team": "x"}}, {}).subject == "user:app"
	}
}

test_the_subject_of_who_is_refused_is_the_login_user if {
	subject := principal.subject with input as object.union(asking, {"token": expired})
		with data.tokens as {"test": tokens_test.issuer}
	subject == "user:app"
}

test_the_subject_is_not_what_the_client_chooses if {
	every path in ["/session/role", "/session/purpose", "/session/application_name", "/comment/purpose"] {
		subject := principal.subject with input as json.patch(asking, [{"op": "replace", "path": path, "value": "chief"}])
		subject == "user:app"
	}
	principal.subject == "user:" with input as {}
}

test_claims_that_are_no_object_are_none if {
	every odd in [null, [], "team", 5] {
		patch := [{"op": "replace", "path": "/claims", "value": odd}]
		principal.attributes.claims == {} with input as json.patch(asking, patch)
	}
}

test_the_principal_changes_when_its_token_does if {
	principal.changes == set() with input as asking
	changes := principal.changes with input as object.union(asking, {"token": ann})
		with data.tokens as {"test": tokens_test.issuer}
	changes == {0, 1800000000}
}

test_the_principal_changes_soon_when_keys_can_not_be_had if {
	of_url := object.union(object.remove(tokens_test.issuer, ["jwks"]), {"jwks_url": tokens_test.url("down")})
	changes := principal.changes with input as object.union(asking, {"token": ann})
		with data.tokens as {"test": of_url}
		with time.now_ns as now * 1000000000
		with http.send as tokens_test.send
	changes == {0, 1800000000, now + 5}
}
