# METADATA
# title: Routes
# description: |
#   What a route's path may be, and whether one request can fit two of them. The filter compares segments decoded, and
#   letters exactly.
package fieldveil.routes

parameter := `^\{[A-Za-z_][A-Za-z0-9_]*\}$`

# METADATA
# title: fault
# description: What is wrong with a route's path, as reason and remedy. Undefined for one that requests can fit.
# scope: document
fault(path) := fault_of_text(path)

fault(path) := fault_of_segments(path) if not fault_of_text(path)

fault_of_text(path) := {
	"reason": "a route begins with /",
	"remedy": concat("", ["write /", path]),
} if {
	not startswith(path, "/")
} else := {
	"reason": "a route has no query and no fragment",
	"remedy": "leave it out; parameters are named under query",
} if {
	regex.match(`[?#]`, path)
}

fault_of_segments(path) := {
	"reason": "it has an empty segment",
	"remedy": "leave out doubled and trailing slashes, which the filter ignores",
} if {
	"" in segments(path)
} else := {
	"reason": "** is not its last segment",
	"remedy": "write ** at the end alone, and {name} for one segment",
} if {
	some i, segment in segments(path)
	segment == "**"
	i < count(segments(path)) - 1
} else := {
	"reason": sprintf("%v is no segment of a route", [odd[0]]),
	"remedy": "write it decoded, without ; % \\ * and spaces, or {name} (not :name or <name>), or ** at the end",
} if {
	odd := [segment | some segment in segments(path); not is_segment(segment)]
	count(odd) > 0
} else := {
	"reason": sprintf("its parameters are not told apart: %v", [concat(" ", parameters(path))]),
	"remedy": "give each a name of its own",
} if {
	count(parameters(path)) > count({one | some one in parameters(path)})
}

# METADATA
# title: segments
# description: The segments of a path. The root has none.
segments(path) := [] if {
	path == "/"
} else := array.slice(split(path, "/"), 1, count(split(path, "/")))

# METADATA
# title: position
# description: The index of the segment that a parameter of a path stands for.
position(path, name) := [i | some i, segment in segments(path); segment == sprintf("{%v}", [name])][0]

# METADATA
# title: meet
# description: Whether one request can fit two routes, each given by its path and its methods.
meet(one, other) if {
	methods_meet(one.methods, other.methods)
	paths_meet(one.route, other.route)
}

methods_meet(one, other) if count(one) * count(other) == 0

methods_meet(one, other) if count(with_head(one) & with_head(other)) > 0

# What fits GET fits HEAD.
with_head(methods) := methods | {"HEAD" | "GET" in methods}

# That both are routes without a fault is taken for granted.
paths_meet(one, other) if one == other

paths_meet(one, other) if regex.match(pattern(one), other)

paths_meet(one, other) if regex.match(pattern(other), one)

# Fits a route's own text, of which a parameter can be any segment. ** can be what a parameter is, or what follows.
pattern(path) := sprintf("^/%v$", [concat("/", closed)]) if {
	not endswith(path, "/**")
	closed := [part | some segment in segments(path); part := pattern_of_segment(segment)]
} else := concat("", array.concat(["^"], array.concat(fixed, ["(/.*)?$"]))) if {
	fixed := [part |
		some segment in segments(path)
		segment != "**"
		part := concat("", ["/", pattern_of_segment(segment)])
	]
}

pattern_of_segment(segment) := "[^/]+" if {
	regex.match(parameter, segment)
} else := sprintf(`(\Q%v\E|\{[^/]*\})`, [segment])

is_segment("**")

is_segment(segment) if regex.match(parameter, segment)

# What other notations of routes would take for a parameter fits nothing as a text.
is_segment(segment) if {
	regex.match(`^[^:<>{}%*;\\/\p{Z}\p{Cc}][^<>{}%*;\\/\p{Z}\p{Cc}]*$`, segment)
	not segment in {".", ".."}
}

parameters(path) := [segment | some segment in segments(path); regex.match(parameter, segment)]
