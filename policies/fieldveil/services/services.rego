# METADATA
# title: Services
# description: |
#   All catalogs (data.catalog.<name>) as the fields of services: where in a request or its response each stands, and on
#   which routes. And the kinds of requests between which some rule makes a difference.
package fieldveil.services

# METADATA
# title: entries
# description: Every entry of a catalog that speaks of a service, each with its path; one service may have several.
entries contains {"path": ["catalog", name, "services", i], "definition": service} if {
	some name, catalog in data.catalog
	some i, service in catalog.services
}

# METADATA
# title: everywhere
# description: The route of what a service has whatever the route.
everywhere := "/**"

# METADATA
# title: routes
# description: |
#   Every route with the path of the entry that says it. The JSON paths of a whole service are one of all requests. No
#   methods are all methods.
# scope: document
routes contains route if {
	some entry in entries
	some i, definition in entry.definition.routes
	route := {
		"path": array.concat(entry.path, ["routes", i]),
		"service": service_of(entry),
		"route": definition.path,
		"methods": {method | some method in definition.methods},
		"graphql": object.get(definition, "graphql", false),
		"fields": {field |
			some key, place in places
			some at, label in definition[key]
			field := {"key": [key, at], "in": place, "at": at, "label": label}
		},
	}
}

routes contains route if {
	some entry in entries
	paths := entry.definition.paths
	route := {
		"path": array.concat(entry.path, ["paths"]),
		"service": service_of(entry),
		"route": everywhere,
		"methods": set(),
		"graphql": false,
		"fields": {field |
			some at, label in paths
			some place in ["request", "response"]
			field := {"key": [at], "in": place, "at": at, "label": label}
		},
	}
}

# METADATA
# title: service_of
# description: The service that an entry speaks of.
service_of(entry) := {"protocol": entry.definition.protocol, "name": entry.definition.service}

# A catalog's words for where a field stands, and the plan's.
places := {
	"request": "request",
	"response": "response",
	"query": "query",
	"headers": "header",
	"segments": "segment",
}

# METADATA
# title: mapped
# description: Every field with its label and the path of the entry that says so.
mapped contains field if {
	some route in routes
	service := route.service
	path := route.route
	methods := route.methods
	some said in route.fields
	field := {
		"path": array.concat(route.path, said.key),
		"service": service,
		"route": path,
		"methods": methods,
		"in": said["in"],
		"at": said.at,
		"label": said.label,
	}
}

# METADATA
# title: in_words
# description: Where a field stands in its service. Of what a service has whatever the route, the JSON path alone.
in_words(field) := field.at if {
	is_whatever_the_route(field)
} else := concat(" ", array.concat([methods | count(field.methods) > 0], [field.route, field["in"], field.at])) if {
	methods := concat(",", sort(field.methods))
}

is_whatever_the_route(field) if field.path[count(field.path) - 2] == "paths"

# METADATA
# title: unmatched
# description: What becomes of a request that fits no route.
unmatched(service) := "refuse" if {
	some entry in entries
	service_of(entry) == service
	entry.definition.unmatched == "refuse"
} else := "pass"

# METADATA
# title: planned
# description: |
#   By service its routes, each of some methods, or of all but some: of one path and the same methods all catalogs
#   together, and parted further where rules tell methods apart. request is what rules may ask for.
planned[service] contains route if {
	some service, by_route in grouped
	some key, said in by_route
	[path, methods] := key
	fields := {object.remove(field, {"key"}) | some one in said; some field in one.fields}
	some part in parts({method | some method in methods}, {method | some method in methods_named; count(fields) > 0})
	route := {
		"path": path,
		"methods": part.methods,
		"except": part.except,
		"graphql": true in {one.graphql | some one in said},
		"request": {"method": part.method, "route": told_apart(path, routes_named)},
		"fields": fields,
	}
}

# METADATA
# title: methods_named
# description: The methods that rules tell apart.
methods_named contains method if {
	some conditions in conditions_of_requests
	some method in conditions.method
}

# METADATA
# title: routes_named
# description: The routes that rules tell apart.
routes_named contains route if {
	some conditions in conditions_of_requests
	some route in conditions.route
}

conditions_of_requests contains conditions if {
	some ruleset in data.rules
	some rule in ruleset.rules
	some part in ["who", "unless"]
	conditions := rule[part].request
}

grouped[route.service][[route.route, sort(route.methods)]] contains object.filter(route, ["graphql", "fields"]) if {
	some route in routes
}

# A route's methods as lists, each of those that rules tell apart by itself. Of all methods the rest is all but these.
parts(methods, told) := ({part |
	some method in told
	is_of(method, methods)
	part := {"methods": [method], "except": [], "method": method}
} | {{"methods": [], "except": sort(told), "method": ""} |
	count(methods) == 0
}) | {{"methods": sort(rest), "except": [], "method": ""} |
	rest := methods - told
	count(rest) > 0
}

is_of(_, methods) if count(methods) == 0

is_of(method, methods) if method in methods

told_apart(word, words) := word if {
	word in words
} else := ""
