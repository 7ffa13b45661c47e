package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.services
import data.fieldveil.tokens
import data.fieldveil.treatment

# What the filter takes, as filters/plan and filters/values have it: it refuses the whole of a plan with more.
most_fields := 4096

longest_characters := 10485760

greatest_precision := 1000

found contains problem if {
	count(columns.protected) > most_fields
	some database, protected in columns_by_database
	count(protected) > most_fields
	some entry in columns.databases
	[entry.definition.protocol, entry.definition.database] == database
	problem := {
		"path": entry.path,
		"reason": sprintf("the database has %v protected columns, and the filter takes %v", [count(protected), most_fields]),
		"remedy": "protect fewer",
	}
}

# No route is parted into more than each of the methods that rules name, and the rest.
found contains problem if {
	count(services.mapped) * (count(services.methods_named) + 1) > most_fields
	some service, routes in services.planned
	fields := sum([count(route.fields) | some route in routes])
	fields > most_fields
	some entry in services.entries
	services.service_of(entry) == service
	problem := {
		"path": entry.path,
		"reason": sprintf("the service's plan has %v fields, and the filter takes %v", [fields, most_fields]),
		"remedy": "name fewer, or fewer methods in rules: a route has its fields again for each that they tell apart",
	}
}

found contains problem if {
	some places in columns.places
	some place in places
	contains(place.definition.type, "(")
	why := too_great(trim_suffix(place.definition.type, "[]"))
	problem := {
		"path": array.concat(place.path, ["type"]),
		"reason": sprintf("%v is no type: %v", [place.definition.type, why]),
		"remedy": "write it as the database has it",
	}
}

# The filter reads whole numbers, and 500.0 and 1e3 are none to it.
found contains problem if {
	some number in whole_numbers
	not regex.match(`^[0-9]+$`, json.marshal(number.value))
	problem := {
		"path": number.path,
		"reason": sprintf("%v is not written as a whole number", [json.marshal(number.value)]),
		"remedy": "write digits alone",
	}
}

columns_by_database[[column.protocol, column.database]] contains [column.relation, column.column] if {
	some column in columns.protected
}

too_great(type) := sprintf("its length is more than %v", [longest_characters]) if {
	is_characters(type)
	length_of(type) > longest_characters
}

too_great(type) := sprintf("its precision is more than %v", [greatest_precision]) if {
	modifiers_of_numeric(type)[0] > greatest_precision
}

too_great(type) := "its scale is more than its precision" if {
	[precision, scale] := modifiers_of_numeric(type)
	precision <= greatest_precision
	scale > precision
}

modifiers_of_numeric(type) := [to_number(without_zeros) |
	some digits in split(trim_suffix(trim_prefix(type, "numeric("), ")"), ",")
	without_zeros := regex.replace(digits, `^0+([0-9])`, "$1")
] if {
	startswith(type, "numeric(")
}

whole_numbers contains number if {
	some entry in (columns.databases | services.entries)
	some key in ["ttl_seconds", "max_stale_seconds"]
	number := {"path": array.concat(entry.path, [key]), "value": entry.definition[key]}
}

whole_numbers contains number if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	some key in ["rows", "per_seconds"]
	value := rule.read.budget[key]
	number := {"path": ["rules", name, "rules", i, "read", "budget", key], "value": value}
}

whole_numbers contains {"path": ["tokens", name, "leeway_seconds"], "value": issuer.leeway_seconds} if {
	some name, issuer in tokens.issuers
}
