# METADATA
# title: Schemas
# description: |
#   The schemas (data.schemas.<name>), in which the schemas of other files stand where a definition refers to one: OPA
#   follows no reference out of a document.
package fieldveil.shape.schemas

# METADATA
# title: whole
# description: Each schema by its name.
whole[name] := json.patch(schema, [patch |
	some key, definition in schema.definitions
	other := regex.find_all_string_submatch_n(`^\.\./([a-z]+)/data\.json$`, definition["$ref"], 1)[0][1]
	patch := {"op": "replace", "path": ["definitions", key], "value": data.schemas[other]}
]) if {
	some name, schema in data.schemas
}
