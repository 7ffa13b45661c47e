package starter_test

import data.fieldveil.testing

# Tests of rules/crm-api: who gets what over HTTP.

# One who works for a tenant in these roles, at one kind of requests.
caller(roles, method, route) := testing.principal({
	"service": "crm-api",
	"claims": {"sub": "ada", "tenant": "acme", "roles": roles},
	"method": method,
	"route": route,
})

test_support_reads_a_customer_of_the_service if {
	every label, read in {
		"customer.ssn": "mask last4",
		"customer.phone": "mask last4",
		"customer.email": "reveal 200 per 3600 then null",
		"customer.notes": "reveal 200 per 3600 then null",
	} {
		testing.reads(caller(["support"], "GET", "/customers/{id}"), label, read)
	}
}

test_support_changes_no_number_of_a_customer if {
	testing.writes(caller(["support"], "PUT", "/customers/{id}"), "customer.email", "seal")
	testing.writes(caller(["support"], "PUT", "/customers/{id}"), "customer.ssn", "refuse")
}

test_billing_reads_account_numbers_of_the_service_masked if {
	who := testing.principal({"service": "crm-api", "claims": {"tenant": "acme", "roles": ["billing"]}})
	testing.reads(who, "invoice.iban", "mask partial(4,\"…\",2)")
}

test_the_sign_up_makes_customers_and_does_no_more if {
	testing.writes(caller(["sign-up"], "POST", "/customers"), "customer.*", "seal")
	testing.writes(caller(["sign-up"], "PUT", "/customers/{id}"), "customer.*", "refuse")
	testing.reads(caller(["sign-up"], "GET", "/customers/{id}"), "customer.*", "conceal")
}

test_without_a_token_nothing_of_the_service_is_read_or_written if {
	testing.reads(testing.principal({"service": "crm-api"}), "**", "conceal")
	testing.writes(testing.principal({"service": "crm-api"}), "**", "refuse")
}
