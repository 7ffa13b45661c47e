# METADATA
# title: Problems
# description: What is wrong with catalog and rules. While there is anything, there is no plan for anybody.
package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.treatment

# What each mask can be made of; the types as their first word. Arrays have no mask.
masks := {
	"last4": {"text", "varchar", "bpchar"},
	"first1": {"text", "varchar", "bpchar"},
	"email": {"text", "varchar", "bpchar"},
	"year": {"date", "timestamp", "timestamptz"},
}

# METADATA
# title: none
# description: Whether catalog and rules are sound.
none if count(found) == 0

# METADATA
# title: found
# description: Each problem as one sentence, for `opa eval data.fieldveil.problems.found`.
# entrypoint: true
found contains "no catalog is loaded: data.catalog is missing or empty" if {
	count(columns.catalogs) == 0
}

found contains message if {
	some name, catalog in columns.catalogs
	not catalog_fits(catalog)
	message := sprintf("catalog %v does not have the shape of schemas/catalog", [name])
}

found contains message if {
	some name, catalog in columns.catalogs
	some complaint in json.match_schema(catalog, data.schemas.catalog)[1]
	message := sprintf("catalog %v: %v: %v", [name, complaint.field, complaint.desc])
}

found contains message if {
	some name, ruleset in treatment.rulesets
	not rules_fit(ruleset)
	message := sprintf("rules %v do not have the shape of schemas/rules", [name])
}

found contains message if {
	some name, ruleset in treatment.rulesets
	some complaint in json.match_schema(ruleset, data.schemas.rules)[1]
	message := sprintf("rules %v: %v: %v", [name, complaint.field, complaint.desc])
}

found contains message if {
	some label, definitions in columns.definitions
	count(definitions) > 1
	message := sprintf("label %v is stored in %v different ways", [label, count(definitions)])
}

found contains message if {
	some labels in labels_by_tag
	count(labels) > 1
	message := sprintf("labels %v have the same label tag: rename one", [concat(" and ", labels)])
}

found contains message if {
	some column in columns.protected
	not columns.definitions[column.label]
	message := sprintf(
		"column %v.%v has the label %v, which no catalog defines",
		[column.relation, column.column, column.label],
	)
}

found contains message if {
	some place, labels in labels_by_place
	count(labels) > 1
	message := sprintf("column %v.%v of %v has %v labels", [place.relation, place.column, place.database, count(labels)])
}

found contains message if {
	some entry in columns.databases
	ttl := columns.ttl_seconds(entry.protocol, entry.database)
	columns.max_stale_seconds(entry.protocol, entry.database) < ttl
	message := sprintf("database %v: max_stale_seconds is less than ttl_seconds", [entry.database])
}

found contains message if {
	some rule in treatment.rules
	some pattern in rule.labels
	count(treatment.labels_like[pattern]) == 0
	message := sprintf("rule \"%v\": no label is like %v", [rule.name, pattern])
}

found contains message if {
	some rule in treatment.rules
	rule.read.treatment == "mask"
	some label in (treatment.labels_of(rule) - maskable[rule.read.format])
	definition := columns.labels[label]
	message := sprintf(
		"rule \"%v\": mask %v is not for label %v of type %v",
		[rule.name, rule.read.format, label, definition.type],
	)
}

found contains message if {
	some rule in treatment.rules
	some conditions in ["who", "unless"]
	some network in rule[conditions].session.source
	not net.cidr_is_valid(network)
	message := sprintf("rule \"%v\": source %v is not a network such as 10.0.0.0/8", [rule.name, network])
}

# References stand inside the helpers: in `not f(reference)` an undefined reference is no "not".
catalog_fits(catalog) if json.match_schema(catalog, data.schemas.catalog)[0]

rules_fit(ruleset) if json.match_schema(ruleset, data.schemas.rules)[0]

maskable[format] := {label |
	some label, definition in columns.labels
	not endswith(definition.type, "[]")
	split(definition.type, "(")[0] in types
} if {
	some format, types in masks
}

labels_by_place[place] contains column.label if {
	some column in columns.protected
	place := object.remove(column, {"label"})
}

# The tag is how a reader finds the label of a value that stands alone: envelopes hold it, not the label.
labels_by_tag[tag] contains label if {
	some label, _ in columns.definitions
	tag := substring(crypto.sha256(concat("", ["fieldveil label\u0000", label])), 0, 8)
}
