package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.services

found contains problem if {
	some label in ({column.label | some column in columns.protected} - object.keys(columns.definitions))
	some column in columns.mapped
	column.label == label
	problem := undefined_label(column)
}

found contains problem if {
	count({object.remove(column, {"label"}) | some column in columns.protected}) < count(columns.protected)
	some entries in columns_by_place
	labels := {entry.label | some entry in entries}
	count(labels) > 1
	some entry in entries
	problem := {
		"path": entry.path,
		"reason": sprintf("the column has %v labels: %v", [count(labels), concat(", ", labels)]),
		"remedy": "give it one, in all catalogs alike",
	}
}

found contains problem if {
	some entry in (columns.databases | services.entries)
	name := name_of(entry.definition)
	ttl := columns.ttl_seconds(entry.definition.protocol, name)
	stale := columns.max_stale_seconds(entry.definition.protocol, name)
	stale < ttl
	said := [key | some key in ["max_stale_seconds", "ttl_seconds"]; entry.definition[key]]
	problem := {
		"path": array.concat(entry.path, [said[0]]),
		"reason": sprintf("a plan would be too old after %v seconds and renewed after %v", [stale, ttl]),
		"remedy": "let max_stale_seconds be no less than ttl_seconds",
	}
}

name_of(definition) := definition.database

name_of(definition) := definition.service

columns_by_place[place] contains {"path": column.path, "label": column.label} if {
	some column in columns.mapped
	place := object.remove(column, {"label", "path"})
}

undefined_label(mapping) := {
	"path": mapping.path,
	"reason": sprintf("no catalog defines the label %v", [mapping.label]),
	"remedy": "define it, or name one of those that are defined",
}
