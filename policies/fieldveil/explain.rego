package fieldveil

import data.fieldveil.columns
import data.fieldveil.principal
import data.fieldveil.problems
import data.fieldveil.services
import data.fieldveil.tenancy
import data.fieldveil.treatment

# METADATA
# title: explain
# description: |
#   By label, what the principal reads and writes, the names of the rules that decide it (none where no rule does), and
#   all places of the label. Undefined where the plan is. A service is asked for as a database, with protocol http; with
#   request in the input, {"method", "route"}, of one kind of request: the labels of that route, by a route's path in
#   the catalog. Without, of requests that no rule names.
# entrypoint: true
explain := object.union({"denied": reason | reason := principal.denied}, {
	"subject": principal.subject,
	"break_glass": break_glass_of({[label, request_asked_for] | some label, _ in explained}),
	"labels": explained,
}) if {
	database_named
	problems.none
}

explained[label] := {
	"read": read,
	"write": write,
	"read_by": [rule | some rule in reading.read_by; reading.read == read],
	"write_by": [rule | some rule in writing.write_by; writing.write == write],
	"places": sort({place.name | some place in places}),
} if {
	some label, places in places_by_label
	is_asked_for(label)
	read := tenancy.read(label, request_asked_for)
	write := tenancy.write(label, request_asked_for)
	reading := treatment.reading(label, request_asked_for)
	writing := treatment.writing(label, request_asked_for)
}

# The filter asks of no single request: a plan has all.
request_asked_for := {"method": word_of("method"), "route": word_of("route")}

word_of(attribute) := word if {
	word := object.get(input, ["request", attribute], "")
	is_string(word)
} else := ""

is_asked_for(label) if {
	some column in asked_for
	column.label == label
}

is_asked_for(label) if {
	some field in services.mapped
	field.label == label
	field.service == service
	request_asked_for.route in {field.route, ""}
	has_method(field)
}

has_method(field) if count(field.methods) == 0

has_method(field) if request_asked_for.method in (field.methods | {""})

places_by_label[column.label] contains {"name": name} if {
	some column in columns.protected
	name := concat(".", [column.database, column.relation, column.column])
}

places_by_label[field.label] contains {"name": name} if {
	some field in services.mapped
	name := concat(" ", [field.service.name, services.in_words(field)])
}
