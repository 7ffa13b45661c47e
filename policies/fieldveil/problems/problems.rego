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

# Of a format-preserving label: the least length of which there are a million values, since fewer can be guessed.
shortest := {"digits": 6, "alphanumeric": 4, "alphanumeric_lower": 4, "alphanumeric_upper": 4}

# Their values are characters, and none of another type keeps its form.
characters := {"text", "varchar", "bpchar"}

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
	some label, _ in format_preserving
	not has_alphabet(label)
	message := sprintf(
		"label %v: alphabet: format_preserving needs one: write %v",
		[label, concat(" or ", sort(object.keys(shortest)))],
	)
}

found contains message if {
	some label, definition in columns.labels
	definition.alphabet
	not format_preserving[label]
	message := sprintf("label %v: alphabet: %v has none: leave it out", [label, definition.protection])
}

found contains message if {
	some label, definition in format_preserving
	not is_characters(definition.type)
	message := sprintf(
		"label %v: type: %v can not be format_preserving: use %v or another protection",
		[label, definition.type, concat(" or ", sort(characters))],
	)
}

found contains message if {
	some label, definition in format_preserving
	least := shortest[definition.alphabet]
	length_of(definition.type) < least
	message := sprintf(
		"label %v: type: %v has fewer than a million values of %v: use a length of at least %v or another protection",
		[label, definition.type, definition.alphabet, least],
	)
}

found contains message if {
	some label, definition in format_preserving
	definition.on_plaintext != "refuse"
	message := sprintf(
		"label %v: on_plaintext: nothing tells plaintext from format_preserving values: leave it out",
		[label],
	)
}

found contains message if {
	some label, definition in columns.labels
	is_object(definition.tenant)
	contains(definition.keyset, "/")
	message := sprintf(
		"label %v: keyset: %v is one tenant's own, and the principal chooses the tenant: leave the tenant out of it",
		[label, definition.keyset],
	)
}

found contains message if {
	some label, definition in columns.labels
	is_string(definition.tenant)
	own := split(definition.keyset, "/")[1]
	definition.tenant != own
	message := sprintf(
		"label %v: tenant: keyset %v is that of tenant %v alone: leave the tenant out, or name another keyset",
		[label, definition.keyset, own],
	)
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

has_alphabet(label) if columns.labels[label].alphabet

format_preserving[label] := definition if {
	some label, definition in columns.labels
	definition.protection == "format_preserving"
}

# Characters that a value can have; a type without a length has no limit.
length_of(type) := to_number(trim_suffix(split(type, "(")[1], ")")) if is_characters(type)

# An array's text has commas and braces.
is_characters(type) if {
	not endswith(type, "[]")
	split(type, "(")[0] in characters
}

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
