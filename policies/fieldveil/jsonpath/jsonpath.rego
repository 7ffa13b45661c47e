# METADATA
# title: JSON paths
# description: |
#   Which paths of RFC 9535 can be followed while a body streams by: members by name, elements by index, all elements,
#   and members of a name at any depth. What else there is needs values that come later or are gone already.
package fieldveil.jsonpath

# A member's name without quotes (section 2.5.1.1), and one in single quotes (section 2.3.1.1).
name := `[A-Za-z_\x{80}-\x{10FFFF}][A-Za-z0-9_\x{80}-\x{10FFFF}]*`

quoted := `'(?:[^'\\\x00-\x1f]|\\['\\/bfnrt]|\\u[0-9A-Fa-f]{4})*'`

streaming := sprintf(`^(?:\.\.?%v|\[%v\]|\[\*\]|\[(?:0|[1-9][0-9]{0,8})\])$`, [name, quoted])

# A step is what dots begin or what brackets hold. Brackets may hold texts, and brackets of a filter.
brackets := `\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\[\]'"]|\[[^\[\]]*\])+\]`

step := sprintf(`\.\.?(?:\*|%v)|(?:\.\.)?%v`, [name, brackets])

# METADATA
# title: fault
# description: What is wrong with a path, as reason and remedy. Undefined for a path that can be followed.
# scope: document
fault(path) := {
	"reason": sprintf("%v is no JSON path", [path]),
	"remedy": "begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step",
} if {
	not is_path(path)
} else := {
	"reason": sprintf("%v can not be followed while a body streams by", [late[0]]),
	"remedy": "use .name, ['any name'], [*], [0] and ..name alone",
} if {
	late := [one | some one in steps(path); not regex.match(streaming, one)]
	count(late) > 0
}

is_path(path) if {
	count(steps(path)) > 0
	concat("", array.concat(["$"], steps(path))) == path
}

steps(path) := regex.find_n(step, path, -1)

# METADATA
# title: normalized
# description: A path with every name in brackets, so that two spellings of one path are equal.
# scope: document
normalized(path) := concat("", [in_brackets(one) | some one in steps(path)])

in_brackets(one) := sprintf("['%v']", [trim_prefix(one, ".")]) if {
	regex.match(`^\.[^.]`, one)
} else := one
