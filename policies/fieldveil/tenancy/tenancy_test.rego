package fieldveil.tenancy_test

import data.fieldveil
import data.fieldveil.shape.schemas
import data.fieldveil.tenancy

asking := {
	"protocol": "postgres",
	"listener": "orders-db",
	"workload": {"namespace": "acme", "service_account": "orders", "spiffe_id": ""},
	"session": {"user": "acme_app", "database": "saas", "application_name": "globex", "source": "127.0.0.1"},
	"claims": {"tenant": "globex", "https://example.org/org.id": "initech"},
}

catalog(tenant) := {"saas": {
	"labels": {
		"account.ssn": {"protection": "deterministic", "keyset": "pii", "type": "text", "tenant": tenant},
		"account.memo": {"protection": "randomized", "keyset": "pii", "type": "text"},
	},
	"databases": [{
		"protocol": "postgres",
		"database": "saas",
		"columns": {"public.account": {"ssn": "account.ssn", "memo": "account.memo"}},
	}],
}}

rules(read) := {"saas": {"rules": [{
	"name": "all read and write",
	"who": {"session": {"source": ["127.0.0.0/8"]}},
	"labels": ["account.*"],
	"read": read,
	"write": "seal",
}]}}

reveal := {"treatment": "reveal"}

fields(tenant, principal, read) := {field.column: field | some field in plan.fields} if {
	plan := fieldveil.plan with input as principal with data.catalog as catalog(tenant) with data.rules as rules(read)
	json.match_schema(plan, schemas.whole.plan) == [true, []]
}

keys(field) := [field.keyset, field.tenant]

by_user := {"from": "session.user", "names": {"acme_app": "acme", "globex_app": "globex"}}

as_user(user) := json.patch(asking, [{"op": "replace", "path": "session/user", "value": user}])

test_the_principal_chooses_keyset_and_tenant if {
	every case in [
		{"from": "claims.tenant", "tenant": "globex"},
		{"from": "claims.https://example.org/org.id", "tenant": "initech"},
		{"from": "workload.namespace", "tenant": "acme"},
		{"from": "workload.service_account", "tenant": "orders"},
		{"from": "session.user", "tenant": "acme_app"},
		{"from": "session.database", "tenant": "saas"},
		{"from": "listener", "tenant": "orders-db"},
	] {
		found := fields({"from": case.from}, asking, reveal)
		keys(found.ssn) == [concat("/", ["pii", case.tenant]), case.tenant]
		[found.ssn.read, found.ssn.write] == [reveal, "seal"]
		keys(found.memo) == ["pii", ""]
	}
}

test_names_say_which_value_is_which_tenant if {
	keys(fields(by_user, as_user("acme_app"), reveal).ssn) == ["pii/acme", "acme"]
	keys(fields(by_user, as_user("globex_app"), reveal).ssn) == ["pii/globex", "globex"]
}

test_another_claim_is_another_plan if {
	other := json.patch(asking, [{"op": "replace", "path": "claims/tenant", "value": "acme"}])
	revision_for(asking) != revision_for(other)
}

revision_for(principal) := revision if {
	revision := fieldveil.plan.revision with input as principal
		with data.catalog as catalog({"from": "claims.tenant"})
		with data.rules as rules(reveal)
}

test_a_principal_without_a_tenant_has_no_keys if {
	every read in [reveal, {"treatment": "mask", "format": "last4"}, {"treatment": "conceal"}] {
		found := fields(by_user, as_user("auditor"), read)
		keys(found.ssn) == ["pii", ""]
		[found.ssn.read, found.ssn.write] == [{"treatment": "conceal"}, "refuse"]
		[found.memo.read, found.memo.write] == [read, "seal"]
	}
	every read in [{"treatment": "null"}, {"treatment": "refuse"}] {
		found := fields(by_user, as_user("auditor"), read)
		[found.ssn.read, found.ssn.write] == [read, "refuse"]
	}
}

test_what_names_no_tenant_is_none if {
	every value in {"", "Acme", "a/b", "a.b", "-a", null, true, 5, ["acme"], {"a": "acme"}} {
		odd := json.patch(asking, [{"op": "replace", "path": "claims/tenant", "value": value}])
		keys(fields({"from": "claims.tenant"}, odd, reveal).ssn) == ["pii", ""]
	}
	long := json.patch(asking, [{"op": "replace", "path": "claims/tenant", "value": sprintf("%064d", [0])}])
	keys(fields({"from": "claims.tenant"}, long, reveal).ssn) == ["pii", ""]
	keys(fields({"from": "claims.tenant"}, json.remove(asking, ["claims"]), reveal).ssn) == ["pii", ""]
}

test_a_catalog_may_name_a_tenant_and_its_keyset if {
	keys(fields("acme", asking, reveal).ssn) == ["pii", "acme"]
	own := json.patch(catalog("acme"), [{"op": "add", "path": "saas/labels/account.ssn/keyset", "value": "pii/acme"}])
	every defined in [own, json.remove(own, ["saas/labels/account.ssn/tenant"])] {
		found := tenancy.keys["account.ssn"] with data.catalog as defined with input as asking
		keys(found) == ["pii/acme", "acme"]
	}
}

test_catalogs_choose_by_what_the_client_can_not_say_freely if {
	every from in {"session.application_name", "session.source", "claims", "claims.", "tenant", ""} {
		not fieldveil.plan with input as asking with data.catalog as catalog({"from": from}) with data.rules as rules(reveal)
	}
}
