package fieldveil.lints_test

import data.fieldveil.lints

catalog := {
	"labels": {
		"a.one": {"protection": "randomized", "keyset": "pii", "type": "text"},
		"a.two": {"protection": "deterministic", "keyset": "pii", "type": "text"},
	},
	"databases": [{"protocol": "postgres", "database": "test", "columns": {"public.t": {"x": "a.one", "y": "a.two"}}}],
}

reveal := {"name": "reveal", "who": {"session": {"user": ["app"]}}, "labels": ["a.*"], "read": {"treatment": "reveal"}}

sealing := object.union(object.remove(reveal, {"read"}), {"name": "seal", "write": "seal"})

of(catalog_then, rules) := found if {
	found := lints.found with data.catalog as {"test": catalog_then} with data.rules as {"test": {"rules": rules}}
}

of_rules(rules) := of(catalog, rules)

of_label(definition) := of(json.patch(catalog, [{"op": "add", "path": "/labels/a.one", "value": definition}]), [reveal])

at_rule(i, steps) := array.concat(["rules", "test", "rules", i], steps)

test_plain_policies_have_none if {
	of_rules([reveal]) == set()
	of_rules([reveal, object.union(reveal, {"name": "again", "labels": ["a.one"]})]) == set()
}

test_a_label_of_no_column_is_told if {
	of(json.remove(catalog, ["/databases/0/columns/public.t/x"]), [reveal]) == {{
		"path": ["catalog", "test", "labels", "a.one"],
		"reason": "no column and no field of a service has this label",
		"remedy": "map what it is for to it, or leave it out",
	}}
}

test_a_label_of_a_json_path_alone_is_used if {
	services := [{"protocol": "http", "service": "api", "paths": {"$.x": "a.one"}}]
	without := json.remove(catalog, ["/databases/0/columns/public.t/x"])
	of(object.union(without, {"services": services}), [reveal]) == set()
}

test_a_label_of_no_rule_is_told if {
	of_rules([object.union(reveal, {"labels": ["a.one"]})]) == {{
		"path": ["catalog", "test", "labels", "a.two"],
		"reason": "no rule speaks of this label: everybody reads what is stored, and nobody may write it",
		"remedy": "write a rule for those who work with it",
	}}
}

test_leakage_accepted_where_nothing_leaks_is_told if {
	randomized := {"protection": "randomized", "keyset": "pii", "type": "bool", "accept_leakage": "so be it"}
	many := object.union(randomized, {"protection": "indexed", "type": "text", "distinct_values": 1000})
	path := ["catalog", "test", "labels", "a.one", "accept_leakage"]
	of_label(randomized) == {{
		"path": path,
		"reason": "nothing leaks that had to be accepted: equal values are stored differently",
		"remedy": "leave it out",
	}}
	of_label(many) == {{
		"path": path,
		"reason": "nothing leaks that had to be accepted: 1000 distinct values are not few",
		"remedy": "leave it out",
	}}
}

test_leakage_accepted_where_something_leaks_is_fine if {
	every few in [1, 999, "bool", "enum"] {
		definition := {"protection": "deterministic", "keyset": "pii", "type": "text", "distinct_values": few}
		of_label(object.union(definition, {"accept_leakage": "so be it"})) == set()
	}
}

test_giving_every_label_is_told if {
	every rule in [reveal, sealing] {
		of_rules([object.union(rule, {"labels": ["a.one", "**"]})]) == {{
			"path": at_rule(0, ["labels", 1]),
			"reason": "it gives every label there is, and those to come",
			"remedy": "name the labels that they need",
		}}
	}
}

test_a_pattern_that_fits_only_some_labels_or_gives_nothing_is_fine if {
	of_rules([reveal, object.union(reveal, {"name": "any", "labels": ["*"]})]) == set()
	conceal := {"labels": ["**"], "read": {"treatment": "conceal"}}
	of_rules([object.union(reveal, conceal)]) == set()
}

test_a_read_that_never_decides_is_told if {
	stricter := object.union(reveal, {"name": "strict", "read": {"treatment": "mask", "format": "last4"}})
	budget := {"rows": 1, "per_seconds": 1, "then": {"treatment": "null"}}
	braked := object.union(reveal, {"name": "strict", "read": {"treatment": "reveal", "budget": budget}})
	every strong in [stricter, braked] {
		of_rules([strong, reveal]) == {{
			"path": at_rule(1, ["read"]),
			"reason": "it never decides: rule \"strict\" is stricter with the same principals",
			"remedy": "leave it out, or take its labels out of the other rule",
		}}
	}
}

test_a_stricter_rule_of_others_or_of_fewer_labels_leaves_it_deciding if {
	stricter := object.union(reveal, {"name": "strict", "read": {"treatment": "conceal"}})
	of_rules([object.union(stricter, {"labels": ["a.one"]}), reveal]) == set()
	of_rules([object.union(stricter, {"who": {"session": {"user": ["other"]}}}), reveal]) == set()
	glass := {"reason": "x", "expires": "2999-01-01T00:00:00Z"}
	of_rules([object.union(stricter, {"break_glass": glass}), reveal]) == set()
}

test_a_write_that_never_decides_is_told if {
	of_rules([sealing, object.union(sealing, {"name": "no", "write": "refuse"})]) == {{
		"path": at_rule(0, ["write"]),
		"reason": "it never decides: rule \"no\" refuses it to the same principals",
		"remedy": "leave it out, or take its labels out of the other rule",
	}}
}

test_broken_glass_past_its_expiry_is_told if {
	expires := "2026-01-01T00:00:00Z"
	at := time.parse_rfc3339_ns(expires)
	rules := [object.union(reveal, {"break_glass": {"reason": "x", "expires": expires}})]
	found := of_rules(rules) with time.now_ns as at
	found == {{
		"path": at_rule(0, ["break_glass", "expires"]),
		"reason": "it expired at 2026-01-01T00:00:00Z and gives nothing",
		"remedy": "take the rule away",
	}}
	none := of_rules(rules) with time.now_ns as at - 1
	none == set()
}

test_rules_of_one_name_are_told if {
	other := {"rules": [object.union(reveal, {"labels": ["a.one"]})]}
	found := lints.found with data.catalog as {"test": catalog}
		with data.rules as {"test": {"rules": [reveal]}, "other": other}
	found == {{
		"path": ["rules", set, "rules", 0, "name"],
		"reason": "several rules are called \"reveal\", and where a rule is named nobody knows which",
		"remedy": "give each a name of its own",
	} |
		some set in ["test", "other"]
	}
}

test_claims_that_nobody_can_have_are_told if {
	by_claim := object.union(reveal, {"who": {"session": {"user": ["app"]}, "claims": {"role": ["support"]}}})
	tenant := {"op": "add", "path": "/labels/a.one/tenant", "value": {"from": "claims.tenant"}}
	with_tenant := json.patch(catalog, [tenant])
	claims := lint_of_claims(at_rule(0, ["who", "claims"]))
	from := lint_of_claims(["catalog", "test", "labels", "a.one", "tenant", "from"])
	none := of(with_tenant, [by_claim])
	none == {claims, from}
	of(object.union(with_tenant, {"services": [{"protocol": "http", "service": "api", "paths": {}}]}), [by_claim]) == set()
	some_issuer := of(with_tenant, [by_claim]) with data.tokens as {"login": {"issuer": "https://login.example.com"}}
	some_issuer == set()
}

lint_of_claims(path) := {
	"path": path,
	"reason": "a session has claims by a token alone, and data.tokens says of none who issues it",
	"remedy": "say it in tokens/NAME/data.yaml, or name another attribute",
}

glass(changes) := object.union(reveal, object.union(changes, {
	"name": "glass",
	"break_glass": {"reason": "INC-1", "expires": "2026-01-01T00:00:00Z"},
}))

now := time.parse_rfc3339_ns("2025-12-31T00:00:00Z")

test_a_broken_glass_that_gives_less_than_usual_is_told if {
	budget := {"rows": 5, "per_seconds": 60, "then": {"treatment": "null"}}
	less := {{
		"path": at_rule(1, ["read"]),
		"reason": "while it holds it gives less than rule \"reveal\", whose place it takes",
		"remedy": "give as much here, or leave those labels or principals out",
	}}
	every changes in [
		{"read": {"treatment": "reveal", "budget": budget}},
		{"read": {"treatment": "mask", "format": "last4"}, "labels": ["a.two"]},
		{"read": {"treatment": "conceal"}, "who": {"session": {"user": ["app", "other"]}}},
		{"read": {"treatment": "null"}, "who": {"session": {"user": ["app"], "source": ["10.0.0.0/8"]}}},
		{"read": {"treatment": "refuse"}, "who": {"listener": ["orders"]}},
	] {
		found := of_rules([reveal, glass(changes)]) with time.now_ns as now
		found == less
	}
}

test_a_broken_glass_that_gives_as_much_or_to_others_is_fine if {
	masked := {"treatment": "mask", "format": "last4"}
	every changes in [
		{},
		{"read": masked, "who": {"session": {"user": ["other"]}}},
	] {
		found := of_rules([reveal, glass(changes)]) with time.now_ns as now
		found == set()
	}
	elsewhere := object.union(reveal, {"labels": ["a.one"]})
	found := of_rules([elsewhere, glass({"read": masked, "labels": ["a.two"]})]) with time.now_ns as now
	found == set()
	over := of_rules([reveal, glass({"read": masked})]) with time.now_ns as now * 2
	count(over) == 1 # that it is over
}

test_a_broken_glass_that_refuses_writing_is_told if {
	rules := [object.union(reveal, {"write": "seal"}), glass({"write": "refuse"})]
	found := of_rules(rules) with time.now_ns as now
	found == {{
		"path": at_rule(1, ["write"]),
		"reason": "while it holds it refuses what rule \"reveal\" lets write, whose place it takes",
		"remedy": "leave write out here, which keeps what the other says",
	}}
	silent := of_rules([object.union(reveal, {"write": "seal"}), glass({})]) with time.now_ns as now
	silent == set()
}

# Of services.

api := object.union(json.remove(catalog, ["/databases/0/columns/public.t/x"]), {"services": [{
	"protocol": "http",
	"service": "api",
	"routes": [{"path": "/x", "request": {"$.x": "a.one"}}, {"path": "/health"}],
}]})

test_a_route_that_no_service_has_is_told if {
	asked := object.union(reveal, {"who": {"session": {"user": ["app"]}, "request": {"route": ["/x", "/y"]}}})
	of(api, [asked]) == {{
		"path": at_rule(0, ["who", "request", "route", 1]),
		"reason": "no service has the route /y, so that it describes no request",
		"remedy": "write a route's path as a catalog has it, or /** for what a service has whatever the route",
	}}
}

test_a_route_without_a_field_of_the_rules_labels_is_told if {
	limit := {"name": "l", "unless": {"request": {"route": ["/health"]}}, "labels": ["a.*"], "read": {"treatment": "null"}}
	of(api, [reveal, limit]) == {{
		"path": at_rule(1, ["unless", "request", "route", 0]),
		"reason": "/health has no field of these labels; what a service has whatever the route is of /**",
		"remedy": "name the routes that have them, or leave it out",
	}}
}

test_rules_of_other_headers_do_not_meet if {
	weak := {
		"name": "glass",
		"who": {"session": {"user": ["app"]}, "headers": {"x-desk": ["north"]}},
		"labels": ["a.*"],
		"read": {"treatment": "null"},
		"break_glass": {"reason": "INC", "expires": "2199-01-01T00:00:00Z"},
	}
	count(of(api, [at_desk("south"), weak])) == 0
	count(of(api, [at_desk("north"), weak])) == 1
}

test_rules_of_other_labels_of_the_workload_do_not_meet if {
	weak := {
		"name": "glass",
		"who": {"session": {"user": ["app"]}, "workload": {"labels": {"team": ["north"]}}},
		"labels": ["a.*"],
		"read": {"treatment": "null"},
		"break_glass": {"reason": "INC", "expires": "2199-01-01T00:00:00Z"},
	}
	count(of(api, [of_team({"team": ["south"]}), weak])) == 0
	count(of(api, [of_team({"team": ["north", "south"]}), weak])) == 1
	count(of(api, [of_team({"tier": ["south"]}), weak])) == 1
}

of_team(labels) := object.union(reveal, {"who": {"session": {"user": ["app"]}, "workload": {"labels": labels}}})

at_desk(value) := object.union(reveal, {"who": {"session": {"user": ["app"]}, "headers": {"x-desk": [value]}}})
