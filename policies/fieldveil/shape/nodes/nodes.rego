# METADATA
# title: Nodes
# description: What a schema wants at a place of a document, and what it gives as an example there.
package fieldveil.shape.nodes

import data.fieldveil.shape.schemas

# METADATA
# title: of
# description: |
#   The nodes of a schema for a place, as far as its last keys tell it, with the definitions that they refer to. None
#   where the schema names none.
# scope: document
of(place, name) := resolved({schema}, schema) if {
	place == []
	schema := schemas.whole[name]
}

of(place, name) := resolved(found, schemas.whole[name]) if {
	place != []
	endings := endings_of(place)
	found := {node |
		walk(schemas.whole[name], [path, node])
		some ending in endings
		array.slice(path, count(path) - count(ending), count(path)) == ending
	}
}

# METADATA
# title: properties
# description: By name, the nodes of what may stand in any of these.
# scope: document
properties(nodes, name) := {key: resolved(wanted, schemas.whole[name]) |
	some one in nodes
	some key, _ in one.properties
	wanted := {node.properties[key] | some node in nodes}
}

# METADATA
# title: alternatives
# description: Names of which one is required, with this one among them; it alone where that is required by itself.
alternatives(nodes, missing) := sort({one |
	some node in nodes
	some kind in ["anyOf", "oneOf"]
	names := {one | some other in node[kind]; some one in other.required}
	missing in names
	some one in names
} | {missing})

# METADATA
# title: excluding
# description: Names of which but one may stand in any of these.
excluding(nodes) := sort({one | some node in nodes; some other in node.oneOf; some one in other.required})

# METADATA
# title: example
# description: An example of these as YAML in one line. Undefined where they give none.
example(nodes) := sort({in_one_line(one) | some node in nodes; some one in node.examples})[0]

# How the path of such a node ends. A mapping with names of one's own has additionalProperties.
endings_of(place) := {
	["properties", key_at(place, 1)],
	["properties", key_at(place, 2), "additionalProperties"],
	["properties", key_at(place, 3), "additionalProperties", "additionalProperties"],
} if {
	is_string(key_at(place, 1))
} else := {["properties", key_at(place, 2), "items"]}

key_at(place, back) := key if {
	key := place[count(place) - back]
} else := null

resolved(nodes, schema) := nodes | {schema.definitions[trim_prefix(reference, "#/definitions/")] |
	some node in nodes
	walk(node, [path, reference])
	path[count(path) - 1] == "$ref"
	count({step | some step in path} & {"properties", "items", "additionalProperties"}) == 0
}

in_one_line(example) := example if {
	is_string(example)
} else := spaced if {
	plain := regex.replace(json.marshal(example), `"([A-Za-z][A-Za-z0-9_.-]*)"`, "$1")
	spaced := replace(replace(plain, ":", ": "), ",", ", ")
}
