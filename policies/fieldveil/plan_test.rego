package fieldveil_test

import data.fieldveil
import data.fieldveil.shape.schemas

asking(user) := {
	"protocol": "postgres",
	"listener": "orders-db",
	"workload": {"namespace": "shop", "service_account": "orders", "spiffe_id": ""},
	"session": {
		"user": user,
		"role": user,
		"database": "shop",
		"application_name": "psql",
		"source": "127.0.0.1",
		"purpose": "",
	},
	"token": "",
	"comment": {"purpose": "", "token": ""},
	"claims": {},
}

labels := {"customer.card", "customer.email", "customer.notes", "customer.phone", "customer.ssn"}

all_alike(value) := {label: value | some label in labels}

reads(principal) := {field.label: field.read | some field in plan.fields} if {
	plan := fieldveil.plan with input as principal
}

writes(principal) := {field.label: field.write | some field in plan.fields} if {
	plan := fieldveil.plan with input as principal
}

# The example, principal by principal.

test_app_and_billing_read_and_write_everything if {
	every user in {"app", "billing"} {
		reads(asking(user)) == all_alike({"treatment": "reveal"})
		writes(asking(user)) == all_alike("seal")
	}
}

test_support_reads_masks_and_writes_nothing if {
	reads(asking("support")) == {
		"customer.card": {"treatment": "mask", "format": "last4"},
		"customer.email": {"treatment": "mask", "format": "email"},
		"customer.notes": {"treatment": "null"},
		"customer.phone": {"treatment": "mask", "format": "last4"},
		"customer.ssn": {"treatment": "mask", "format": "last4"},
	}
	writes(asking("support")) == all_alike("refuse")
}

test_intern_is_refused_the_ssn_and_the_rest_is_concealed if {
	reads(asking("intern")) == object.union(
		all_alike({"treatment": "conceal"}),
		{"customer.ssn": {"treatment": "refuse"}},
	)
	writes(asking("intern")) == all_alike("refuse")
}

test_whoever_no_rule_speaks_of_reads_ciphertext_and_writes_nothing if {
	every user in {"auditor", "APP", "app ", "", "*"} {
		reads(asking(user)) == all_alike({"treatment": "conceal"})
		writes(asking(user)) == all_alike("refuse")
	}
}

test_fields_say_how_they_are_stored if {
	plan := fieldveil.plan with input as asking("app")
	plan.fields[0] == {
		"relation": "public.customer",
		"column": "card",
		"label": "customer.card",
		"keyset": "payments",
		"tenant": "",
		"protection": "randomized",
		"type": "text",
		"read": {"treatment": "reveal"},
		"on_plaintext": "refuse",
		"write": "seal",
	}
	plan.ttl_seconds == 30
	plan.max_stale_seconds == 300
	{field.label | some field in plan.fields; field.protection == "deterministic"} == {"customer.email", "customer.ssn"}
}

test_indexed_and_format_preserving_labels_and_what_to_do_with_plaintext_reach_the_plan if {
	catalog := {"parts": {
		"labels": {
			"part.maker": {"protection": "indexed", "keyset": "pii", "type": "text", "on_plaintext": "reveal"},
			"part.serial": {"protection": "format_preserving", "alphabet": "digits", "keyset": "pii", "type": "varchar(20)"},
		},
		"databases": [{
			"protocol": "postgres",
			"database": "parts",
			"columns": {"public.part": {"maker": "part.maker", "serial": "part.serial"}},
		}],
	}}
	principal := json.patch(asking("app"), [{"op": "replace", "path": "session/database", "value": "parts"}])
	plan := fieldveil.plan with input as principal with data.catalog as object.union(data.catalog, catalog)
	json.match_schema(plan, schemas.whole.plan) == [true, []]
	stored := {field.column: object.filter(field, ["protection", "on_plaintext", "alphabet"]) | some field in plan.fields}
	stored == {
		"maker": {"protection": "indexed", "on_plaintext": "reveal"},
		"serial": {"protection": "format_preserving", "on_plaintext": "refuse", "alphabet": "digits"},
	}
}

# What is missing from the input.

test_without_protocol_or_database_there_is_no_plan if {
	every path in {"protocol", "session", "session/database"} {
		principal := json.remove(asking("app"), [path])
		not fieldveil.plan with input as principal
	}
	not fieldveil.plan with input as {}
	not fieldveil.plan with input as null
	not fieldveil.plan
}

test_with_an_empty_or_odd_protocol_or_database_there_is_no_plan if {
	every value in {"", null, 5, ["shop"]} {
		every path in {"session/database", "protocol"} {
			principal := json.patch(asking("app"), [{"op": "replace", "path": path, "value": value}])
			not fieldveil.plan with input as principal
		}
	}
}

test_without_a_user_everything_is_concealed if {
	principal := json.remove(asking("app"), ["session/user"])
	reads(principal) == all_alike({"treatment": "conceal"})
	writes(principal) == all_alike("refuse")
}

test_with_an_odd_user_everything_is_concealed if {
	every value in {null, true, 5, ["app"], {"app": "app"}} {
		principal := json.patch(asking("app"), [{"op": "replace", "path": "session/user", "value": value}])
		reads(principal) == all_alike({"treatment": "conceal"})
		writes(principal) == all_alike("refuse")
	}
}

test_what_no_rule_names_may_be_missing if {
	every path in {"listener", "workload", "session/application_name", "session/source", "claims"} {
		reads(json.remove(asking("app"), [path])) == all_alike({"treatment": "reveal"})
	}
}

# Other databases.

test_another_database_or_protocol_has_none_of_these_fields if {
	other_database := json.patch(asking("app"), [{"op": "replace", "path": "session/database", "value": "Shop"}])
	reads(other_database) == {}
	other_protocol := json.patch(asking("app"), [{"op": "replace", "path": "protocol", "value": "oracle"}])
	reads(other_protocol) == {}
}

test_a_session_of_mysql_has_the_fields_of_every_database_whichever_it_has_chosen if {
	columns := {"crm.lead": {"email": "customer.email"}}
	more := {"databases": [{"protocol": "mysql", "database": "crm", "ttl_seconds": 7, "columns": columns}]}
	every name in ["shop", "crm", "unknown", ""] {
		plan := fieldveil.plan with input as json.patch(asking("app"), [
			{"op": "replace", "path": "protocol", "value": "mysql"},
			{"op": "replace", "path": "session/database", "value": name},
		])
			with data.catalog as object.union(data.catalog, {"more": more})
		{field.relation | some field in plan.fields} == {"shop.customer", "crm.lead"}
		plan.ttl_seconds == 7
	}
}

test_a_session_of_another_database_than_mysql_has_a_name if {
	unnamed := json.patch(asking("app"), [{"op": "replace", "path": "session/database", "value": ""}])
	not fieldveil.plan with input as unnamed
}

test_a_database_has_its_own_fields_only if {
	catalog := {"parts": {
		"labels": {"part.price": {"protection": "randomized", "keyset": "pii", "type": "numeric(10,2)"}},
		"databases": [{
			"protocol": "postgres",
			"database": "parts",
			"ttl_seconds": 5,
			"columns": {"public.part": {"price": "part.price"}},
		}],
	}}
	principal := json.patch(asking("app"), [{"op": "replace", "path": "session/database", "value": "parts"}])
	plan := fieldveil.plan with input as principal with data.catalog as object.union(data.catalog, catalog)
	[field.column | some field in plan.fields] == ["price"]
	plan.ttl_seconds == 5
	shop := fieldveil.plan with input as asking("app") with data.catalog as object.union(data.catalog, catalog)
	count(shop.fields) == 5
	shop.ttl_seconds == 30
}

# Nothing to go by.

test_without_catalog_or_schemas_there_is_no_plan if {
	not fieldveil.plan with input as asking("app") with data.catalog as {}
	not fieldveil.plan with input as asking("app") with data.schemas as {}
}

test_a_plan_that_leaves_a_column_out_is_no_plan if {
	catalog := json.remove(data.catalog, ["shop/labels/customer.ssn"])
	not fieldveil.plan with input as asking("app")
		with data.catalog as catalog
		with fieldveil.problems.none as true
}

test_without_rules_everything_is_concealed if {
	plan := fieldveil.plan with input as asking("app") with data.rules as {}
	{field.read.treatment | some field in plan.fields} == {"conceal"}
	{field.write | some field in plan.fields} == {"refuse"}
}

# Revision.

test_revision_stays_while_nothing_changes if {
	first := fieldveil.plan.revision with input as asking("app")
	second := fieldveil.plan.revision with input as asking("app")
	first == second
}

test_revision_changes_with_the_result if {
	revisions := {revision_for(user) | some user in {"app", "support", "intern", "auditor"}}
	count(revisions) == 4
}

revision_for(user) := revision if {
	revision := fieldveil.plan.revision with input as asking(user)
}

test_revision_changes_with_catalog_and_rules_even_when_the_result_does_not if {
	before := fieldveil.plan with input as asking("app")
	rule := {"name": "r", "who": {"session": {"user": ["nobody"]}}, "labels": ["**"], "write": "refuse"}
	rules := object.union(data.rules, {"more": {"rules": [rule]}})
	by_rules := fieldveil.plan with input as asking("app") with data.rules as rules
	catalog := object.union(data.catalog, {"more": {"databases": []}})
	by_catalog := fieldveil.plan with input as asking("app") with data.catalog as catalog
	before.fields == by_rules.fields
	before.fields == by_catalog.fields
	count({before.revision, by_rules.revision, by_catalog.revision}) == 3
}

# Schemas.

test_inputs_fit_their_schema if {
	json.match_schema(asking("app"), data.schemas.input) == [true, []]
	every path in {"protocol", "listener", "workload", "session", "session/user", "session/database", "claims"} {
		not json.match_schema(json.remove(asking("app"), [path]), data.schemas.input)[0]
	}
}

test_plans_fit_their_schema if {
	every user in {"app", "billing", "support", "intern", "auditor", ""} {
		plan := fieldveil.plan with input as asking(user)
		json.match_schema(plan, schemas.whole.plan) == [true, []]
	}
	nothing := json.patch(asking("app"), [{"op": "replace", "path": "session/database", "value": "other"}])
	plan := fieldveil.plan with input as nothing
	json.match_schema(plan, schemas.whole.plan) == [true, []]
}

test_plan_schema_refuses_what_the_filter_would_not_understand if {
	plan := fieldveil.plan with input as asking("app")
	every patch in {
		{"op": "replace", "path": "fields/0/read", "value": {"treatment": "mask"}},
		{"op": "replace", "path": "fields/0/read", "value": {"treatment": "reveal", "format": "last4"}},
		{"op": "replace", "path": "fields/0/read/treatment", "value": "show"},
		{"op": "replace", "path": "fields/0/write", "value": "plain"},
		{"op": "replace", "path": "fields/0/protection", "value": "none"},
		{"op": "replace", "path": "fields/0/on_plaintext", "value": "ignore"},
		{"op": "add", "path": "fields/0/alphabet", "value": "hex"},
		{"op": "remove", "path": "fields/0/keyset"},
		{"op": "replace", "path": "fields/0/keyset", "value": "pii/acme/more"},
		{"op": "replace", "path": "fields/0/tenant", "value": {"from": "claims.tenant"}},
		{"op": "replace", "path": "ttl_seconds", "value": 0},
		{"op": "remove", "path": "revision"},
	} {
		not json.match_schema(json.patch(plan, [patch]), schemas.whole.plan)[0]
	}
}
