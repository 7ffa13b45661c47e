package fieldveil.principal_test

import data.fieldveil.principal

asking := {
	"protocol": "postgres",
	"listener": "orders-db",
	"workload": {"namespace": "shop", "service_account": "orders", "spiffe_id": "spiffe://example.org/orders"},
	"session": {"user": "app", "database": "shop", "application_name": "psql", "source": "10.1.2.3"},
	"claims": {},
}

# One condition for every attribute, each of which holds for `asking`.
conditions := {
	["listener"]: {"listener": ["other", "orders-db"]},
	["workload", "namespace"]: {"workload": {"namespace": ["shop"]}},
	["workload", "service_account"]: {"workload": {"service_account": ["orders"]}},
	["workload", "spiffe_id"]: {"workload": {"spiffe_id": ["spiffe://example.org/orders"]}},
	["session", "user"]: {"session": {"user": ["app"]}},
	["session", "database"]: {"session": {"database": ["shop"]}},
	["session", "application_name"]: {"session": {"application_name": ["psql"]}},
	["session", "source"]: {"session": {"source": ["192.168.0.0/16", "10.0.0.0/8"]}},
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
		every value in {"", "else", null, true, 5, ["app"], {"a": "app"}} {
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

test_networks_are_for_sources_only if {
	not principal.holds({"session": {"user": ["10.0.0.0/8"]}}) with input as asking
}
