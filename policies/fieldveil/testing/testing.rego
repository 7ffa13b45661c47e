# METADATA
# title: Testing
# description: |
#   For tests of one's own rules: a principal, a label, and what the one should get of the other. What is not so is
#   printed: who got what, and by which rules.
package fieldveil.testing

import data.fieldveil
import data.fieldveil.columns
import data.fieldveil.problems
import data.fieldveil.services
import data.fieldveil.treatment

# METADATA
# title: user
# description: The principal that is nothing but a database user.
user(name) := principal({"user": name})

# METADATA
# title: principal
# description: |
#   A principal of these attributes, each optional: user, role, database, application_name, source, purpose, listener,
#   namespace, service_account, spiffe_id, workload_labels, client_certificate; claims, those of a verified token;
#   token, a JWT to be verified; and at, the time in RFC 3339. Of a service: service, headers, and of one kind of
#   request method and route. Unless told it is now, in each database that has the label. Undefined with others.
principal(attributes) := {"attributes": attributes, "now": now_of(attributes)} if none(slips(attributes))

# METADATA
# title: reads
# description: |
#   Whether this is what the principal reads of every label like the pattern: reveal, conceal, null, refuse,
#   mask FORMAT, or reveal ROWS per SECONDS then null, refuse or mask FORMAT.
reads(who, pattern, expected) if none({line |
	some asked in asked_for(who, pattern)
	said := in_words(object.get(asked.said, "read", {}))
	said != expected
	line := sprintf("%v reads %v, not %v, by %v", [asked.sentence, said, expected, by(asked.said.read_by)])
} | in_the_way(who, pattern))

# METADATA
# title: writes
# description: Whether the principal may write all labels like the pattern (seal), or none of them (refuse).
writes(who, pattern, expected) if none({line |
	some asked in asked_for(who, pattern)
	asked.said.write != expected
	line := sprintf("%v writes %v, not %v, by %v", [asked.sentence, asked.said.write, expected, by(asked.said.write_by)])
} | in_the_way(who, pattern))

# METADATA
# title: reads_by
# description: Whether a rule of this name is among those that decide what the principal reads of every label like this.
reads_by(who, pattern, rule) if none({line |
	some asked in asked_for(who, pattern)
	not rule in asked.said.read_by
	line := sprintf("%v is decided by %v, not by %v", [asked.sentence, by(asked.said.read_by), rule])
} | in_the_way(who, pattern))

# METADATA
# title: denied
# description: Whether everything is refused to the principal, for its token is not valid.
denied(who) if none({line |
	some asked in asked_for(who, "**")
	not asked.denied
	line := sprintf("%v is not denied", [asked.sentence])
} | in_the_way(who, "**"))

# METADATA
# title: sound
# description: Whether catalogs, rules and tokens have no problem.
sound if none(as_lines(problems.found))

# Prints, and is undefined, unless there is nothing to print.
none(lines) if {
	every text in [concat("\n", lines) | count(lines) > 0] {
		print(text) # regal ignore:print-or-trace-call
		text == ""
	}
}

as_lines(found) := {line |
	some problem in found
	place := concat(".", [sprintf("%v", [key]) | some key in problem.path])
	line := sprintf("%v: %v; %v", [place, problem.reason, problem.remedy])
}

slips(attributes) := {line |
	some name in (object.keys(attributes) - known)
	line := sprintf("a principal has no attribute %v, but %v", [name, concat(", ", known)])
} | {line |
	at := attributes.at
	not is_time(at)
	line := sprintf("at is no time of RFC 3339 such as 2026-01-31T10:00:00Z: %v", [json.marshal(at)])
}

is_time(text) if time.parse_rfc3339_ns(text)

principals := "testing.user(\"NAME\") or testing.principal({…})"

# Why nothing is asked.
in_the_way(who, pattern) := set() if {
	count(asked_for(who, pattern)) > 0
} else := {sprintf("%v is no principal; say %v", [json.marshal(who), principals])} if {
	not who.attributes
} else := lines if {
	lines := as_lines(problems.found) with time.now_ns as who.now
	count(lines) > 0
} else := {sprintf("no column and no path of %v has a label like %v", [of(who), pattern])}

asked_for(who, pattern) := {asked |
	is_sound_at(who.now)
	some place in places(who, pattern)
	explanation := fieldveil.explain with input as asking(who.attributes, place)
		with time.now_ns as who.now
		with problems.none as true
	some label, said in explanation.labels
	treatment.is_like(label, pattern)
	asked := {
		"sentence": sprintf("%v of %v: %v", [of(who), place.database, label]),
		"said": said,
		"denied": object.get(explanation, "denied", "") != "",
	}
}

# Whether policies are sound does not depend on who asks. A function's value is kept for the whole test, where a rule
# would be evaluated anew for each input that stands in the place of another.
is_sound_at(now) if problems.none with time.now_ns as now

# Databases that have such a label; services only if none has, or if one is asked for.
places(who, pattern) := databases if {
	databases := {object.filter(column, ["protocol", "database"]) |
		count(object.keys(who.attributes) & of_services) == 0
		some column in columns.protected
		treatment.is_like(column.label, pattern)
		column.database == object.get(who.attributes, "database", column.database)
	}
	count(databases) > 0
} else := {{"protocol": field.service.protocol, "database": field.service.name} |
	some field in services.mapped
	treatment.is_like(field.label, pattern)
	field.service.name == named(who.attributes, field.service.name)
}

named(attributes, unless_told) := object.get(attributes, "service", object.get(attributes, "database", unless_told))

of_services := {"service", "headers", "method", "route"}

asking(attributes, place) := object.union(object.filter(attributes, ["client_certificate", "headers"]), {
	"protocol": place.protocol,
	"listener": object.get(attributes, "listener", ""),
	"workload": workload_of(attributes),
	"session": {
		"user": object.get(attributes, "user", ""),
		"role": object.get(attributes, "role", role_in(attributes, place)),
		"database": place.database,
		"application_name": object.get(attributes, "application_name", ""),
		"source": object.get(attributes, "source", ""),
		"purpose": object.get(attributes, "purpose", ""),
	},
	"token": object.get(attributes, "token", ""),
	"comment": {"purpose": "", "token": ""},
	"claims": object.get(attributes, "claims", {}),
	"request": {key: object.get(attributes, key, "") | some key in ["method", "route"]},
})

workload_of(attributes) := object.union(
	{key: object.get(attributes, key, "") | some key in ["namespace", "service_account", "spiffe_id"]},
	{"labels": labels | labels := attributes.workload_labels},
)

# A service knows no roles.
role_in(_, place) := "" if place.protocol == "http"

role_in(attributes, place) := object.get(attributes, "user", "") if place.protocol != "http"

known := {
	"user", "role", "database", "application_name", "source", "purpose", "listener",
	"namespace", "service_account", "spiffe_id", "workload_labels", "client_certificate", "claims", "token", "at",
	"service", "headers", "method", "route",
}

now_of(attributes) := time.parse_rfc3339_ns(attributes.at)

now_of(attributes) := time.now_ns() if not attributes.at

# A token is a secret, even that of a test.
of(who) := json.marshal(object.remove(who.attributes, ["token"]))

in_words(read) := sprintf("reveal %v per %v then %v", [budget.rows, budget.per_seconds, shown]) if {
	budget := read.budget
	shown := without_budget(budget.then)
} else := without_budget(read)

without_budget(read) := sprintf("mask %v", [read.format]) if {
	read.format
} else := read.treatment

by(rules) := concat(" and ", rules) if {
	count(rules) > 0
} else := "no rule"
