# METADATA
# title: Lints
# description: |
#   What is odd about sound catalogs and rules, and stops nothing: what is said without effect, and what nothing is
#   said of. `fieldveil policy check` shows it as warnings.
package fieldveil.lints

import data.fieldveil.columns
import data.fieldveil.services
import data.fieldveil.tokens
import data.fieldveil.treatment

# METADATA
# title: found
# description: Each as {"path", "reason", "remedy"}, as in data.fieldveil.problems.found.
# entrypoint: true
found contains lint if {
	some label, places in columns.places
	not used[label]
	some place in places
	lint := {
		"path": place.path,
		"reason": "no column and no field of a service has this label",
		"remedy": "map what it is for to it, or leave it out",
	}
}

found contains lint if {
	some label, places in columns.places
	not spoken_of[label]
	some place in places
	lint := {
		"path": place.path,
		"reason": "no rule speaks of this label: everybody reads what is stored, and nobody may write it",
		"remedy": "write a rule for those who work with it",
	}
}

found contains lint if {
	some label, places in columns.places
	some place in places
	place.definition.accept_leakage
	why := leaks_nothing(place.definition)
	lint := {
		"path": array.concat(place.path, ["accept_leakage"]),
		"reason": sprintf("nothing leaks that had to be accepted: %v", [why]),
		"remedy": "leave it out",
	}
}

found contains lint if {
	some entry in entries
	entry.rule.who
	gives(entry.rule)
	some i, pattern in entry.rule.labels
	regex.match(`^[*.]+$`, pattern)
	object.keys(columns.places) == treatment.labels_like[pattern]
	lint := {
		"path": array.concat(entry.path, ["labels", i]),
		"reason": "it gives every label there is, and those to come",
		"remedy": "name the labels that they need",
	}
}

found contains lint if {
	some same in by_who
	some weak in same
	stricter := {strong.rule.name |
		some strong in same
		rank(strong.rule.read) < rank(weak.rule.read)
		covers(strong, weak)
	}
	lint := {
		"path": array.concat(weak.path, ["read"]),
		"reason": sprintf("it never decides: rule \"%v\" is stricter with the same principals", [sort(stricter)[0]]),
		"remedy": "leave it out, or take its labels out of the other rule",
	}
}

found contains lint if {
	some same in by_who
	some weak in same
	weak.rule.write == "seal"
	refusing := {strong.rule.name |
		some strong in same
		strong.rule.write == "refuse"
		covers(strong, weak)
	}
	lint := {
		"path": array.concat(weak.path, ["write"]),
		"reason": sprintf("it never decides: rule \"%v\" refuses it to the same principals", [sort(refusing)[0]]),
		"remedy": "leave it out, or take its labels out of the other rule",
	}
}

found contains lint if {
	some entry in entries
	count({other.path | some other in entries; other.rule.name == entry.rule.name}) > 1
	lint := {
		"path": array.concat(entry.path, ["name"]),
		"reason": sprintf("several rules are called \"%v\", and where a rule is named nobody knows which", [entry.rule.name]),
		"remedy": "give each a name of its own",
	}
}

found contains lint if {
	no_claims
	some entry in entries
	some conditions in ["who", "unless"]
	entry.rule[conditions].claims
	lint := {
		"path": array.concat(entry.path, [conditions, "claims"]),
		"reason": "a session has claims by a token alone, and data.tokens says of none who issues it",
		"remedy": "say it in tokens/NAME/data.yaml, or name another attribute",
	}
}

found contains lint if {
	no_claims
	some label, places in columns.places
	some place in places
	from := place.definition.tenant.from
	startswith(from, "claims.")
	lint := {
		"path": array.concat(place.path, ["tenant", "from"]),
		"reason": "a session has claims by a token alone, and data.tokens says of none who issues it",
		"remedy": "say it in tokens/NAME/data.yaml, or name another attribute",
	}
}

found contains lint if {
	some entry in entries
	some conditions in ["who", "unless"]
	some i, route in entry.rule[conditions].request.route
	not route in routes_known
	lint := {
		"path": array.concat(entry.path, [conditions, "request", "route", i]),
		"reason": sprintf("no service has the route %v, so that it describes no request", [route]),
		"remedy": "write a route's path as a catalog has it, or /** for what a service has whatever the route",
	}
}

found contains lint if {
	some entry in entries
	some conditions in ["who", "unless"]
	some i, route in entry.rule[conditions].request.route
	route in routes_known
	count(entry.labels & labels_on(route)) == 0
	lint := {
		"path": array.concat(entry.path, [conditions, "request", "route", i]),
		"reason": sprintf("%v has no field of these labels; what a service has whatever the route is of /**", [route]),
		"remedy": "name the routes that have them, or leave it out",
	}
}

found contains lint if {
	some entry in entries
	expires := entry.rule.break_glass.expires
	time.parse_rfc3339_ns(expires) <= time.now_ns()
	lint := {
		"path": array.concat(entry.path, ["break_glass", "expires"]),
		"reason": sprintf("it expired at %v and gives nothing", [expires]),
		"remedy": "take the rule away",
	}
}

found contains lint if {
	some glass in unbroken
	usual := {other.rule.name |
		some other in beside(glass)
		rank(other.rule.read) > rank(glass.rule.read)
	}
	lint := {
		"path": array.concat(glass.path, ["read"]),
		"reason": sprintf("while it holds it gives less than rule \"%v\", whose place it takes", [sort(usual)[0]]),
		"remedy": "give as much here, or leave those labels or principals out",
	}
}

found contains lint if {
	some glass in unbroken
	glass.rule.write == "refuse"
	usual := {other.rule.name |
		some other in beside(glass)
		other.rule.write == "seal"
	}
	lint := {
		"path": array.concat(glass.path, ["write"]),
		"reason": sprintf("while it holds it refuses what rule \"%v\" lets write, whose place it takes", [sort(usual)[0]]),
		"remedy": "leave write out here, which keeps what the other says",
	}
}

# A budget stands between the last two.
strictest_first := ["refuse", "null", "conceal", "mask", "reveal"]

# Over HTTP Envoy verifies tokens itself.
no_claims if {
	count(tokens.issuers) == 0
	count(services.entries) == 0
}

used contains column.label if some column in columns.protected

used contains field.label if some field in services.mapped

routes_known contains route.route if some route in services.routes

labels_on(route) := {field.label | some field in services.mapped; field.route == route}

spoken_of contains label if {
	some entry in entries
	some label in entry.labels
}

# Every rule with its path and the labels that it speaks of.
entries contains {"path": ["rules", name, "rules", i], "rule": rule, "labels": treatment.labels_of(rule)} if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
}

# The rules that always hold together. A break-glass rule is above the others while it holds, and not for ever.
by_who[entry.rule.who] contains entry if {
	some entry in entries
	entry.rule.who
	not entry.rule.break_glass
}

unbroken contains entry if {
	some entry in entries
	time.parse_rfc3339_ns(entry.rule.break_glass.expires) > time.now_ns()
}

# What else is given of the same labels to those whom both rules may describe.
beside(glass) := {other |
	some other in entries
	other.rule.who
	not other.rule.break_glass
	count(other.labels & glass.labels) > 0
	can_meet(other.rule.who, glass.rule.who)
}

# A principal has one value of each of these; of claims it may have several.
can_meet(one, other) if {
	parting := {attribute |
		some attribute in union({single_valued, named_within(one, ["headers"]), named_within(one, ["workload", "labels"])})
		are_apart(object.get(one, attribute, []), object.get(other, attribute, []))
	}
	count(parting) == 0
}

are_apart(one, other) if {
	count(one) > 0
	count(other) > 0
	count({value | some value in one} & {value | some value in other}) == 0
}

single_valued := {
	["listener"], ["session", "user"], ["session", "role"], ["session", "database"], ["session", "application_name"],
	["session", "purpose"], ["workload", "namespace"], ["workload", "service_account"], ["workload", "spiffe_id"],
	["request", "method"], ["request", "route"], ["client_certificate", "subject"],
}

# It has one value of each header and of each label of its workload.
named_within(conditions, path) := {array.concat(path, [name]) | some name, _ in object.get(conditions, path, {})}

covers(strong, weak) if count(weak.labels - strong.labels) == 0

rank(read) := count(strictest_first) if {
	read.treatment == "reveal"
	not read.budget
}

else := [i | some i, name in strictest_first; name == read.treatment][0]

gives(rule) if rule.read.treatment in {"reveal", "mask"}

gives(rule) if rule.write == "seal"

leaks_nothing(definition) := "equal values are stored differently" if {
	definition.protection == "randomized"
} else := sprintf("%v distinct values are not few", [definition.distinct_values]) if {
	is_number(definition.distinct_values)
	definition.distinct_values >= 1000
}
