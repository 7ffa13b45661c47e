# METADATA
# title: Protected columns
# description: All catalogs (data.catalog.<name>) as one set of columns and one set of labels.
package fieldveil.columns

# METADATA
# title: catalogs
# description: Every catalog, by name.
catalogs[name] := catalog if some name, catalog in data.catalog

# METADATA
# title: databases
# description: Every database that a catalog speaks of; one may stand in several catalogs.
databases contains database if {
	some catalog in catalogs
	some database in catalog.databases
}

# METADATA
# title: protected
# description: Every protected column with its label.
protected contains column if {
	some database in databases
	some relation, columns in database.columns
	some name, value in columns
	column := {
		"protocol": database.protocol,
		"database": database.database,
		"relation": relation,
		"column": name,
		"label": label_of(relation, name, value),
	}
}

# What a label is that does not say it. A tenant's own keyset says which tenant it is.
unless_told(definition) := {
	"tenant": concat("", array.slice(split(definition.keyset, "/"), 1, 2)),
	"on_plaintext": "refuse",
}

# METADATA
# title: definitions
# scope: document
# description: How each label is stored, as often as catalogs say it differently (which is a problem).
definitions[label] contains object.union(unless_told(definition), definition) if {
	some catalog in catalogs
	some label, definition in catalog.labels
}

definitions[label] contains object.union(unless_told(definition), definition) if {
	some database in databases
	some relation, columns in database.columns
	some name, definition in columns
	is_object(definition)
	label := label_of(relation, name, definition)
}

# METADATA
# title: labels
# description: How each label is stored.
labels[label] := definition if {
	some label, alternatives in definitions
	count(alternatives) == 1
	some definition in alternatives
}

# METADATA
# title: ttl_seconds
# description: The least that a catalog says for this database.
ttl_seconds(protocol, database) := min(settings(protocol, database, "ttl_seconds")) if {
	count(settings(protocol, database, "ttl_seconds")) > 0
} else := 30

# METADATA
# title: max_stale_seconds
# description: The least that a catalog says for this database.
max_stale_seconds(protocol, database) := min(settings(protocol, database, "max_stale_seconds")) if {
	count(settings(protocol, database, "max_stale_seconds")) > 0
} else := 300

settings(protocol, name, setting) := {database[setting] |
	some database in databases
	database.protocol == protocol
	database.database == name
}

# A column that carries its own definition is the only one of its label, which is its full name.
label_of(_, _, value) := value if is_string(value)

label_of(relation, column, value) := concat(".", [relation, column]) if is_object(value)
