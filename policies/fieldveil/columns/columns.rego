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
# description: Every entry of a catalog that speaks of a database, each with its path; one database may have several.
databases contains {"path": ["catalog", name, "databases", i], "definition": database} if {
	some name, catalog in catalogs
	some i, database in catalog.databases
}

# METADATA
# title: mapped
# description: Every column that a catalog protects, with its label and the path of the entry that says so.
mapped contains column if {
	some entry in databases
	protocol := entry.definition.protocol
	database := entry.definition.database
	some relation, columns in entry.definition.columns
	path := array.concat(entry.path, ["columns", relation])
	plain := as_plain(relation)
	some name, value in columns
	column := {
		"path": array.concat(path, [name]),
		"protocol": protocol,
		"database": database,
		"relation": plain,
		"column": name,
		"label": label_of(relation, name, value),
	}
}

# METADATA
# title: protected
# description: Every protected column with its label, however many catalogs say so.
protected contains object.remove(column, {"path"}) if some column in mapped

# What a label is that does not say it. A tenant's own keyset says which tenant it is.
unless_told(definition) := {
	"tenant": concat("", array.slice(split(definition.keyset, "/"), 1, 2)),
	"on_plaintext": "refuse",
}

# METADATA
# title: places
# scope: document
# description: For each label the places that define it, each with its path and what it says.
places[label] contains {"path": ["catalog", name, "labels", label], "definition": complete} if {
	some name, catalog in catalogs
	some label, definition in catalog.labels
	complete := object.union(unless_told(definition), definition)
}

places[label] contains {"path": path, "definition": complete} if {
	some database in databases
	some relation, columns in database.definition.columns
	some name, definition in columns
	is_object(definition)
	label := label_of(relation, name, definition)
	path := array.concat(database.path, ["columns", relation, name])
	complete := object.union(unless_told(definition), definition)
}

# How each label is stored, as often as catalogs say it differently (which is a problem). One comprehension, for a
# rule would be evaluated anew for every label that is asked for.
# regal ignore:prefer-set-or-object-rule
definitions := {label: {place.definition | some place in found} | some label, found in places}

# METADATA
# title: labels
# description: How each label is stored.
labels[label] := object.remove(definition, {"mask", "distinct_values", "accept_leakage"}) if {
	some label, definition in only_definition
}

# METADATA
# title: masks
# description: The mask of each label that has one of its own.
masks[label] := definition.mask if some label, definition in only_definition

only_definition[label] := definition if {
	some label, alternatives in definitions
	count(alternatives) == 1
	some definition in alternatives
}

# METADATA
# title: ttl_seconds
# description: The least that a catalog says for this database or service.
ttl_seconds(protocol, database) := min(settings(protocol, database, "ttl_seconds")) if {
	count(settings(protocol, database, "ttl_seconds")) > 0
} else := 30

# METADATA
# title: max_stale_seconds
# description: The least that a catalog says for this database or service.
max_stale_seconds(protocol, database) := min(settings(protocol, database, "max_stale_seconds")) if {
	count(settings(protocol, database, "max_stale_seconds")) > 0
} else := 300

settings(protocol, name, setting) := {database.definition[setting] |
	some database in databases
	database.definition.protocol == protocol
	database.definition.database == name
} | {service[setting] |
	some catalog in catalogs
	some service in catalog.services
	service.protocol == protocol
	service.service == name
}

# One name for one relation: quotes around what needs none are left out.
as_plain(relation) := relation if {
	not contains(relation, `"`)
} else := concat(".", [plain |
	some part in regex.find_n(`"([^"]|"")+"|[^".]+`, relation, -1)
	plain := regex.replace(part, `^"([a-z_][a-z0-9_$]*)"$`, "$1")
])

# A column that carries its own definition is the only one of its label, which is its full name.
label_of(_, _, value) := value if is_string(value)

label_of(relation, column, value) := concat(".", [relation, column]) if is_object(value)
