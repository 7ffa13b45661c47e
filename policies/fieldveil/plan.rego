# METADATA
# title: Fieldveil's plan
# description: |
#   Turns catalog, rules and principal into the plan that the filter carries out.
#   Undefined, so that the filter refuses, when it is not known which database or service is asked for or when
#   catalog or rules are not sound (data.fieldveil.problems.found says why).
# schemas:
#   - input: schema.input.data
package fieldveil

import data.fieldveil.clock
import data.fieldveil.columns
import data.fieldveil.principal
import data.fieldveil.problems
import data.fieldveil.services
import data.fieldveil.tenancy
import data.fieldveil.tokens
import data.fieldveil.treatment

# METADATA
# title: plan
# description: The decision. POST {"input":...} to /v1/data/fieldveil/plan; the shape is schemas/plan/data.json.
# entrypoint: true
plan := object.union_n([content, {"revision": revision}, at_times]) if {
	database_named
	problems.none
	complete
}

# Without a database every field or none could be meant. A service is asked for as a database.
database_named if {
	is_string(input.protocol)
	input.protocol != ""
	is_string(input.session.database)
	not unnamed
}

unnamed if {
	input.session.database == ""
	input.protocol != "mysql"
}

# A session of MySQL can name tables of every database at any time, whichever it has chosen; it may have chosen none.
asked_about := {input.session.database} | {column.database |
	input.protocol == "mysql"
	some column in columns.protected
	column.protocol == "mysql"
}

content := object.union_n([
	always,
	{"denied": reason | reason := principal.denied},
	{"service": {"unmatched": services.unmatched(service), "routes": sort(service_routes)} | input.protocol == "http"},
])

always := {
	"bundle": bundle,
	"subject": principal.subject,
	"break_glass": break_glass,
	"reads_comments": principal.reads_comments,
	"ttl_seconds": min({columns.ttl_seconds(input.protocol, name) | some name in asked_about}),
	"max_stale_seconds": min({columns.max_stale_seconds(input.protocol, name) | some name in asked_about}),
	"fields": sort(fields),
}

# A column or a route left out would pass unprotected; a field left out leaves its route out.
complete if {
	count(fields) == count(asked_for)
	count(service_routes) == count(routes_asked_for)
}

asked_for contains column if {
	some column in columns.protected
	column.protocol == input.protocol
	column.database in asked_about
}

fields contains field if {
	some column in asked_for
	field := object.union(
		{"relation": column.relation, "column": column.column},
		done_with(column.label, treatment.no_request),
	)
}

# How a label is stored, and what the principal gets of it in a request.
done_with(label, request) := object.union_n([columns.labels[label], tenancy.keys[label], {
	"label": label,
	"read": tenancy.read(label, request),
	"write": tenancy.write(label, request),
}])

service := {"protocol": input.protocol, "name": input.session.database}

# A database has none, and is not to wait until those of all services are known.
default routes_asked_for := set()

routes_asked_for := object.get(services.planned, service, set()) if input.protocol == "http"

service_routes contains object.union(object.remove(route, ["request"]), {"fields": with_all}) if {
	some route in routes_asked_for
	with_all := [object.union(field, done_with(field.label, route.request)) | some field in sort(route.fields)]
	count(with_all) == count(route.fields)
}

# The revisions that the makers of OPA's bundles have given them.
bundle := concat(",", [opened.manifest.revision |
	some opened in data.system.bundles
	opened.manifest.revision != ""
])

# Of those that hold for the principal: the ones that speak of something in this database or service.
break_glass := break_glass_of({[column.label, treatment.no_request] | some column in asked_for} | {said |
	some route in routes_asked_for
	some field in route.fields
	said := [field.label, route.request]
})

break_glass_of(labels_in_requests) := sort({sentence |
	not principal.denied
	some request in {said[1] | some said in labels_in_requests}
	some rule in treatment.break_glass(request)
	some said in labels_in_requests
	said[1] == request
	said[0] in treatment.labels_of(rule)
	sentence := sprintf("%v: %v", [rule.name, rule.break_glass.reason])
})

# What was at a time has happened.
default at_times := {}

at_times := {"expires_at": min(ahead)} if {
	ahead := {moment | some moment in (treatment.changes | principal.changes); moment > clock.now}
	count(ahead) > 0
}

# Also of catalog and rules themselves: an edit shows, even one that changes nothing for this principal.
revision := crypto.sha256(json.marshal([content, columns.catalogs, treatment.rulesets, tokens.issuers]))
