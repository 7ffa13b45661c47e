package fieldveil.testing_test

import data.fieldveil.testing

# Against the example of policies/catalog and policies/rules.

test_a_user_reads_and_writes if {
	testing.reads(testing.user("app"), "customer.ssn", "reveal")
	testing.reads(testing.user("support"), "customer.ssn", "mask last4")
	testing.reads(testing.user("support"), "customer.notes", "null")
	testing.reads(testing.user("intern"), "customer.ssn", "refuse")
	testing.writes(testing.user("app"), "customer.ssn", "seal")
	testing.writes(testing.user("support"), "customer.ssn", "refuse")
	testing.reads_by(testing.user("support"), "customer.ssn", "support checks the last four characters")
	testing.sound
}

test_a_pattern_asks_for_every_label_like_it if {
	testing.reads(testing.user("app"), "customer.*", "reveal")
	testing.reads(testing.user("stranger"), "**", "conceal")
	testing.writes(testing.user("stranger"), "**", "refuse")
	not testing.reads(testing.user("support"), "customer.*", "mask last4")
	not testing.writes(testing.user("app"), "customer.*", "refuse")
	not testing.reads_by(testing.user("support"), "customer.*", "support checks the last four characters")
}

test_what_is_not_so_fails if {
	every expected in ["reveal", "conceal", "mask email", "mask", "last4", "Mask last4", "", null] {
		not testing.reads(testing.user("support"), "customer.ssn", expected)
	}
	not testing.reads(testing.user("stranger"), "customer.ssn", "reveal")
	not testing.reads(testing.user("stranger"), "customer.ssn", "reveal")
	not testing.writes(testing.user("support"), "customer.ssn", "seal")
	not testing.writes(testing.user("support"), "customer.ssn", "conceal")
	not testing.denied(testing.user("support"))
}

test_a_label_that_is_nowhere_fails if {
	not testing.reads(testing.user("app"), "customer.sn", "reveal")
	not testing.writes(testing.user("app"), "person.*", "refuse")
	not testing.reads(testing.principal({"user": "app", "database": "other"}), "customer.ssn", "reveal")
	testing.reads(testing.principal({"user": "app", "database": "shop"}), "customer.ssn", "reveal")
}

test_an_attribute_that_a_principal_has_not_fails if {
	not testing.principal({"usr": "app"})
	not testing.principal({"user": "app", "groups": ["a"]})
}

test_a_principal_that_is_none_fails if {
	not testing.principal({"user": "app", "at": "yesterday"})
	not testing.principal({"user": "app", "at": 7})
	testing.principal({"user": "app", "at": "2026-01-07T09:00:00+01:00"})
	not testing.reads("app", "customer.ssn", "reveal")
	not testing.writes({"user": "app"}, "customer.ssn", "seal")
	not testing.denied("app")
}

test_policies_that_are_not_sound_fail if {
	not testing.sound with data.catalog as {}
	not testing.reads(testing.user("app"), "customer.ssn", "reveal") with data.schemas as {}
	not testing.denied(testing.user("app")) with data.schemas as {}
}

reads_so(conditions, attributes, expected) if {
	who := object.union({"session": {"user": ["u"]}, "listener": ["l"]}, conditions)
	rules := {"test": {"rules": [{"name": "r", "who": who, "labels": ["**"], "read": {"treatment": "reveal"}}]}}
	principal := testing.principal(object.union({"user": "u", "listener": "l"}, attributes))
	testing.reads(principal, "**", expected) with data.rules as rules
}

# One test, for OPA traces a test with a result for each case, which takes ten times as long. What is not so is printed.
test_every_attribute_reaches_the_rules if {
	morning := [{"from": "08:00", "to": "12:00"}]
	every case in {
		"user": [{}, {}, {"user": "x"}],
		"role": [{"session": {"role": ["r"]}}, {"role": "r"}, {}],
		"the role is the user unless told": [{"session": {"role": ["u"]}}, {}, {"role": "r"}],
		"application_name": [{"session": {"application_name": ["a"]}}, {"application_name": "a"}, {}],
		"source": [{"session": {"source": ["10.0.0.0/8"]}}, {"source": "10.0.0.1"}, {"source": "11.0.0.1"}],
		"purpose": [{"session": {"purpose": ["refund"]}}, {"purpose": "refund"}, {}],
		"database": [{"session": {"database": ["shop"]}}, {"database": "shop"}, {"user": "x", "database": "shop"}],
		"listener": [{}, {}, {"listener": "x"}],
		"namespace": [{"workload": {"namespace": ["n"]}}, {"namespace": "n"}, {}],
		"service_account": [{"workload": {"service_account": ["s"]}}, {"service_account": "s"}, {}],
		"spiffe_id": [{"workload": {"spiffe_id": ["spiffe://x/y"]}}, {"spiffe_id": "spiffe://x/y"}, {}],
		"workload_labels": [
			{"workload": {"labels": {"team": ["t"]}}},
			{"workload_labels": {"team": "t"}},
			{"workload_labels": {"tier": "t"}},
		],
		"client_certificate": [
			{"client_certificate": {"dns": ["a"]}},
			{"client_certificate": {"subject": "CN=a", "dns": ["b", "a"]}},
			{"client_certificate": {"subject": "CN=a", "dns": ["b"]}},
		],
		"claims": [{"claims": {"roles": ["r"]}}, {"claims": {"roles": ["q", "r"]}}, {"claims": {"roles": ["q"]}}],
		"at": [{"time": morning}, {"at": "2026-01-07T09:00:00Z"}, {"at": "2026-01-07T13:00:00Z"}],
	} {
		[conditions, holding, not_holding] := case
		reads_so(conditions, holding, "reveal")
		reads_so(conditions, not_holding, "conceal")
	}
}

test_a_token_that_is_not_valid_is_denied if {
	who := testing.principal({"user": "app", "token": "unknown"})
	testing.denied(who)
	testing.reads(who, "**", "refuse")
}

test_budgets_and_masks_are_spelled_out if {
	budget := {"rows": 500, "per_seconds": 60, "then": {"treatment": "mask", "format": "partial(1,\"*\",0)"}}
	rule := {
		"name": "r",
		"who": {"session": {"user": ["u"]}},
		"labels": ["customer.ssn"],
		"read": {"treatment": "reveal", "budget": budget},
	}
	expected := "reveal 500 per 60 then mask partial(1,\"*\",0)"
	testing.reads(testing.user("u"), "customer.ssn", expected) with data.rules as {"test": {"rules": [rule]}}
	to_null := json.patch(rule, [{"op": "replace", "path": "read/budget/then", "value": {"treatment": "null"}}])
	rules := {"test": {"rules": [to_null]}}
	testing.reads(testing.user("u"), "customer.ssn", "reveal 500 per 60 then null") with data.rules as rules
}

test_a_label_of_a_service_is_asked_for_there if {
	catalog := {"test": {
		"labels": {"order.note": {"protection": "randomized", "keyset": "pii", "type": "text"}},
		"databases": [],
		"services": [{"protocol": "http", "service": "orders", "paths": {"$.note": "order.note"}}],
	}}
	testing.reads(testing.user("u"), "order.note", "conceal") with data.catalog as catalog with data.rules as {}
	service := testing.principal({"user": "u", "database": "orders"})
	testing.reads(service, "order.note", "conceal") with data.catalog as catalog with data.rules as {}
}

test_a_request_is_asked_for_by_its_method_and_route if {
	catalog := {"test": {
		"labels": {"order.note": {"protection": "randomized", "keyset": "pii", "type": "text"}},
		"databases": [{"protocol": "postgres", "database": "shop", "columns": {"public.order": {"note": "order.note"}}}],
		"services": [{
			"protocol": "http",
			"service": "orders",
			"routes": [{"path": "/orders/{id}", "request": {"$.note": "order.note"}}],
		}],
	}}
	rules := {"test": {"rules": [{
		"name": "r",
		"who": {
			"headers": {"x-desk": ["north"]},
			"session": {"database": ["orders"]},
			"request": {"method": ["PUT"], "route": ["/orders/{id}"]},
		},
		"labels": ["**"],
		"read": {"treatment": "reveal"},
	}]}}
	every attributes, expected in {
		{"headers": {"x-desk": "north"}, "method": "PUT", "route": "/orders/{id}"}: "reveal",
		{"service": "orders", "headers": {"x-desk": "north"}, "method": "PUT", "route": "/orders/{id}"}: "reveal",
		{"headers": {"x-desk": "south"}, "method": "PUT", "route": "/orders/{id}"}: "conceal",
		{"headers": {"x-desk": "north"}, "method": "GET", "route": "/orders/{id}"}: "conceal",
		{"headers": {"x-desk": "north"}}: "conceal",
		{"user": "u"}: "conceal",
	} {
		testing.reads(testing.principal(attributes), "order.note", expected) with data.catalog as catalog
			with data.rules as rules
	}
	nowhere := testing.principal({"method": "PUT", "route": "/orders"})
	not testing.reads(nowhere, "order.note", "conceal") with data.catalog as catalog with data.rules as rules
}
