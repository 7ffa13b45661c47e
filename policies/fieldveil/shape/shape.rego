# METADATA
# title: Shape
# description: Whether a document has the shape of a schema (data.schemas.<name>), and where it has not.
package fieldveil.shape

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
		problem := object.union(described(complaint, name), {"path": place})
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
	json.match_schema(document, data.schemas[name])[0]
}

complaints(document, name) := found if {
	is_object(document)
	found := json.match_schema(document, data.schemas[name])[1]
}

vague := {"number_any_of", "number_all_of", "condition_then", "condition_else"}

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

described(complaint, name) := {
	"reason": "its name may not stand here",
	"remedy": sprintf("leave it out or correct the name: schemas/%v has those that may", [name]),
} if {
	complaint.type == "additional_property_not_allowed"
}

described(complaint, name) := {
	"reason": "its name has not the form of names here",
	"remedy": sprintf("rename it: schemas/%v has the pattern that it must match", [name]),
} if {
	complaint.type == "invalid_property_name"
}

described(complaint, _) := {
	"reason": complaint.desc,
	"remedy": concat(" ", ["add", trim_suffix(complaint.desc, " is required")]),
} if {
	complaint.type == "required"
}

described(complaint, _) := {
	"reason": "it is none of the words that may stand here",
	"remedy": concat(" ", ["write one of:", regex.replace(complaint.desc, `^.* must be one of the following: `, "")]),
} if {
	complaint.type == "enum"
}

described(complaint, name) := {
	"reason": trim_prefix(complaint.desc, concat("", [complaint.field, " "])),
	"remedy": sprintf("see schemas/%v for what may stand here", [name]),
} if {
	not complaint.type in {"additional_property_not_allowed", "invalid_property_name", "required", "enum"}
}
