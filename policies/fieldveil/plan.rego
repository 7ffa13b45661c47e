# METADATA
# title: Fieldveil's plan
# description: |
#   Turns catalog, rules and principal into the plan that the filter carries out.
#   Undefined, so that the filter refuses, when it is not known which database is asked for or when
#   catalog or rules are not sound (data.fieldveil.problems.found says why).
# schemas:
#   - input: schema.input.data
package fieldveil

import data.fieldveil.columns
import data.fieldveil.problems
import data.fieldveil.tenancy
import data.fieldveil.treatment

# METADATA
# title: plan
# description: The decision. POST {"input":...} to /v1/data/fieldveil/plan; the shape is schemas/plan/data.json.
# entrypoint: true
plan := object.union(content, {"revision": revision}) if {
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

content := {
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

# Also of catalog and rules themselves: an edit shows, even one that changes nothing for this principal.
revision := crypto.sha256(json.marshal([content, columns.catalogs, treatment.rulesets]))
