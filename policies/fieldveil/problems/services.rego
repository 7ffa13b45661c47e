package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.jsonpath
import data.fieldveil.routes
import data.fieldveil.services

in_bodies := {"request", "response"}

# Request headers that others than the service read, that say who asks, or of which the filter or Envoy makes something
# else. Those of content- describe the body.
headers_of_others := {
	"accept-encoding", "authorization", "connection", "cookie", "expect", "forwarded", "host", "if-match",
	"if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authenticate",
	"proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade", "via",
}

# Where the bodies of GraphQL over HTTP have values; beside these stands what is for server and client alone.
of_graphql := {"request": "variables", "response": "data"}

found contains object.union(routes.fault(path), {"path": array.concat(route.path, ["path"])}) if {
	some route in services.routes
	path := route.route
}

found contains object.union(fault, {"path": field.path}) if {
	some at, fault in faults
	some field in fields_of_bodies
	field.at == at
}

found contains problem if {
	some route in services.routes
	route.graphql
	some field in route.fields
	member := of_graphql[field["in"]]
	leads_past(steps[field.at][0], member)
	problem := {
		"path": array.concat(route.path, field.key),
		"reason": sprintf("%v is outside of $.%v, where a %v of GraphQL has its values", [field.at, member, field["in"]]),
		"remedy": sprintf("begin it with $.%v, or leave out graphql", [member]),
	}
}

found contains problem if {
	some label in ({field.label | some field in services.mapped} - object.keys(columns.definitions))
	some field in services.mapped
	field.label == label
	problem := undefined_label(field)
}

found contains problem if {
	some field in fields_in.segment
	not is_parameter(field)
	problem := {
		"path": field.path,
		"reason": sprintf("%v has no parameter {%v}", [field.route, field.at]),
		"remedy": "name one of the path's, without its braces",
	}
}

found contains problem if {
	some field in fields_in.header
	not is_header_name(field.at)
	problem := {
		"path": field.path,
		"reason": sprintf("%v is no header's name in lower case", [field.at]),
		"remedy": "write letters in lower case, digits and - as in x-customer-ssn",
	}
}

found contains problem if {
	some field in fields_in.header
	is_of_others(field.at)
	problem := {
		"path": field.path,
		"reason": sprintf("%v is not the service's own: others read it or say in it who asks", [field.at]),
		"remedy": "leave it out, or let clients send the value in a header of its own",
	}
}

found contains problem if {
	some place, fields in fields_in
	not place in in_bodies
	some field in fields
	some definition in columns.definitions[field.label]
	why := not_searchable(definition)
	problem := {
		"path": field.path,
		"reason": sprintf("label %v can not be searched by here: %v", [field.label, why]),
		"remedy": "let clients send it in a body, or change how the label is stored",
	}
}

# Every field by where it stands: most problems are of some places alone.
fields_in[field["in"]] contains field if some field in services.mapped

fields_of_bodies contains field if {
	some place in in_bodies
	some field in fields_in[place]
}

# What is asked of a JSON path is asked once, however many fields are at it.
faults[at] := jsonpath.fault(at) if some at in paths_in_bodies

steps[at] := jsonpath.steps(at) if {
	some at in paths_in_bodies
	not faults[at]
}

paths_in_bodies contains field.at if some field in fields_of_bodies

leads_past(step, member) if {
	step[0] == "member"
	step[1] != member
}

leads_past(step, _) if step[0] == "element"

is_parameter(field) if routes.position(field.route, field.at) >= 0

is_header_name(name) if regex.match(`^[a-z0-9!#$%&'*+.^_\x60|~-]+$`, name)

is_of_others(name) if name in headers_of_others

is_of_others(name) if {
	some prefix in ["content-", "sec-", "x-envoy-", "x-forwarded-"]
	startswith(name, prefix)
}

# Outside bodies a service compares what stands there with what it has stored. An index would have to be cut out of the
# envelope for that.
not_searchable(definition) := "equal values are stored differently" if {
	definition.protection == "randomized"
} else := "the index lies within the envelope" if {
	definition.protection == "indexed"
} else := sprintf("equal values of type %v have several texts", [definition.type]) if {
	trim_suffix(definition.type, "[]") in {"bpchar", "float8", "json", "jsonb", "numeric"}
}
