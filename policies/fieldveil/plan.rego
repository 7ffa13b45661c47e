# METADATA
# title: Fieldveil's plan
# description: |
#   Turns catalog, rules and principal into the plan that the filter carries out.
#   Undefined, so that the filter refuses, when it is not known which database is asked for or when
#   catalog or rules are not sound (data.fieldveil.problems.found says why).
# schemas:
#   - input: schema.input.data
package fieldveil

import data.fieldveil.clock
import data.fieldveil.columns
import data.fieldveil.principal
import data.fieldveil.problems
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

# Without a database every field or none could be meant.
database_named if {
	is_string(input.protocol)
	input.protocol != ""
	is_string(input.session.database)
	input.session.database != ""
}

content := object.union(always, {"denied": reason | reason := principal.denied})

always := {
	"bundle": bundle,
	"subject": principal.subject,
	"break_glass": break_glass,
	"reads_comments": principal.reads_comments,
	"ttl_seconds": columns.ttl_seconds(input.protocol, input.session.database),
	"max_stale_seconds": columns.max_stale_seconds(input.protocol, input.session.database),
	"fields": sort(fields),
}

# A column left out would pass unprotected.
complete if count(fields) == count(asked_for)

asked_for contains column if {
	some column in columns.protected
	column.protocol == input.protocol
	column.database == input.session.database
}

fields contains field if {
	some column in asked_for
	field := object.union_n([columns.labels[column.label], tenancy.keys[column.label], {
		"relation": column.relation,
		"column": column.column,
		"label": column.label,
		"read": tenancy.read(column.label),
		"write": tenancy.write(column.label),
	}])
}

# The revisions that the makers of OPA's bundles have given them.
bundle := concat(",", [opened.manifest.revision |
	some opened in data.system.bundles
	opened.manifest.revision != ""
])

# Of those that hold for the principal: the ones that speak of something in this database.
break_glass := break_glass_of({column.label | some column in asked_for})

break_glass_of(labels) := sort({sentence |
	not principal.denied
	some rule in treatment.break_glass
	count(labels & treatment.labels_of(rule)) > 0
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
