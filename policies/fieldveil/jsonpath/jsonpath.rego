# METADATA
# title: JSON paths
# description: |
#   Which paths of RFC 9535 can be followed while a body streams by: members by name, elements by index, all elements,
#   and members of a name at any depth. What else there is needs values that come later or are gone already.
package fieldveil.jsonpath

# A member's name without quotes (section 2.5.1.1), and one in single quotes (section 2.3.1.1), of which no half of a
# surrogate pair stands alone.
name := `[A-Za-z_\x{80}-\x{10FFFF}][A-Za-z0-9_\x{80}-\x{10FFFF}]*`

escape := concat("", [
	`\\(?:['\\/bfnrt]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}`,
	`|[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}))`,
])

quoted := sprintf(`'(?:[^'\\\x00-\x1f]|%v)*'`, [escape])

followed := sprintf(`(?:\.\.?%v|\[%v\]|\[\*\]|\[(?:0|[1-9][0-9]{0,8})\])`, [name, quoted])

streaming := sprintf(`^%v$`, [followed])

whole := sprintf(`^\$%v+$`, [followed])

# A step is what dots begin or what brackets hold. Brackets may hold texts, and brackets of a filter.
brackets := `\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\[\]'"]|\[[^\[\]]*\])+\]`

step := sprintf(`\.\.?(?:\*|%v)|(?:\.\.)?%v`, [name, brackets])

# METADATA
# title: fault
# description: What is wrong with a path, as reason and remedy. Undefined for a path that can be followed.
# scope: document
fault(path) := fault_of(path) if not regex.match(whole, path)

fault_of(path) := {
	"reason": sprintf("%v is no JSON path", [path]),
	"remedy": "begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step",
} if {
	not is_path(path)
} else := {
	"reason": sprintf("%v can not be followed while a body streams by", [late[0]]),
	"remedy": "use .name, ['any name'], [*], [0] and ..name alone",
} if {
	late := [one | some one in texts(path); not regex.match(streaming, one)]
	count(late) > 0
}

is_path(path) if {
	count(texts(path)) > 0
	concat("", array.concat(["$"], texts(path))) == path
}

texts(path) := regex.find_n(step, path, -1)

# METADATA
# title: steps
# description: |
#   The steps of a path without a fault, each as what it selects, so that two spellings of one path are equal. It is
#   ["member", NAME], ["element", INDEX] or ["any"], and at any depth: ["within", NAME].
# scope: document
steps(path) := [as_step(one) | some one in texts(path)]

as_step(text) := ["within", substring(text, 2, -1)] if {
	startswith(text, "..")
} else := ["member", substring(text, 1, -1)] if {
	startswith(text, ".")
} else := ["any"] if {
	text == "[*]"
} else := ["member", unquoted(substring(text, 2, count(text) - 4))] if {
	startswith(text, "['")
} else := ["element", to_number(trim(text, "[]"))]

# As JSON has it, where ' stands without \, and " with one.
unquoted(text) := text if {
	not contains(text, `\`)
} else := json.unmarshal(concat("", array.concat([`"`], array.concat(characters, [`"`])))) if {
	characters := [character |
		some one in regex.find_n(sprintf(`%v|[^\\]`, [escape]), text, -1)
		character := object.get({`\'`: `'`, `"`: `\"`}, one, one)
	]
}

# METADATA
# title: end
# description: What the last of some steps selects. Two paths whose ends differ meet only where one of them is ["any"].
# scope: document
end(path) := selected_by(path[count(path) - 1])

selected_by(last) := ["member", last[1]] if {
	last[0] == "within"
} else := last

# METADATA
# title: meet
# description: Whether two paths, as steps, can lead to one value.
# scope: document
meet(one, other) if one == other

meet(one, other) if {
	not are_plain(one, other)
	[count(one), count(other)] in graph.reachable(together(one, other, []), {[0, 0]})
}

# METADATA
# title: lies_inside
# description: |
#   Whether a path can lead to a value inside one that another leads to, which has content: ["any"], or ["elements"] of
#   an array whose elements are no JSON.
# scope: document
lies_inside(inner, outer, content) if {
	are_plain(inner, outer)
	content == ["any"]
	count(inner) > count(outer)
	array.slice(inner, 0, count(outer)) == outer
}

lies_inside(inner, outer, content) if {
	not is_told_apart(inner, outer, content)
	[count(outer) + 1, count(inner)] in graph.reachable(together(outer, inner, content), {[0, 0]})
}

is_told_apart(inner, outer, ["any"]) if are_plain(inner, outer)

are_plain(one, other) if {
	is_plain(one)
	is_plain(other)
}

# METADATA
# title: is_plain
# description: Whether a path, as steps, has names and indexes alone. Two of these meet where they are the same.
# scope: document
is_plain(path) if {
	every one in path {
		one[0] in {"member", "element"}
	}
}

# Both paths at once, going down one value: how far each has come, and how far each may be one level deeper. Where one
# has come to its end it goes on into the content of what stands there.
together(one, other, content) := {[i, j]: next |
	some i in numbers.range(0, count(one) + 1)
	some j in numbers.range(0, count(other))
	next := {[a.to, b.to] |
		some a in moves(one, i, content)
		some b in moves(other, j, [])
		can_be_same(a.on, b.on)
	}
}

moves(path, at, content) := {{"on": content, "to": count(path) + 1}} if {
	at >= count(path)
	content != []
} else := set() if {
	at >= count(path)
} else := {{"on": ["member", path[at][1]], "to": at + 1}, {"on": ["any"], "to": at}} if {
	path[at][0] == "within"
} else := {{"on": path[at], "to": at + 1}}

can_be_same(one, other) if one == other

can_be_same(one, other) if ["any"] in [one, other]

can_be_same(one, other) if {
	{one[0], other[0]} == {"elements", "element"}
}
