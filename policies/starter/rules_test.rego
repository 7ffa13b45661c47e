package starter_test

import data.fieldveil.testing

# Tests of rules/crm. Each says who, which label, and what that one gets of it.

# One who works for a tenant in these roles, through the application.
colleague(roles) := testing.principal({
	"user": "crm",
	"namespace": "crm",
	"claims": {"sub": "ada", "tenant": "acme", "roles": roles},
	"at": "2026-01-12T10:00:00Z",
})

analyst := testing.principal({
	"user": "crm_reports",
	"namespace": "crm",
	"claims": {"sub": "eva", "tenant": "acme", "roles": ["analyst"]},
})

test_policies_are_sound if testing.sound

test_support_reads if {
	every label, read in {
		"customer.ssn": "mask last4",
		"customer.phone": "mask last4",
		"customer.born": "mask year",
		"customer.email": "reveal 200 per 3600 then null",
		"customer.notes": "reveal 200 per 3600 then null",
		"customer.country": "conceal",
		"invoice.*": "conceal",
	} {
		testing.reads(colleague(["support"]), label, read)
	}
}

test_support_writes if {
	every label, write in {"customer.email": "seal", "customer.notes": "seal", "customer.ssn": "refuse"} {
		testing.writes(colleague(["support"]), label, write)
	}
}

test_billing_reads_account_numbers_masked if {
	testing.reads(colleague(["billing"]), "invoice.iban", "mask partial(4,\"…\",2)")
}

test_payments_reads_account_numbers if {
	who := testing.principal({
		"user": "crm",
		"namespace": "payments",
		"claims": {"tenant": "acme", "roles": ["billing"]},
	})
	testing.reads(who, "invoice.iban", "reveal")
}

test_billing_does_not_see_numbers_of_persons if testing.reads(colleague(["billing"]), "customer.ssn", "conceal")

test_analysts_count_by_country_and_year if {
	testing.reads(analyst, "customer.country", "reveal")
	testing.reads(analyst, "customer.born", "mask year")
	testing.reads(analyst, "customer.ssn", "conceal")
}

test_analysts_change_nothing if testing.writes(analyst, "**", "refuse")

test_an_analyst_who_is_billing_too_changes_nothing_either if {
	testing.writes(colleague(["analyst", "billing"]), "**", "refuse")
}

# Nobody.

test_without_a_token_nothing_is_read_or_written if {
	testing.reads(testing.user("crm"), "customer.*", "conceal")
	testing.writes(testing.user("crm"), "**", "refuse")
}

test_without_a_tenant_nothing_is_opened if {
	testing.reads(testing.principal({"user": "crm", "claims": {"roles": ["support", "billing"]}}), "customer.*", "conceal")
	testing.writes(testing.principal({"user": "crm", "claims": {"roles": ["support", "billing"]}}), "**", "refuse")
}

test_a_token_that_is_not_valid_is_worse_than_none if testing.denied(testing.principal({"user": "crm", "token": "x"}))

# Break glass.

breaking(sub, at) := testing.principal({
	"user": "crm",
	"namespace": "crm",
	"claims": {"sub": sub, "tenant": "acme", "roles": ["support"]},
	"at": at,
})

test_break_glass_opens_numbers_for_its_people_until_it_expires if {
	testing.reads(breaking("ada", "2026-01-09T16:59:59Z"), "customer.ssn", "reveal 20 per 86400 then mask last4")
	testing.reads(breaking("ada", "2026-01-09T17:00:00Z"), "customer.ssn", "mask last4")
	testing.reads(breaking("eve", "2026-01-09T16:59:59Z"), "customer.ssn", "mask last4")
}

test_break_glass_opens_nothing_else if {
	testing.reads(breaking("ada", "2026-01-09T16:59:59Z"), "customer.phone", "mask last4")
}
