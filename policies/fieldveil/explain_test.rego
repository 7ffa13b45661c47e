package fieldveil_test

import data.fieldveil

# The example of a label that a database and a service share.
shared := {"people": {
	"labels": {
		"person.ssn": {"protection": "randomized", "keyset": "pii", "type": "text"},
		"person.name": {"protection": "randomized", "keyset": "pii", "type": "text", "tenant": {"from": "claims.tenant"}},
		"person.badge": {"protection": "randomized", "keyset": "pii", "type": "text"},
	},
	"databases": [
		{
			"protocol": "postgres",
			"database": "hr",
			"columns": {"public.person": {"ssn": "person.ssn", "name": "person.name"}},
		},
		{"protocol": "postgres", "database": "pay", "columns": {"public.payee": {"ssn": "person.ssn"}}},
	],
	"services": [{
		"protocol": "http",
		"service": "people-api",
		"paths": {"$.ssn": "person.ssn", "$..badge": "person.badge"},
	}],
}}

ann := {"session": {"user": ["ann"]}}

sharing := {"people": {"rules": [
	{"name": "all", "who": ann, "labels": ["person.*"], "read": {"treatment": "reveal"}, "write": "seal"},
	{"name": "less", "who": ann, "labels": ["person.ssn"], "read": {"treatment": "null"}},
	{"name": "least", "who": ann, "labels": ["person.s*"], "read": {"treatment": "null"}},
	{"name": "no badges", "unless": {"workload": {"namespace": ["hr"]}}, "labels": ["person.badge"], "write": "refuse"},
]}}

explaining(user, protocol, name) := explanation if {
	explanation := fieldveil.explain with input as of(user, protocol, name)
		with data.catalog as shared
		with data.rules as sharing
}

of(user, protocol, name) := json.patch(asking(user), [
	{"op": "replace", "path": "session/database", "value": name},
	{"op": "replace", "path": "protocol", "value": protocol},
])

ssn := {
	"read": {"treatment": "null"},
	"write": "seal",
	"read_by": ["least", "less"],
	"write_by": ["all"],
	"places": ["hr.public.person.ssn", "pay.public.payee.ssn", "people-api $.ssn"],
}

test_explanation_names_the_rules_that_decide if {
	explaining("ann", "postgres", "hr") == {
		"subject": "user:ann",
		"break_glass": [],
		"labels": {
			"person.ssn": ssn,
			# No rule decides over one whose tenant has no keys.
			"person.name": {
				"read": {"treatment": "conceal"},
				"write": "refuse",
				"read_by": [],
				"write_by": [],
				"places": ["hr.public.person.name"],
			},
		},
	}
}

test_explanation_of_a_service_has_the_labels_of_its_paths if {
	explaining("ann", "http", "people-api").labels == {
		"person.ssn": ssn,
		"person.badge": {
			"read": {"treatment": "reveal"},
			"write": "refuse",
			"read_by": ["all"],
			"write_by": ["no badges"],
			"places": ["people-api $..badge"],
		},
	}
}

test_explanation_where_no_rule_speaks_names_none if {
	explaining("bob", "postgres", "pay").labels == {"person.ssn": object.union(ssn, {
		"read": {"treatment": "conceal"},
		"write": "refuse",
		"read_by": [],
		"write_by": [],
	})}
}

test_explanation_says_what_the_plan_says if {
	every user in {"app", "support", "intern", "auditor"} {
		explanation := fieldveil.explain with input as asking(user)
		{label: said.read | some label, said in explanation.labels} == reads(asking(user))
		{label: said.write | some label, said in explanation.labels} == writes(asking(user))
	}
}

test_explanation_of_a_principal_that_is_denied_says_so if {
	principal := object.union(of("ann", "postgres", "hr"), {"token": "no token"})
	explanation := fieldveil.explain with input as principal with data.catalog as shared with data.rules as sharing
	contains(explanation.denied, "token")
	{[said.read.treatment, said.write, said.read_by] | some said in explanation.labels} == {["refuse", "refuse", []]}
}

test_explanation_names_break_glass_rules_that_hold_for_its_labels if {
	grant := {"break_glass": {"reason": "INC-42", "expires": "2026-01-02T00:00:00Z"}, "name": "break"}
	rules := {"people": {"rules": [object.union(sharing.people.rules[0], grant)]}}
	explained := {name: explanation.break_glass |
		some protocol, name in {"postgres": "hr", "http": "people-api"}
		explanation := fieldveil.explain with input as of("ann", protocol, name)
			with data.catalog as shared
			with data.rules as rules
			with time.now_ns as time.parse_rfc3339_ns("2026-01-01T00:00:00Z")
	}
	explained == {"hr": ["break: INC-42"], "people-api": ["break: INC-42"]}
}

test_explanation_is_undefined_where_the_plan_is if {
	not fieldveil.explain with input as {}
	not fieldveil.explain with input as asking("app") with data.catalog as {}
	fieldveil.explain.labels == {} with input as of("app", "postgres", "other")
}
