package fieldveil.jsonpath_test

import data.fieldveil.jsonpath

test_what_can_be_followed_has_no_fault if {
	every path in {
		"$.customer.ssn",
		"$['customer']['ssn']",
		"$['any name, even [*] and .dots']",
		"$['it\\'s \\\\ \\u00e9']",
		"$['']",
		"$.items[*].card",
		"$.items[0].card",
		"$[*]",
		"$[999999999]",
		"$..ssn",
		"$.a..b[*]['c']",
		"$.größe",
		"$._1",
	} {
		not jsonpath.fault(path)
	}
}

test_what_is_no_path_is_told_how_one_looks if {
	every path in {
		"", "$", "customer.ssn", ".a", "$a", "$.", "$..", "$...a", "$.a.", "$.1a", "$.a-b", "$.a b", "$[]", "$[a", "$a]",
		"$.a$", "$ .a", "$['a]", "$.a]", "@.a",
	} {
		jsonpath.fault(path) == {
			"reason": sprintf("%v is no JSON path", [path]),
			"remedy": "begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step",
		}
	}
}

test_what_can_not_stream_is_named if {
	every path, late in {
		"$.a[-1].b": "[-1]",
		"$[1:3]": "[1:3]",
		"$[::2]": "[::2]",
		"$['a','b']": "['a','b']",
		"$[?@.b == 'x']": "[?@.b == 'x']",
		"$.a[?(@['b'] == \"]\")].c": "[?(@['b'] == \"]\")]",
		"$.a.*": ".*",
		"$..*": "..*",
		"$..['a']": "..['a']",
		"$..[0]": "..[0]",
		"$[01]": "[01]",
		"$[\"a\"]": "[\"a\"]",
		"$['a\\x']": "['a\\x']",
		"$[1000000000]": "[1000000000]",
	} {
		jsonpath.fault(path) == {
			"reason": sprintf("%v can not be followed while a body streams by", [late]),
			"remedy": "use .name, ['any name'], [*], [0] and ..name alone",
		}
	}
}

test_half_a_surrogate_pair_is_no_name if {
	every path in {"$['\\ud83d']", "$['\\ude00']", "$['\\ude00\\ud83d']", "$['\\ud83dx\\ude00']"} {
		jsonpath.fault(path).remedy == "use .name, ['any name'], [*], [0] and ..name alone"
	}
	not jsonpath.fault("$['\\uD83D\\ude00']")
}

test_spellings_of_one_path_have_equal_steps if {
	steps := [["member", "a"], ["member", "b"], ["any"], ["within", "c"], ["element", 0]]
	every path in {"$.a.b[*]..c[0]", "$['a'].b[*]..c[0]", "$['\\u0061']['b'][*]..c[0]"} {
		jsonpath.steps(path) == steps
	}
	every path, name in {
		"$['']": "",
		"$['[*]']": "[*]",
		"$['it\\'s']": "it's",
		`$['"']`: `"`,
		`$['\/"\\\n']`: "/\"\\\n",
		"$['\\ud83d\\ude00']": "😀",
		"$.größe": "größe",
	} {
		jsonpath.steps(path) == [["member", name]]
	}
}

meet(one, other) if jsonpath.meet(jsonpath.steps(one), jsonpath.steps(other))

test_paths_meet_where_one_value_is_at_the_end_of_both if {
	every pair in [
		["$.a", "$['a']"],
		["$..a", "$.a"],
		["$..a", "$.b.c[0].a"],
		["$..a", "$.x..a"],
		["$..a..b", "$..b"],
		["$.a[*]", "$.a[3]"],
		["$.a[*]", "$.a.b"],
		["$[*].b", "$.a[*]"],
		["$[*][*]", "$..a"],
		["$..a[0]", "$.b.a[*]"],
		["$..a..a", "$.a.a.a"],
		["$.a..b.c", "$..b..c"],
	] {
		meet(pair[0], pair[1])
		meet(pair[1], pair[0])
	}
}

test_paths_that_end_elsewhere_do_not_meet if {
	every pair in [
		["$.a", "$.b"],
		["$.a", "$.A"],
		["$.a", "$.a.a"],
		["$..a", "$..b"],
		["$..a", "$.a.b"],
		["$.a[0]", "$.a[1]"],
		["$.a[0]", "$.a['0']"],
		["$[*]", "$[*][*]"],
		["$.x..a", "$.y..a"],
		["$..a..b", "$.b"],
		["$..a..b", "$.b.c"],
		["$..a.b", "$.a.c.b"],
		["$..a[0]", "$..a[1]"],
	] {
		not meet(pair[0], pair[1])
		not meet(pair[1], pair[0])
	}
}

# Against every value of a document with two names and two elements to a depth of four: what the two select.

one_step := [["member", "a"], ["member", "b"], ["any"], ["element", 0], ["within", "a"], ["within", "b"]]

short_paths := {[one, other] | some one in one_step; some other in one_step} | {[one] | some one in one_step}

keys := {["member", "a"], ["member", "b"], ["element", 0], ["element", 1]}

pairs contains [one, other] if {
	some one in keys
	some other in keys
}

nodes := union({
	{[one] | some one in keys},
	pairs,
	{array.concat(pair, [one]) | some pair in pairs; some one in keys},
	{array.concat(pair, other) | some pair in pairs; some other in pairs},
})

# By a pattern over texts, one for each step.
selected[path] := {node | some node in nodes; regex.match(pattern_of(path), text_of(node))} if some path in short_paths

text_of(node) := concat("", [sprintf("<%v %v>", key) | some key in node])

pattern_of(path) := sprintf("^%v$", [concat("", [pattern | some step in path; pattern := pattern_of_step(step)])])

pattern_of_step(step) := "<[^>]*>" if step == ["any"]

pattern_of_step(step) := sprintf("(<[^>]*>)*<member %v>", [step[1]]) if step[0] == "within"

pattern_of_step(step) := sprintf("<%v %v>", step) if step[0] in {"member", "element"}

test_what_meets_is_what_selects_one_value_of_some_document if {
	every one in short_paths {
		meeting := {other | some other in short_paths; jsonpath.meet(one, other)}
		meeting == {other | some other in short_paths; count(selected[one] & selected[other]) > 0}
	}
}

# Of every path the values that lie inside of what it selects.
below[path] := {node | some node in nodes; count(ancestors[node] & selected[path]) > 0} if some path in short_paths

ancestors[node] := {array.slice(node, 0, depth) | some depth in numbers.range(1, 3); depth < count(node)} if {
	some node in nodes
}

test_what_lies_inside_is_what_lies_deeper_in_some_document if {
	every outer in short_paths {
		inside := {inner | some inner in short_paths; jsonpath.lies_inside(inner, outer, ["any"])}
		inside == {inner | some inner in short_paths; count(selected[inner] & below[outer]) > 0}
	}
}

test_only_elements_lie_inside_of_arrays_of_scalars if {
	tags := jsonpath.steps("$.tags")
	inside := {path |
		some path in [
			"$.tags[0]", "$.tags[*]", "$.tags[*][1]", "$..tags[0]",
			"$..tags", "$.tags.a", "$..a", "$.a[0]", "$.tags",
		]
		jsonpath.lies_inside(jsonpath.steps(path), tags, ["elements"])
	}
	inside == {"$.tags[0]", "$.tags[*]", "$.tags[*][1]", "$..tags[0]"}
}
