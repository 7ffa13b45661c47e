# METADATA
# title: Shape
# description: Whether a document has the shape of a schema (data.schemas.<name>), and where it has not.
package fieldveil.shape

import data.fieldveil.shape.nodes
import data.fieldveil.shape.schemas

# METADATA
# title: problems
# description: |
#   What a schema says of a document that lies at a path. A document that can not be checked is a problem too.
# scope: document
problems(path, document, name) := set() if fits(document, name)

else := found if {
	found := {problem |
		some complaint in telling(complaints(document, name))
		place := array.concat(path, place_of(document, complaint))
		problem := object.union(described(complaint, array.slice(place, count(path), count(place)), name), {"path": place})
	}
	count(found) > 0
}

else := {{
	"path": path,
	"reason": sprintf("it can not be checked against schemas/%v", [name]),
	"remedy": "make it an object, and load the folder schemas beside it",
}}

fits(document, name) if {
	is_object(document)
	json.match_schema(document, schemas.whole[name])[0]
}

complaints(document, name) := found if {
	is_object(document)
	found := json.match_schema(document, schemas.whole[name])[1]
}

vague := {"number_any_of", "number_one_of", "number_all_of", "condition_then", "condition_else"}

# That no alternative fits says little where the complaints about one of them follow, and a pattern
# belongs to the name that does not match it.
telling(found) := [complaint |
	some complaint in found
	not is_explained(complaint, found)
]

is_explained(complaint, found) if {
	complaint.type in vague
	some other in found
	not other.type in vague
	startswith(concat("", [other.field, "."]), concat("", [complaint.field, "."]))
}

is_explained(complaint, found) if {
	complaint.type == "pattern"
	some other in found
	other.type == "invalid_property_name"
	other.field == complaint.field
}

# Of two lists of words that a value is none of, the shorter holds.
is_explained(complaint, found) if {
	complaint.type == "enum"
	some other in found
	other.type == "enum"
	other.field == complaint.field
	count(other.desc) < count(complaint.desc)
}

# A complaint names its place by keys joined with dots, which keys may have too.
place_of(document, complaint) := array.concat(parent, [name]) if {
	name := name_in(complaint)
	parent := lookup(document, complaint.field)
} else := lookup(document, complaint.field)

lookup(document, field) := [] if {
	field == "(Root)"
} else := sort({path |
	walk(document, [path, _])
	concat(".", [sprintf("%v", [key]) | some key in path]) == field
})[0]

name_in(complaint) := regex.find_all_string_submatch_n(pattern, complaint.desc, 1)[0][1] if {
	some pattern in [`^Additional property (.*) is not allowed$`, `^Property name of "(.*)" does not match$`]
	regex.match(pattern, complaint.desc)
}

# Complaints that are said in words of our own.
worded := {
	"additional_property_not_allowed", "invalid_property_name", "pattern", "required", "enum", "invalid_type",
	"number_one_of",
}

described(complaint, place, name) := {
	"reason": "its name may not stand here",
	"remedy": renamed(place[count(place) - 1], nodes.properties(nodes.of(parent_of(place), name), name)),
} if {
	complaint.type == "additional_property_not_allowed"
}

described(complaint, place, name) := {
	"reason": "its name has not the form of names here",
	"remedy": such_as(names_in(place[count(place) - 2], name), name),
} if {
	complaint.type == "invalid_property_name"
}

described(complaint, _, name) := {
	"reason": "it has not the form that is wanted here",
	"remedy": such_as(wanting(complaint, name), name),
} if {
	complaint.type == "pattern"
}

described(complaint, place, name) := {
	"reason": sprintf("%v is required", [concat(" or ", any_of)]),
	"remedy": concat(" ", ["add", concat(" or ", [with_example(one, known) | some one in any_of])]),
} if {
	complaint.type == "required"
	wanted := nodes.of(place, name)
	known := nodes.properties(wanted, name)
	any_of := nodes.alternatives(wanted, trim_suffix(complaint.desc, " is required"))
}

described(complaint, _, _) := {
	"reason": "it is none of the words that may stand here",
	"remedy": concat(" ", ["write one of:", words]),
} if {
	complaint.type == "enum"
	words := words_in(complaint)
	contains(words, ", ")
}

described(complaint, _, _) := {
	"reason": "it can not be this beside the other keys here",
	"remedy": sprintf("write %v, or leave out the key that wants it", [words]),
} if {
	complaint.type == "enum"
	words := words_in(complaint)
	not contains(words, ", ")
}

described(complaint, place, name) := {
	"reason": sprintf("%v is wanted here, and this is %v", [named(type), named(given)]),
	"remedy": object.get(ways(nodes.of(place, name)), type, sprintf("see schemas/%v for what may stand here", [name])),
} if {
	complaint.type == "invalid_type"
	[_, type, given] := regex.find_all_string_submatch_n(`Expected: (.*), given: (.*)$`, complaint.desc, 1)[0]
}

described(complaint, place, name) := {
	"reason": sprintf("%v exclude each other", [concat(" and ", nodes.excluding(nodes.of(place, name)))]),
	"remedy": "keep one of them",
} if {
	complaint.type == "number_one_of"
}

described(complaint, _, name) := {
	"reason": trim_prefix(complaint.desc, concat("", [complaint.field, " "])),
	"remedy": sprintf("see schemas/%v for what may stand here", [name]),
} if {
	not complaint.type in worded
}

words_in(complaint) := regex.replace(complaint.desc, `^.* must be one of the following: `, "")

names_in(key, name) := {node.propertyNames |
	walk(schemas.whole[name], [path, node])
	path[count(path) - 1] == key
}

wanting(complaint, name) := {node |
	walk(schemas.whole[name], [_, node])
	concat("", ["Does not match pattern '", node.pattern, "'"]) == complaint.desc
}

# What one would write instead, as a schema's examples have it.
such_as(wanted, name) := concat(" ", ["write one such as", concat(" or ", examples)]) if {
	examples := sort({example | some node in wanted; some example in node.examples})
	count(examples) > 0
} else := sprintf("see schemas/%v for what may stand here", [name])

named(type) := object.get(type_names, type, type)

type_names := {"array": "a list", "object": "a mapping", "string": "a text", "integer": "a whole number"}

ways(wanted) := {
	"array": "write a list, also of one: [a]",
	"object": as_mapping(wanted),
	"string": "write a text, in quotes if YAML takes it for something else, as it does null, true and 12",
	"integer": "write digits without quotes",
}

as_mapping(wanted) := sprintf("write a mapping such as %v", [example]) if {
	example := nodes.example(wanted)
} else := "write a mapping: {key: value}"

with_example(one, known) := sprintf("%v: %v", [one, example]) if {
	example := nodes.example(known[one])
} else := one

# What a name that may not stand here could have meant.
renamed(key, known) := "leave it out, or the key that excludes it" if {
	known[key]
} else := sprintf("write %v, or one of: %v", [concat(" or ", within), concat(", ", sort(object.keys(known)))]) if {
	within := sort({sprintf("%v: {%v: …}", [one, key]) |
		some one, wanted in known
		some node in wanted
		node.properties[key]
	})
	count(within) > 0
} else := concat(" ", ["leave it out, or write one of:", concat(", ", sort(object.keys(known)))]) if {
	count(known) > 0
} else := "leave it out"

parent_of(place) := array.slice(place, 0, count(place) - 1)
