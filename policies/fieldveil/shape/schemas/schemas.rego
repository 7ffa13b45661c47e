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
whole[name] := json.patch(schema, replacing(schema)) if some name, schema in data.schemas

# Of another file its keywords alone: tables that stand beside them describe no document.
replacing(schema) := [{"op": "replace", "path": ["definitions", key], "value": keywords} |
	some key, definition in schema.definitions
	startswith(definition["$ref"], "../")
	other := split(definition["$ref"], "/")[1]
	keywords := object.filter(data.schemas[other], ["title", "description", "type", "pattern", "examples"])
]
