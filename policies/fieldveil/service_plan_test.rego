package fieldveil_test

import data.fieldveil
import data.fieldveil.shape.schemas

# A service of two routes, and of cards everywhere.

deterministic := {"protection": "deterministic", "keyset": "pii", "type": "text"}

api_catalog := {"api": {
	"labels": {"p.ssn": deterministic, "p.card": deterministic, "p.name": object.union(
		deterministic,
		{"tenant": {"from": "claims.tenant"}},
	)},
	"services": [{
		"protocol": "http",
		"service": "people-api",
		"paths": {"$..card": "p.card"},
		"routes": [
			{"path": "/people/{id}", "methods": ["GET", "PUT"], "request": {"$.ssn": "p.ssn"}, "response": {"$.name": "p.name"}},
			{"path": "/people", "query": {"ssn": "p.ssn"}},
		],
	}],
}}

api_asking := {
	"protocol": "http",
	"listener": "people-api",
	"workload": {"namespace": "hr", "service_account": "people", "spiffe_id": ""},
	"session": {
		"user": "",
		"role": "",
		"database": "people-api",
		"application_name": "",
		"source": "10.0.0.1",
		"purpose": "",
	},
	"token": "",
	"comment": {"purpose": "", "token": ""},
	"claims": {"team": "hr", "tenant": "acme"},
	"headers": {"x-desk": "north"},
}

hr := {"claims": {"team": ["hr"]}}

gives(who) := {"name": "gives", "who": who, "labels": ["p.*"], "read": {"treatment": "reveal"}, "write": "seal"}

limits(unless) := {
	"name": "limits",
	"unless": unless,
	"labels": ["p.*"],
	"read": {"treatment": "null"},
	"write": "refuse",
}

planning(asker, rules) := plan if {
	plan := fieldveil.plan with input as asker with data.catalog as api_catalog with data.rules as {"r": {"rules": rules}}
	json.match_schema(plan, schemas.whole.plan) == [true, []]
}

# By route, methods and place: what is read and written.
done(asker, rules) := {[route.path, methods_in_words(route), field["in"], field.at]: treated |
	some route in planning(asker, rules).service.routes
	some field in route.fields
	treated := [field.read.treatment, field.write]
}

methods_in_words(route) := concat(",", route.methods) if {
	route.except == []
} else := sprintf("not %v", [concat(",", route.except)])

everywhere := {
	["/**", "", "request", "$..card"],
	["/**", "", "response", "$..card"],
	["/people/{id}", "GET,PUT", "request", "$.ssn"],
	["/people/{id}", "GET,PUT", "response", "$.name"],
	["/people", "", "query", "ssn"],
}

all_of(places, treated) := {place: treated | some place in places}

test_a_service_has_its_fields_by_route if {
	done(api_asking, [gives(hr)]) == all_of(everywhere, ["reveal", "seal"])
	done(api_asking, []) == all_of(everywhere, ["conceal", "refuse"])
	plan := planning(api_asking, [gives(hr)])
	plan.fields == []
	plan.service.unmatched == "pass"
	plan.subject == "service:people-api"
}

test_one_refusal_of_what_fits_no_route_wins if {
	entry := {"protocol": "http", "service": "people-api", "routes": [{"path": "/health"}]}
	refusing := {"more": {"services": [object.union(entry, {"unmatched": "refuse", "ttl_seconds": 7})]}}
	plan := fieldveil.plan with input as api_asking
		with data.catalog as object.union(api_catalog, refusing)
		with data.rules as {}
	plan.service.unmatched == "refuse"
	plan.ttl_seconds == 7
	"/health" in {route.path | some route in plan.service.routes; route.fields == []}
}

test_a_service_that_no_catalog_speaks_of_has_no_routes if {
	asker := json.patch(api_asking, [{"op": "replace", "path": "session/database", "value": "other"}])
	planning(asker, [gives(hr)]).service == {"unmatched": "pass", "routes": []}
	not planning(json.patch(asker, [{"op": "replace", "path": "protocol", "value": "postgres"}]), []).service
}

test_one_route_of_two_catalogs_is_one if {
	more := {"more": {"services": [{
		"protocol": "http",
		"service": "people-api",
		"routes": [{
			"path": "/people/{id}",
			"methods": ["PUT", "GET"],
			"graphql": true,
			"request": {"$.variables.tax": "p.ssn"},
		}],
	}]}}
	plan := fieldveil.plan with input as api_asking
		with data.catalog as object.union(api_catalog, more)
		with data.rules as {}
	found := [route | some route in plan.service.routes; route.path == "/people/{id}"]
	count(found) == 1
	found[0].graphql
	{field.at | some field in found[0].fields} == {"$.ssn", "$.name", "$.variables.tax"}
}

test_rules_tell_routes_apart if {
	in_people := ["/people", "/people/{id}"]
	done(api_asking, [gives(object.union(hr, {"request": {"route": in_people}}))]) == object.union(
		all_of(everywhere, ["reveal", "seal"]),
		all_of({place | some place in everywhere; place[0] == "/**"}, ["conceal", "refuse"]),
	)
	done(api_asking, [gives(hr), limits({"request": {"route": ["/**"]}})]) == object.union(
		all_of(everywhere, ["null", "refuse"]),
		all_of({place | some place in everywhere; place[0] == "/**"}, ["reveal", "seal"]),
	)
}

test_rules_tell_methods_apart_and_all_others_from_them if {
	said := done(api_asking, [gives(object.union(hr, {"request": {"method": ["GET", "POST"]}}))])
	said == {
		["/**", "GET", "request", "$..card"]: ["reveal", "seal"],
		["/**", "GET", "response", "$..card"]: ["reveal", "seal"],
		["/**", "POST", "request", "$..card"]: ["reveal", "seal"],
		["/**", "POST", "response", "$..card"]: ["reveal", "seal"],
		["/**", "not GET,POST", "request", "$..card"]: ["conceal", "refuse"],
		["/**", "not GET,POST", "response", "$..card"]: ["conceal", "refuse"],
		["/people/{id}", "GET", "request", "$.ssn"]: ["reveal", "seal"],
		["/people/{id}", "GET", "response", "$.name"]: ["reveal", "seal"],
		["/people/{id}", "PUT", "request", "$.ssn"]: ["conceal", "refuse"],
		["/people/{id}", "PUT", "response", "$.name"]: ["conceal", "refuse"],
		["/people", "GET", "query", "ssn"]: ["reveal", "seal"],
		["/people", "POST", "query", "ssn"]: ["reveal", "seal"],
		["/people", "not GET,POST", "query", "ssn"]: ["conceal", "refuse"],
	}
}

test_a_method_that_no_rule_names_lifts_no_limit if {
	said := done(api_asking, [gives(hr), limits({"request": {"method": ["PUT"]}})])
	{key[1] | some key, treated in said; treated == ["reveal", "seal"]} == {"PUT"}
	{key[1] | some key, treated in said; treated == ["null", "refuse"]} == {"not PUT", "GET"}
}

test_all_that_a_rule_names_must_be_so if {
	both := object.union(hr, {"request": {"method": ["PUT"], "route": ["/people/{id}"]}})
	{key | some key, treated in done(api_asking, [gives(both)]); treated == ["reveal", "seal"]} == {
		["/people/{id}", "PUT", "request", "$.ssn"],
		["/people/{id}", "PUT", "response", "$.name"],
	}
	stranger := object.remove(api_asking, ["claims"])
	{treated | some treated in done(stranger, [gives(both)])} == {["conceal", "refuse"]}
	{treated | some treated in done(stranger, [gives(object.union(hr, {"listener": ["people-api"]}))])} == {[
		"conceal",
		"refuse",
	]}
}

# Headers.

desk := {"headers": {"x-desk": ["north", "south"]}}

test_a_header_gives_and_lifts_by_one_of_its_values if {
	{treated | some treated in done(api_asking, [gives(desk)])} == {["reveal", "seal"]}
	{treated | some treated in done(api_asking, [gives(hr), limits(desk)])} == {["reveal", "seal"]}
}

test_a_header_that_is_missing_empty_or_odd_gives_nothing_and_lifts_nothing if {
	askers := {object.remove(api_asking, ["headers"])} | {object.union(
		object.remove(api_asking, ["headers"]),
		{"headers": odd},
	) |
		some odd in [
			null, "", "north", ["north"], {}, {"x-desk": ""}, {"x-desk": "east"}, {"x-desk": "NORTH"}, {"x-desk": null},
			{"x-desk": ["north"]}, {"x-desk": {"north": "north"}}, {"X-Desk": "north"}, {"desk": "north"},
		]
	}
	every asker in askers {
		plans := {[rules, treated] |
			some rules in ["gives", "limits"]
			some treated in done_without_schema(asker, {"gives": [gives(desk)], "limits": [gives(hr), limits(desk)]}[rules])
		}
		plans == {["gives", ["conceal", "refuse"]], ["limits", ["null", "refuse"]]}
	}
}

done_without_schema(asker, rules) := {[field.read.treatment, field.write] |
	some route in plan.service.routes
	some field in route.fields
} if {
	plan := fieldveil.plan with input as asker with data.catalog as api_catalog with data.rules as {"r": {"rules": rules}}
}

test_databases_know_no_headers_and_no_requests if {
	every condition in [desk, {"request": {"method": ["GET"]}}, {"request": {"route": ["/people", "/**"]}}] {
		customers := {"labels": ["customer.*"]}
		user := {"session": {"user": ["app"]}}
		given := fieldveil.plan with input as asking("app")
			with data.rules as {"r": {"rules": [object.union(gives(object.union(user, condition)), customers)]}}
		{[field.read.treatment, field.write] | some field in given.fields} == {["conceal", "refuse"]}
		limited := fieldveil.plan with input as asking("app")
			with data.rules as {"r": {"rules": [
				object.union(gives(user), customers),
				object.union(limits(condition), customers),
			]}}
		{[field.read.treatment, field.write] | some field in limited.fields} == {["null", "refuse"]}
	}
}

# Who asks.

test_who_asks_is_the_token_or_the_user_or_else_the_service if {
	subject(api_asking) == "service:people-api"
	subject(object.union(api_asking, {"session": {"user": "ada"}})) == "user:ada"
	subject(object.union(api_asking, {"claims": {"iss": "https://idp", "sub": "ada"}})) == "token:https://idp#ada"
	subject(object.union(api_asking, {"claims": {"iss": "https://idp"}})) == "service:people-api"
}

subject(asker) := planning(asker, []).subject

test_a_tenant_is_chosen_by_a_claim if {
	names(api_asking) == {["pii/acme", "acme", "reveal", "seal"]}
	every odd in [{}, {"tenant": ""}, {"tenant": ["acme"]}, {"tenant": "Acme/1"}, {"tenant": null}] {
		asker := object.union(object.remove(api_asking, ["claims"]), {"claims": object.union({"team": "hr"}, odd)})
		names(asker) == {["pii", "", "conceal", "refuse"]}
	}
}

names(asker) := {[field.keyset, field.tenant, field.read.treatment, field.write] |
	some route in planning(asker, [gives(hr)]).service.routes
	some field in route.fields
	field.label == "p.name"
}

# Budgets, break-glass and time hold as for databases.

test_a_budget_may_be_of_one_route if {
	then := {"rows": 5, "per_seconds": 60, "then": {"treatment": "refuse"}}
	limit := {
		"name": "few",
		"unless": {"request": {"route": ["/people/{id}"]}},
		"labels": ["p.card"],
		"read": {"treatment": "reveal", "budget": then},
	}
	{[route.path, field.label, object.get(field.read, "budget", {})] |
		some route in planning(api_asking, [gives(hr), limit]).service.routes
		some field in route.fields
		field.label != "p.name"
	} == {["/**", "p.card", then], ["/people/{id}", "p.ssn", {}], ["/people", "p.ssn", {}]}
}

test_break_glass_of_one_route_shows_and_expires if {
	glass := object.union(gives(object.union(hr, {"request": {"route": ["/people"]}})), {
		"name": "break",
		"break_glass": {"reason": "INC-1", "expires": "2026-01-02T00:00:00Z"},
	})
	before := planning(api_asking, [glass]) with time.now_ns as time.parse_rfc3339_ns("2026-01-01T00:00:00Z")
	before.break_glass == ["break: INC-1"]
	before.expires_at == 1767312000
	{route.path | some route in before.service.routes; route.fields[_].read.treatment == "reveal"} == {"/people"}
	after := planning(api_asking, [glass]) with time.now_ns as time.parse_rfc3339_ns("2026-01-02T00:00:00Z")
	after.break_glass == []
	not after.expires_at
	{field.read.treatment | some route in after.service.routes; some field in route.fields} == {"conceal"}
	elsewhere := object.union(glass, {"who": object.union(hr, {"request": {"route": ["/other"]}})})
	nowhere := planning(api_asking, [elsewhere]) with time.now_ns as time.parse_rfc3339_ns("2026-01-01T00:00:00Z")
	nowhere.break_glass == []
}

test_the_input_of_a_service_fits_its_schema if {
	json.match_schema(api_asking, data.schemas.input) == [true, []]
	every odd in [{}, {"x-desk": 5}, ["north"]] {
		asker := object.union(object.remove(api_asking, ["headers"]), {"headers": odd})
		not json.match_schema(asker, data.schemas.input)[0]
	}
}

test_a_route_that_would_lack_a_field_is_no_plan if {
	not fieldveil.plan with input as api_asking
		with data.catalog as json.remove(api_catalog, ["api/labels/p.ssn"])
		with fieldveil.problems.none as true
}

# Explained.

explained_of(request) := said if {
	limit := object.union(limits({"request": {"method": ["PUT"], "route": ["/people/{id}"]}}), {"name": "limited"})
	said := fieldveil.explain.labels with input as object.union(api_asking, {"request": request})
		with data.catalog as api_catalog
		with data.rules as {"r": {"rules": [gives(hr), limit]}}
}

test_explanation_of_a_request_has_the_labels_of_its_route if {
	plain := explained_of({})
	object.keys(plain) == {"p.card", "p.name", "p.ssn"}
	{[said.read.treatment, said.read_by] | some said in plain} == {["null", ["limited"]]}
	plain["p.ssn"].places == ["people-api /people query ssn", "people-api GET,PUT /people/{id} request $.ssn"]
	plain["p.card"].places == ["people-api $..card"]
	put := explained_of({"method": "PUT", "route": "/people/{id}"})
	{label: said.read.treatment | some label, said in put} == {"p.name": "reveal", "p.ssn": "reveal"}
	object.keys(explained_of({"method": "DELETE", "route": "/people/{id}"})) == set()
	object.keys(explained_of({"method": "DELETE"})) == {"p.card", "p.ssn"}
	every odd in [{"method": null, "route": 5}, {"method": "", "route": ""}] {
		explained_of(odd) == plain
	}
}
