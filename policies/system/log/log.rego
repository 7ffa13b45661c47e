# METADATA
# title: What decision logs leave out
# description: |
#   OPA asks data.system.log.mask before it writes or sends a decision: what it names is not in the log.
#   A file of one's own in this package adds to it; none can take from it.
package system.log

# METADATA
# title: mask
# description: The tokens, by their places, and whatever else in the input looks like one.
# entrypoint: true
mask contains path if {
	some path in for_tokens
	object.get(input, split(trim_prefix(path, "/"), "/"), "") != ""
}

# Replaced and not removed: behind an element that is removed those of an array move up.
mask contains {"op": "upsert", "path": path, "value": "left out: it looks like a token"} if {
	[where, value] := walk(object.get(input, "input", {}))
	like_a_token(value)
	path := concat("/", array.concat(["", "input"], nameable(where)))
	not path in for_tokens
}

# A name can be a token as well as a value.
mask contains {"op": "upsert", "path": path, "value": "left out: a name in it looks like a token"} if {
	[where, _] := walk(object.get(input, "input", {}))
	some part in where
	like_a_token(part)
	path := concat("/", array.concat(["", "input"], nameable(where)))
}

for_tokens := {"/input/token", "/input/comment/token"}

# The first three letters are `{"` in base64url; the others are what else a JSON object may begin with. A JSON Web Token
# without its signature, or cut short, counts as well.
like_a_token(text) if regex.match(`eyJ[\w-]{12,}\.|(^|[^A-Za-z0-9])e[wy][\w-]{15,}\.`, text)

# The beginning of a path, up to the first part that OPA can't find by its name or that is left out itself.
nameable(where) := [sprintf("%v", [part]) | some i, part in where; i < least_unnameable(where)]

least_unnameable(where) := min({count(where)} | {i | some i, part in where; not is_nameable(part)})

is_nameable(part) if is_number(part)

is_nameable(part) if {
	regex.match(`^[\w.-]+$`, part)
	not like_a_token(part)
}
