# METADATA
# title: Schemas
# description: |
#   The schemas (data.schemas.<name>), in which the schemas of other files stand where a definition refers to one: OPA
#   follows no reference out of a document.
package fieldveil.shape.schemas

# METADATA
# title: whole
# description: Each schema by its name.
# scope: document
whole[name] := schema if {
	some name, schema in data.schemas
	not schema.definitions
}

whole[name] := object.union(object.remove(schema, ["definitions"]), {"definitions": definitions}) if {
	some name, schema in data.schemas
	schema.definitions
	definitions := {key: standing(definition) | some key, definition in schema.definitions}
}

# Of another file its keywords alone: tables that stand beside them describe no document.
standing(definition) := object.filter(data.schemas[other], ["title", "description", "type", "pattern", "examples"]) if {
	startswith(definition["$ref"], "../")
	other := split(definition["$ref"], "/")[1]
} else := definition
