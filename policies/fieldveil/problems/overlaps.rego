package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.jsonpath
import data.fieldveil.routes
import data.fieldveil.services

found contains problem if {
	some place, others in overlapping
	other := sort(others)[0]
	problem := {
		"path": place,
		"reason": sprintf("%v can be the same value, and has the label %v", [other.words, other.label]),
		"remedy": "give both one label, in all catalogs and spellings alike, or let no request have both",
	}
}

found contains problem if {
	some place, others in lying_inside
	other := sort(others)[0]
	problem := {
		"path": place,
		"reason": sprintf("it can lie inside %v, which is sealed whole with the label %v", [other.words, other.label]),
		"remedy": "give both one label, or leave one out: nothing is looked for inside what is sealed whole",
	}
}

# By the path of each field: those that can be the same value in one request, and have other labels.
overlapping[field.path] contains described(other) if {
	some pair in clashes
	some field in pair
	some other in pair
	other.label != field.label
}

clashes contains {one, other} if {
	some pair in rivals
	some one in pair.ones
	some other in pair.others
	routes.meet(one, other)
}

lying_inside[inner.path] contains described(outer) if {
	some pair in nested
	some inner in pair.inner
	some outer in pair.outer
	routes.meet(inner, outer)
}

described(field) := {"words": services.in_words(field), "label": field.label}

# What all fields have that stand at one place under one label. There are many routes, and few of these: which can meet
# is asked of these first.
variants[scope][place][field.label] contains field if {
	some part in in_bodies
	some field in fields_in[part]
	scope := [field.service, part]
	place := steps[field.at]
}

variants[scope][place][field.label] contains field if {
	some field in fields_in.segment
	scope := [field.service, "segment"]
	place := routes.position(field.route, field.at)
}

variants[scope][field.at][field.label] contains field if {
	some part in {"header", "query"}
	some field in fields_in[part]
	scope := [field.service, part]
}

# Fields of two labels at one place, or at two that can be one.
rivals contains {"ones": ones, "others": others} if {
	some places in variants
	some by_label in places
	some label, ones in by_label
	some other_label, others in by_label
	label < other_label
}

rivals contains {"ones": ones, "others": others} if {
	some pair in meeting
	places := variants[pair.scope]
	some label, ones in places[pair.one]
	some other_label, others in places[pair.other]
	label != other_label
}

# Two of names and indexes alone would be the same.
meeting contains {"scope": scope, "one": one, "other": other} if {
	some scope, by_end in ends
	some paths in by_end
	count(paths) > 1
	some one in paths
	not jsonpath.is_plain(one)
	some other in paths
	one != other
	jsonpath.meet(one, other)
}

# What ends with any element or member can meet paths of every other end.
meeting contains {"scope": scope, "one": one, "other": other} if {
	some scope, by_end in ends
	some other in by_end[["any"]]
	some end, paths in by_end
	end != ["any"]
	some one in paths
	jsonpath.meet(one, other)
}

# Fields that can lie inside values of another label.
nested contains {"inner": inner, "outer": outer} if {
	some scope, places in variants
	scope[1] in in_bodies
	some outer_path, by_label in places
	some label, outer in by_label
	some definition in columns.definitions[label]
	content := content_of(definition.type)
	some inner_path, inner_by_label in places
	inner_path != outer_path
	object.keys(inner_by_label) != {label}
	jsonpath.lies_inside(inner_path, outer_path, content)
	some inner_label, inner in inner_by_label
	inner_label != label
}

# By what the last step selects: paths of other ends can not meet.
ends[scope][end] contains path if {
	some scope, places in variants
	scope[1] in in_bodies
	some path, _ in places
	end := jsonpath.end(path)
}

# What can lie inside a value of a type, as jsonpath.lies_inside has it.
content_of(type) := ["any"] if {
	trim_suffix(type, "[]") in {"json", "jsonb"}
} else := ["elements"] if {
	endswith(type, "[]")
}
