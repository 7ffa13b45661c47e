package fieldveil_test

import data.fieldveil
import data.fieldveil.shape.schemas

# Each case is a folder of policies/contract. The filter's own tests read the same files.

test_plan_is_what_the_contract_says if {
	every case, contract in data.contract {
		is_agreed(case, contract)
	}
}

is_agreed(case, contract) if {
	print("contract:", case) # regal ignore:print-or-trace-call
	plan := fieldveil.plan with input as contract.input
		with data.catalog as contract.catalog
		with data.rules as contract.rules
		with data.tokens as object.get(contract, "tokens", {})
		with data.system as object.get(contract, "system", {})
		with time.now_ns as time.parse_rfc3339_ns(object.get(contract, "now", "2026-01-01T12:00:00Z"))
	json.match_schema(plan, schemas.whole.plan) == [true, []]

	# The revision is a hash of everything, of which the form alone is agreed.
	said := flat(object.union(plan, {"revision": contract.plan.revision}))
	agreed := flat(contract.plan)
	every key in differing(agreed, said) {
		print("agreed:", key, object.get(agreed, key, "(nothing)")) # regal ignore:print-or-trace-call
		print("said:  ", key, object.get(said, key, "(nothing)")) # regal ignore:print-or-trace-call
		agreed[key] == said[key]
	}
}

# The order of fields and of routes is not agreed.
flat(plan) := object.union_n([
	object.remove(plan, ["fields", "service"]),
	{field.column: field | some field in plan.fields},
	{"unmatched": plan.service.unmatched | plan.service},
	{name: {field | some field in route.fields} |
		some route in plan.service.routes
		name := json.marshal(object.remove(route, {"fields"}))
	},
])

differing(agreed, said) := {key |
	some key in (object.keys(agreed) | object.keys(said))
	object.get(agreed, key, null) != object.get(said, key, null)
}

test_there_are_contracts if {
	count(data.contract) >= 15
}
