package fieldveil.shape_test

import data.fieldveil.shape

schema := {
	"type": "object",
	"additionalProperties": false,
	"required": ["size"],
	"properties": {
		"size": {"type": "integer", "minimum": 1},
		"word": {"enum": ["a", "b"]},
		"either": {"anyOf": [{"type": "string"}, {
			"type": "object",
			"required": ["from"],
			"properties": {"from": {"pattern": "^[a-z]+$"}},
		}]},
		"parts": {
			"type": "object",
			"propertyNames": {"pattern": "^[a-z.]+$"},
			"additionalProperties": {"type": "object", "additionalProperties": false},
		},
		"list": {"type": "array", "items": {"type": "string"}},
	},
}

problems(document) := found if {
	found := shape.problems(["here"], document, "thing") with data.schemas as {"thing": schema}
}

test_what_fits_has_no_problem if {
	problems({"size": 1, "word": "a", "either": "x", "parts": {"a.b": {}}, "list": ["x"]}) == set()
}

test_what_can_not_be_checked_is_a_problem if {
	unchecked := {{
		"path": ["here"],
		"reason": "it can not be checked against schemas/thing",
		"remedy": "make it an object, and load the folder schemas beside it",
	}}
	every document in [5, null, "{\"size\": 1}", [], true] {
		problems(document) == unchecked
	}
	found := shape.problems(["here"], {"size": 1}, "thing") with data.schemas as {}
	found == unchecked
}

test_each_complaint_has_the_path_of_its_value_a_reason_and_a_remedy if {
	problems({"size": 1, "sise": 2}) == {{
		"path": ["here", "sise"],
		"reason": "its name may not stand here",
		"remedy": "leave it out or correct the name: schemas/thing has those that may",
	}}
	problems({"size": 1, "parts": {"a.b": {"c": 1}}}) == {{
		"path": ["here", "parts", "a.b", "c"],
		"reason": "its name may not stand here",
		"remedy": "leave it out or correct the name: schemas/thing has those that may",
	}}
	problems({"size": 1, "parts": {"A": {}}}) == {{
		"path": ["here", "parts", "A"],
		"reason": "its name has not the form of names here",
		"remedy": "rename it: schemas/thing has the pattern that it must match",
	}}
	problems({}) == {{"path": ["here"], "reason": "size is required", "remedy": "add size"}}
	problems({"size": 1, "word": "c"}) == {{
		"path": ["here", "word"],
		"reason": "it is none of the words that may stand here",
		"remedy": "write one of: \"a\", \"b\"",
	}}
	problems({"size": 0}) == {{
		"path": ["here", "size"],
		"reason": "Must be greater than or equal to 1",
		"remedy": "see schemas/thing for what may stand here",
	}}
	problems({"size": 1, "list": ["a", 5]}) == {{
		"path": ["here", "list", 1],
		"reason": "Invalid type. Expected: string, given: integer",
		"remedy": "see schemas/thing for what may stand here",
	}}
}

test_of_alternatives_only_the_complaint_that_tells_something_is_left if {
	problems({"size": 1, "either": {"from": "A"}}) == {{
		"path": ["here", "either", "from"],
		"reason": "Does not match pattern '^[a-z]+$'",
		"remedy": "see schemas/thing for what may stand here",
	}}
}

test_several_complaints_are_several_problems if {
	{problem.path | some problem in problems({"word": "c", "x": 1})} == {["here"], ["here", "word"], ["here", "x"]}
}
