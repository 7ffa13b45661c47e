{{- /* policies/system/log/log.rego, word for word: a chart can not read what is outside of it. */ -}}
{{- define "fieldveil-sidecar.decisionLogMask" -}}
# METADATA
# title: What decision logs leave out
# description: |
#   OPA asks data.system.log.mask before it writes or sends a decision: what it names is not in the log.
#   A file of one's own in this package adds to it. One that writes a token anew, by an upsert, undoes it.
package system.log

# METADATA
# title: mask
# description: The tokens, by their places, and whatever else in the input looks like one.
# entrypoint: true
mask contains path if {
	some path in for_tokens
	object.get(input, split(trim_prefix(path, "/"), "/"), "") != ""
}

# What built-in functions were asked, such as to verify a token.
mask contains "/nd_builtin_cache" if input.nd_builtin_cache

# Replaced and not removed: behind an element that is removed those of an array move up.
mask contains {"op": "upsert", "path": path, "value": "left out: it looks like a token"} if {
	some part in suspected
	[where, value] := walk(input[part])
	like_a_token(value)
	path := concat("/", array.concat(["", part], nameable(where)))
	not path in for_tokens
}

# A name can be a token as well as a value.
mask contains {"op": "upsert", "path": path, "value": "left out: a name in it looks like a token"} if {
	some part in suspected
	[where, _] := walk(input[part])
	some name in where
	like_a_token(name)
	path := concat("/", array.concat(["", part], nameable(where)))
}

suspected contains "input" if not is_null(input.input)

# Most answers are long and hold none: they are looked through at once.
suspected contains "result" if like_a_token(json.marshal(said_of_somebody))

# The fields of a plan are the catalog's and the rules'. It is the one question that is asked often.
said_of_somebody := object.remove(input.result, ["fields"]) if {
	input.path == "fieldveil/plan"
} else := input.result

# METADATA
# title: drop
# description: A decision is not logged at all if a token stands where OPA masks nothing.
# entrypoint: true
drop if {
	some part in ["query", "custom"]
	like_a_token(json.marshal(input[part]))
}

# The answer to a query of one's own, which has no path.
drop if {
	not input.path
	like_a_token(json.marshal(input.result))
}

for_tokens := {"/input/token", "/input/comment/token"}

# The first three letters are `{"` in base64url; the others are what else a JSON object may begin with. A JSON Web Token
# without its signature, or cut short, or with its dots encoded as in URLs, counts as well.
like_a_token(text) if regex.match(`eyJ[\w-]{12,}(\.|%2[Ee])|(^|[^A-Za-z0-9])e[wy][\w-]{15,}(\.|%2[Ee])`, text)

# The beginning of a path, up to the first part that OPA can't find by its name or that is left out itself.
nameable(where) := [sprintf("%v", [part]) | some i, part in where; i < least_unnameable(where)]

least_unnameable(where) := min({count(where)} | {i | some i, part in where; not is_nameable(part)})

is_nameable(part) if is_number(part)

is_nameable(part) if {
	regex.match(`^[\w.-]+$`, part)
	not like_a_token(part)
}
{{ end -}}
