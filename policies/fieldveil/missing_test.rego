package fieldveil_test

import data.fieldveil
import data.fieldveil.tokens_test

# Every attribute that a rule can ask for, left out, empty or odd: the strictest outcome. Whoever no rule speaks of
# reads `conceal`; a limit that can not be shown to be lifted holds; a bad token refuses everything.

principal := {
	"protocol": "postgres",
	"listener": "orders-db",
	"workload": {
		"namespace": "shop",
		"service_account": "orders",
		"spiffe_id": "spiffe://example.org/orders",
		"labels": {"team": "billing"},
	},
	"session": {
		"user": "pool",
		"role": "reporting",
		"database": "shop",
		"application_name": "fieldveil.purpose=audit",
		"source": "10.1.2.3",
		"purpose": "refund",
	},
	"client_certificate": {"subject": "CN=orders", "dns": [], "uri": ["spiffe://example.org/orders"], "email": []},
	"token": "",
	"comment": {"purpose": "", "token": ""},
	"claims": {"team": "billing", "realm": {"roles": ["viewer"]}, "staff": true, "level": 3},
}

# By the path in the input: a condition that it fulfils.
conditions := {
	"listener": {"listener": ["orders-db"]},
	"workload/namespace": {"workload": {"namespace": ["shop"]}},
	"workload/service_account": {"workload": {"service_account": ["orders"]}},
	"workload/spiffe_id": {"workload": {"spiffe_id": ["spiffe://example.org/orders"]}},
	"workload/labels/team": {"workload": {"labels": {"team": ["billing"]}}},
	"session/user": {"session": {"user": ["pool"]}},
	"session/role": {"session": {"role": ["reporting"]}},
	"session/application_name": {"session": {"application_name": ["fieldveil.purpose=audit"]}},
	"session/source": {"session": {"source": ["10.0.0.0/8"]}},
	"session/purpose": {"session": {"purpose": ["refund"]}},
	"client_certificate/subject": {"client_certificate": {"subject": ["CN=orders"]}},
	"client_certificate/uri": {"client_certificate": {"uri": ["spiffe://example.org/orders"]}},
	"claims/team": {"claims": {"team": ["billing"]}},
	"claims/realm/roles": {"claims": {"realm": {"roles": ["viewer"]}}},
	"claims/staff": {"claims": {"staff": [true]}},
	"claims/level": {"claims": {"level": [3]}},
}

given_by(condition) := {"rules": [{
	"name": "gives",
	"who": object.union(beside(condition), condition),
	"labels": ["customer.*"],
	"read": {"treatment": "reveal"},
	"write": "seal",
}]}

limited_by(condition) := {"rules": [
	{
		"name": "gives",
		"who": {"session": {"database": ["shop"]}, "listener": ["orders-db"]},
		"labels": ["customer.*"],
		"read": {"treatment": "reveal"},
		"write": "seal",
	},
	{
		"name": "limits",
		"unless": object.union(beside(condition), condition),
		"labels": ["customer.*"],
		"read": {"treatment": "refuse"},
		"write": "refuse",
	},
]}

# Roles need a user or a claim beside them, and what the client chooses needs something that it does not.
beside(condition) := {"session": {"database": ["shop"]}, "claims": {"team": ["billing"]}} if {
	condition.session
} else := {"session": {"database": ["shop"]}}

# That catalog and rules are sound does not depend on who asks: one test says so for all, which saves most of the time.
outcomes(asker, rules) := {[field.read.treatment, field.write] | some field in plan.fields} if {
	plan := fieldveil.plan with input as asker
		with data.rules as {"test": rules}
		with fieldveil.problems.none as true
}

spoilt(path) := {json.remove(principal, [path])} | {json.patch(principal, [patch]) |
	some value in ["", "else", null, false, 5, [], [null], {}]
	patch := {"op": "replace", "path": path, "value": value}
}

test_with_every_attribute_there_rules_give_and_limits_are_lifted if {
	every condition in conditions {
		every rules in [given_by(condition), limited_by(condition)] {
			fieldveil.problems.none with data.rules as {"test": rules}
		}
		outcomes(principal, given_by(condition)) == {["reveal", "seal"]}
		outcomes(principal, limited_by(condition)) == {["reveal", "seal"]}
	}
}

test_an_attribute_that_is_missing_empty_or_odd_gives_nothing if {
	every path, condition in conditions {
		every asker in spoilt(path) {
			outcomes(asker, given_by(condition)) == {["conceal", "refuse"]}
		}
	}
}

test_an_attribute_that_is_missing_empty_or_odd_lifts_no_limit if {
	every path, condition in conditions {
		every asker in spoilt(path) {
			outcomes(asker, limited_by(condition)) == {["refuse", "refuse"]}
		}
	}
}

test_whole_parts_of_the_input_that_are_missing_give_nothing_and_lift_nothing if {
	parts := {[part, condition] |
		some path, condition in conditions
		part := split(path, "/")[0]
		part != "session"
	}
	every pair in parts {
		[part, condition] := pair
		every value in [null, "", [], {}, 5] {
			asker := json.patch(principal, [{"op": "replace", "path": part, "value": value}])
			outcomes(asker, given_by(condition)) == {["conceal", "refuse"]}
			outcomes(asker, limited_by(condition)) == {["refuse", "refuse"]}
		}
	}
}

# The same of what only a token says.

by_token(others) := object.union(principal, {"claims": {}, "token": tokens_test.token(others)})

told := {"team": "billing", "realm": {"roles": ["viewer"]}, "staff": true, "level": 3}

token_outcomes(asker, rules) := {[field.read.treatment, field.write] | some field in plan.fields} if {
	plan := fieldveil.plan with input as asker
		with data.rules as {"test": rules}
		with data.tokens as {"test": tokens_test.issuer}
		with fieldveil.problems.none as true
		with time.now_ns as 1790000000 * 1000000000
}

by_claims[split(path, "/")[1]] := condition if {
	some path, condition in conditions
	startswith(path, "claims/")
}

test_a_claim_that_a_token_lacks_gives_nothing_and_lifts_nothing if {
	every claim, condition in by_claims {
		token_outcomes(by_token(told), given_by(condition)) == {["reveal", "seal"]}
		token_outcomes(by_token(told), limited_by(condition)) == {["reveal", "seal"]}
		without := {object.remove(told, [claim])} | {object.union(object.remove(told, [claim]), {claim: odd}) |
			some odd in ["", "else", null, false, 5, [], {}]
		}
		every others in without {
			token_outcomes(by_token(others), given_by(condition)) == {["conceal", "refuse"]}
			token_outcomes(by_token(others), limited_by(condition)) == {["refuse", "refuse"]}
		}
	}
}

test_a_bad_token_refuses_what_the_login_user_alone_would_be_given if {
	rules := given_by({"session": {"user": ["pool"]}})
	token_outcomes(object.union(principal, {"token": ""}), rules) == {["reveal", "seal"]}
	every bad in [
		{"exp": 1790000000},
		{"exp": null},
		{"nbf": 1790000001},
		{"iss": "other"},
		{"aud": "other"},
	] {
		token_outcomes(by_token(bad), rules) == {["refuse", "refuse"]}
	}
	every odd in ["x", "unknown", null, false, 5, [], {}] {
		token_outcomes(object.union(principal, {"token": odd}), rules) == {["refuse", "refuse"]}
	}
}

# Of time.

test_a_time_that_is_not_now_gives_nothing_and_lifts_nothing if {
	# The time of these tests is a Monday, 14:13 in UTC.
	every window in [
		{"days": ["sun"]},
		{"from": "14:14"},
		{"to": "14:13"},
		{"from": "08:00", "to": "18:00", "zone": "Asia/Tokyo"},
	] {
		condition := {"time": [window]}
		token_outcomes(by_token(told), limited_by(condition)) == {["refuse", "refuse"]}
		by_user := object.union({"session": {"user": ["pool"]}}, condition)
		token_outcomes(by_token(told), given_by(by_user)) == {["conceal", "refuse"]}
	}
	now := {"time": [{"from": "08:00", "to": "18:00"}]}
	token_outcomes(by_token(told), limited_by(now)) == {["reveal", "seal"]}
}

# SET ROLE and SET SESSION AUTHORIZATION.

test_another_role_widens_nothing if {
	rules := {"rules": [
		{"name": "a", "who": {"session": {"user": ["app"]}}, "labels": ["customer.*"], "read": {"treatment": "reveal"}},
		{
			"name": "b",
			"who": {"session": {"user": ["pool"], "role": ["billing"]}},
			"labels": ["customer.*"],
			"read": {"treatment": "reveal"},
		},
	]}
	every role in ["app", "postgres", "superuser", "reporting", ""] {
		asker := json.patch(principal, [{"op": "replace", "path": "session/role", "value": role}])
		outcomes(asker, rules) == {["conceal", "refuse"]}
	}
	as_billing := json.patch(principal, [{"op": "replace", "path": "session/role", "value": "billing"}])
	outcomes(as_billing, rules) == {["reveal", "refuse"]}
	intern := json.patch(as_billing, [{"op": "replace", "path": "session/user", "value": "intern"}])
	outcomes(intern, rules) == {["conceal", "refuse"]}
}
