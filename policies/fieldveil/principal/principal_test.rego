package fieldveil.principal_test

import data.fieldveil.principal

asking := {
	"protocol": "postgres",
	"listener": "orders-db",
	"workload": {
		"namespace": "shop",
		"service_account": "orders",
		"spiffe_id": "spiffe://example.org/orders",
		"labels": {"team": "billing", "tier": "front"},
	},
	"session": {
		"user": "app",
		"role": "reporting",
		"database": "shop",
		"application_name": "psql",
		"source": "10.1.2.3",
		"purpose": "refund",
	},
	"client_certificate": {
		"subject": "CN=orders,O=shop",
		"dns": ["orders.shop", "orders.shop.svc"],
		"uri": ["spiffe://example.org/orders"],
		"email": ["orders@example.org"],
	},
	"token": "",
	"comment": {"purpose": "", "token": ""},
	"claims": {"team": "support", "realm": {"roles": ["viewer", "editor"]}, "https://example.org/a.b": "x"},
}

# One condition for every attribute, each of which holds for `asking`.
conditions := {
	["listener"]: {"listener": ["other", "orders-db"]},
	["workload", "namespace"]: {"workload": {"namespace": ["shop"]}},
	["workload", "service_account"]: {"workload": {"service_account": ["orders"]}},
	["workload", "spiffe_id"]: {"workload": {"spiffe_id": ["spiffe://example.org/orders"]}},
	["workload", "labels", "team"]: {"workload": {"labels": {"team": ["shipping", "billing"]}}},
	["session", "user"]: {"session": {"user": ["app"]}},
	["session", "role"]: {"session": {"role": ["reporting"]}},
	["session", "database"]: {"session": {"database": ["shop"]}},
	["session", "application_name"]: {"session": {"application_name": ["psql"]}},
	["session", "source"]: {"session": {"source": ["192.168.0.0/16", "10.0.0.0/8"]}},
	["session", "purpose"]: {"session": {"purpose": ["audit", "refund"]}},
	["client_certificate", "subject"]: {"client_certificate": {"subject": ["CN=other", "CN=orders,O=shop"]}},
	["client_certificate", "dns"]: {"client_certificate": {"dns": ["orders.shop.svc"]}},
	["client_certificate", "uri"]: {"client_certificate": {"uri": ["spiffe://example.org/orders"]}},
	["client_certificate", "email"]: {"client_certificate": {"email": ["orders@example.org"]}},
	["claims", "team"]: {"claims": {"team": ["support"]}},
	["claims", "realm", "roles"]: {"claims": {"realm": {"roles": ["editor"]}}},
}

test_every_attribute_holds_by_one_of_its_values if {
	every condition in conditions {
		principal.holds(condition) with input as asking
	}
}

test_a_missing_attribute_holds_for_nothing if {
	every path, condition in conditions {
		not principal.holds(condition) with input as json.remove(asking, [concat("/", path)])
	}
}

test_an_empty_or_odd_attribute_holds_for_nothing if {
	every path, condition in conditions {
		every value in {"", "else", null, true, 5, [], ["app"], [null], [["support"]], {"a": "app"}} {
			patch := [{"op": "replace", "path": concat("/", path), "value": value}]
			not principal.holds(condition) with input as json.patch(asking, patch)
		}
	}
}

test_an_empty_value_does_not_hold_for_what_is_empty if {
	principal_without_user := json.patch(asking, [{"op": "replace", "path": "session/user", "value": ""}])
	not principal.holds({"session": {"user": [""]}}) with input as principal_without_user
}

test_all_conditions_must_hold if {
	both := {"session": {"user": ["app"]}, "workload": {"namespace": ["shop"]}}
	principal.holds(both) with input as asking
	not principal.holds(both) with input as json.remove(asking, ["workload/namespace"])
	not principal.holds(both) with input as json.remove(asking, ["session/user"])
}

test_each_label_that_is_named_must_have_one_of_its_values if {
	named := {"workload": {"labels": {"team": ["billing"], "tier": ["front", "back"]}}}
	principal.holds(named) with input as asking
	not principal.holds(named) with input as json.remove(asking, ["workload/labels/tier"])
	not principal.holds(named) with input as json.remove(asking, ["workload/labels"])
	not principal.holds(named) with input as json.patch(asking, [{
		"op": "replace",
		"path": "workload/labels/team",
		"value": "shipping",
	}])
	of_kubernetes := {"workload": {"labels": {"app.kubernetes.io/name": ["orders"]}}}
	principal.holds(of_kubernetes) with input.workload.labels as {"app.kubernetes.io/name": "orders"}
	not principal.holds(of_kubernetes) with input.workload.labels as ["app.kubernetes.io/name", "orders"]
}

test_no_condition_holds_for_nobody if {
	not principal.holds({}) with input as asking
	not principal.holds({"session": {}}) with input as asking
	not principal.holds({"session": {"user": []}}) with input as asking
}

test_a_source_lies_in_a_network if {
	every case in [
		{"network": "10.1.2.3/32", "source": "10.1.2.3"},
		{"network": "::1/128", "source": "::1"},
	] {
		principal.holds({"session": {"source": [case.network]}}) with input.session.source as case.source
	}
	every case in [
		{"network": "10.0.0.0/8", "source": "11.1.2.3"},
		{"network": "10.0.0.0/8", "source": "::1"},
		{"network": "0.0.0.0/0", "source": "not an address"},
		{"network": "not a network", "source": "10.1.2.3"},
	] {
		not principal.holds({"session": {"source": [case.network]}}) with input.session.source as case.source
	}
}

test_without_any_input_nothing_holds if {
	every condition in conditions {
		odd := {"session": null, "workload": [], "claims": "support", "client_certificate": 5}
		every nothing in [{}, null, [], "x", odd] {
			not principal.holds(condition) with input as nothing
		}
		not principal.holds(condition)
	}
}

test_networks_are_for_sources_only if {
	not principal.holds({"session": {"user": ["10.0.0.0/8"]}}) with input as asking
}

# Roles.

test_the_role_is_not_the_user if {
	not principal.holds({"session": {"user": ["reporting"]}}) with input as asking
	not principal.holds({"session": {"role": ["app"]}}) with input as asking
	not principal.holds({"session": {"role": ["app"]}}) with input as json.remove(asking, ["session/role"])
}

# Claims.

with_claims(claims) := object.union(object.remove(asking, ["claims"]), {"claims": claims})

test_a_claim_has_a_value_as_it_is_or_in_a_list if {
	every case in [
		["support", ["support"]],
		["support", [5, "support"]],
		[["a", "support"], ["support"]],
		[7, [7]],
		[[7, 8], [8]],
		[7.5, [7.5]],
		[true, [true]],
		[false, [false]],
	] {
		[claim, values] := case
		principal.holds({"claims": {"c": values}}) with input as with_claims({"c": claim})
	}
	every case in [
		["7", [7]],
		[7, ["7"]],
		["true", [true]],
		[1, [true]],
		[0, [false]],
		["Support", ["support"]],
		["support ", ["support"]],
		["", [""]],
		[[""], [""]],
		[{"support": true}, ["support"]],
		[[["support"]], ["support"]],
		[null, ["null"]],
	] {
		[claim, values] := case
		not principal.holds({"claims": {"c": values}}) with input as with_claims({"c": claim})
	}
}

test_a_claim_is_named_as_it_is_nested if {
	principal.holds({"claims": {"https://example.org/a.b": ["x"]}}) with input as asking
	not principal.holds({"claims": {"roles": ["editor"]}}) with input as asking
	not principal.holds({"claims": {"realm": ["editor"]}}) with input as asking
	not principal.holds({"claims": {"team": {"lead": ["support"]}}}) with input as asking
}

test_all_claims_named_must_hold if {
	both := {"claims": {"team": ["support"], "realm": {"roles": ["admin", "viewer"]}}}
	principal.holds(both) with input as asking
	not principal.holds(both) with input as json.remove(asking, ["claims/team"])
	not principal.holds(both) with input as json.remove(asking, ["claims/realm"])
}

# The client's certificate.

test_each_kind_of_name_that_is_asked_for_must_be_in_the_certificate if {
	both := {"client_certificate": {"subject": ["CN=orders,O=shop"], "dns": ["orders.shop"]}}
	principal.holds(both) with input as asking
	not principal.holds(both) with input as json.remove(asking, ["client_certificate/dns"])
	not principal.holds(both) with input as json.remove(asking, ["client_certificate"])
	not principal.holds({"client_certificate": {"uri": ["orders.shop"]}}) with input as asking
	not principal.holds({"client_certificate": {"subject": ["CN=orders"]}}) with input as asking
}

# Time.

test_time_holds_in_a_window if {
	office := {"session": {"user": ["app"]}, "time": [{"days": ["mon"], "from": "08:00", "to": "18:00"}]}
	principal.holds(office) with input as asking with time.now_ns as time.parse_rfc3339_ns("2026-03-02T08:00:00Z")
	not principal.holds(office) with input as asking with time.now_ns as time.parse_rfc3339_ns("2026-03-02T18:00:00Z")
	not principal.holds(office) with input as asking with time.now_ns as time.parse_rfc3339_ns("2026-03-03T08:00:00Z")
	not principal.holds(office) with input as json.remove(asking, ["session/user"])
		with time.now_ns as time.parse_rfc3339_ns("2026-03-02T08:00:00Z")
}

test_time_that_is_no_list_of_windows_holds_for_nothing if {
	every odd in [[], [{"zone": "Europe/Atlantis", "from": "00:00"}], [null], {}, "mon", null] {
		not principal.holds({"time": odd}) with input as asking
	}
}
