package fieldveil_test

import data.fieldveil
import data.fieldveil.shape.schemas
import data.fieldveil.tokens_test

# What a plan says beside its fields: whose it is, until when it holds, and why.

said(plan) := object.remove(plan, ["fields", "revision", "ttl_seconds", "max_stale_seconds"])

ordinary := {"bundle": "", "subject": "user:app", "break_glass": [], "reads_comments": false}

fits(plan) if json.match_schema(plan, schemas.whole.plan) == [true, []]

shop_rules(more) := object.union(data.rules, {"more": more})

refund := {
	"name": "refunds are worked on in the office",
	"who": {
		"claims": {"team": ["billing"]},
		"session": {"purpose": ["refund"]},
		"time": [{"from": "08:00", "to": "18:00"}],
	},
	"labels": ["customer.ssn"],
	"read": {"treatment": "reveal", "budget": {"rows": 500, "per_seconds": 60, "then": {"treatment": "refuse"}}},
}

in_glass := {
	"name": "incident",
	"who": {"session": {"user": ["auditor"]}},
	"labels": ["customer.*"],
	"read": {"treatment": "reveal"},
	"break_glass": {"reason": "INC-42 refunds stuck", "expires": "2026-03-02T17:30:00Z"},
}

at(moment) := time.parse_rfc3339_ns(moment)

second(moment) := floor(at(moment) / 1000000000)

planned(principal, rules, moment) := plan if {
	plan := fieldveil.plan with input as principal
		with data.rules as shop_rules(rules)
		with data.tokens as {"test": tokens_test.issuer}
		with time.now_ns as at(moment)
	fits(plan)
}

agent := object.union(asking("pool"), {
	"session": {"purpose": "refund"},
	"token": tokens_test.token({"team": "billing", "exp": second("2026-03-02T17:00:00Z")}),
})

noon := "2026-03-02T12:00:00Z"

read_of(plan, label) := field.read if {
	some field in plan.fields
	field.label == label
}

test_an_ordinary_plan_says_whose_it_is_and_no_more if {
	plan := fieldveil.plan with input as asking("app")
	said(plan) == ordinary
}

test_a_token_and_a_purpose_and_the_time_give_what_a_rule_says if {
	plan := planned(agent, {"rules": [refund]}, noon)
	said(plan) == object.union(ordinary, {
		"subject": "token:https://issuer.example#ann",
		"expires_at": second("2026-03-02T17:00:00Z"),
	})
	read_of(plan, "customer.ssn") == refund.read
	read_of(plan, "customer.card") == {"treatment": "conceal"}
}

test_a_plan_holds_until_time_may_change_it if {
	expires_at(agent, "2026-03-02T07:00:00Z") == second("2026-03-02T08:00:00Z")
	expires_at(agent, "2026-03-02T16:59:59Z") == second("2026-03-02T17:00:00Z")
	expires_at(asking("app"), "2026-03-02T17:00:00Z") == second("2026-03-02T18:00:00Z")
	expires_at(asking("app"), "2026-03-02T18:00:00Z") == second("2026-03-03T08:00:00Z")
	glass := planned(asking("app"), {"rules": [in_glass]}, noon)
	glass.expires_at == second("2026-03-02T17:30:00Z")
	past := planned(asking("app"), {"rules": [in_glass]}, "2026-03-02T17:30:00Z")
	said(past) == ordinary
}

expires_at(principal, moment) := planned(principal, {"rules": [refund]}, moment).expires_at

test_what_changes_by_time_has_changed_when_the_plan_is_asked_for_anew if {
	every moment in ["2026-03-02T08:00:00Z", "2026-03-02T16:59:59Z"] {
		read_of(planned(agent, {"rules": [refund]}, moment), "customer.ssn") == refund.read
	}
	read_of(planned(agent, {"rules": [refund]}, "2026-03-02T07:59:59Z"), "customer.ssn") == {"treatment": "conceal"}
	read_of(planned(agent, {"rules": [refund]}, "2026-03-02T17:00:00Z"), "customer.ssn") == {"treatment": "refuse"}
}

test_a_token_that_is_not_valid_refuses_everything if {
	app := object.union(asking("app"), {"token": tokens_test.token({"exp": second(noon)})})
	plan := planned(app, {"rules": []}, noon)
	said(plan) == object.union(ordinary, {"denied": "the token is not valid: it has expired"})
	{[field.read, field.write] | some field in plan.fields} == {[{"treatment": "refuse"}, "refuse"]}
	count(plan.fields) == 5
}

test_a_token_that_is_not_valid_yet_refuses_until_it_is if {
	app := object.union(asking("app"), {"token": tokens_test.token({"nbf": second("2026-03-02T12:00:10Z")})})
	plan := planned(app, {"rules": []}, noon)
	plan.denied == "the token is not valid: it is not valid yet"
	plan.expires_at == second("2026-03-02T12:00:10Z")
}

test_nothing_of_a_token_is_in_the_plan if {
	every others in [{}, {"exp": 5}, {"aud": "other"}] {
		token := tokens_test.token(others)
		text := json.marshal(planned(object.union(agent, {"token": token}), {"rules": [refund]}, noon))
		every part in split(token, ".") {
			not contains(text, part)
		}
	}
}

test_break_glass_in_use_is_named_with_its_reason if {
	plan := planned(asking("auditor"), {"rules": [in_glass]}, noon)
	plan.break_glass == ["incident: INC-42 refunds stuck"]
	read_of(plan, "customer.ssn") == {"treatment": "reveal"}
	planned(asking("auditor"), {"rules": [in_glass]}, "2026-03-02T17:30:00Z").break_glass == []
	planned(asking("app"), {"rules": [in_glass]}, noon).break_glass == []
	elsewhere := json.patch(asking("auditor"), [{"op": "replace", "path": "session/database", "value": "other"}])
	planned(elsewhere, {"rules": [in_glass]}, noon).break_glass == []
	refused := object.union(asking("auditor"), {"token": "x"})
	planned(refused, {"rules": [in_glass]}, noon).break_glass == []
}

test_comments_are_read_where_rules_accept_them if {
	plan := planned(asking("app"), {"accept": {"purpose": ["comment"]}, "rules": []}, noon)
	plan.reads_comments
}

test_bundles_are_named_by_their_revisions if {
	none := {"manifest": {"revision": ""}}
	every case in [
		[{}, ""],
		[{"bundles": {}}, ""],
		[{"bundles": {"b": {"manifest": {"revision": "2", "roots": [""]}}, "a": {"manifest": {"revision": "1"}}}}, "1,2"],
		[{"bundles": {"b": none, "a": {"manifest": {}}, "c": {"manifest": {"revision": "3"}}}}, "3"],
	] {
		[system, bundle] := case
		plan := fieldveil.plan with input as asking("app") with data.system as system
		plan.bundle == bundle
		fits(plan)
	}
}

# Revision.

test_revision_stays_while_time_alone_goes_on if {
	count({revision |
		some moment in ["2026-03-02T07:00:00Z", noon, "2026-03-02T20:00:00Z"]
		revision := planned(asking("app"), {"rules": [refund]}, moment).revision
	}) == 1
}

test_revision_changes_with_the_issuers_of_tokens if {
	before := fieldveil.plan with input as asking("app") with data.tokens as {}
	after := fieldveil.plan with input as asking("app") with data.tokens as {"test": tokens_test.issuer}
	before.fields == after.fields
	before.revision != after.revision
}

test_plan_schema_refuses_budgets_and_masks_that_the_filter_would_not_understand if {
	plan := planned(agent, {"rules": [refund]}, noon)
	some i, field in plan.fields
	field.label == "customer.ssn"
	read := sprintf("fields/%v/read", [i])
	every patch in {
		{"op": "replace", "path": concat("/", [read, "budget/rows"]), "value": 0},
		{"op": "replace", "path": concat("/", [read, "budget/rows"]), "value": 1000000001},
		{"op": "replace", "path": concat("/", [read, "budget/per_seconds"]), "value": 86401},
		{"op": "replace", "path": concat("/", [read, "budget/then"]), "value": {"treatment": "reveal"}},
		{"op": "replace", "path": concat("/", [read, "budget/then"]), "value": {"treatment": "mask"}},
		{"op": "replace", "path": concat("/", [read, "treatment"]), "value": "conceal"},
		{"op": "replace", "path": read, "value": {"treatment": "mask", "format": "partial(65,\"x\",0)"}},
		{"op": "replace", "path": read, "value": {"treatment": "mask", "format": "partial(1, \"x\", 0)"}},
		{"op": "replace", "path": read, "value": {"treatment": "mask", "format": "partial(1,\"\",0)"}},
		{"op": "replace", "path": "expires_at", "value": "soon"},
		{"op": "replace", "path": "subject", "value": ""},
		{"op": "add", "path": "denied", "value": ""},
	} {
		not json.match_schema(json.patch(plan, [patch]), schemas.whole.plan)[0]
	}
	every format in {"partial(0,\"-\",0)", "partial(64,\"xx xx\",64)", "year"} {
		fits(json.patch(plan, [{"op": "replace", "path": read, "value": {"treatment": "mask", "format": format}}]))
	}
}
