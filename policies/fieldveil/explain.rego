package fieldveil

import data.fieldveil.columns
import data.fieldveil.principal
import data.fieldveil.problems
import data.fieldveil.tenancy
import data.fieldveil.treatment

# METADATA
# title: explain
# description: |
#   By label, what the principal reads and writes, the names of the rules that decide it (none where no rule does), and
#   all places of the label. Undefined where the plan is. A service is asked for as a database, with protocol http.
# entrypoint: true
explain := object.union({"denied": reason | reason := principal.denied}, {
	"subject": principal.subject,
	"break_glass": break_glass_of(object.keys(explained)),
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
	is_asked_for(places)
	read := tenancy.read(label)
	write := tenancy.write(label)
	reading := treatment.reading(label)
	writing := treatment.writing(label)
}

is_asked_for(places) if {
	some place in places
	place.protocol == input.protocol
	place.of == input.session.database
}

places_by_label[column.label] contains {"protocol": column.protocol, "of": column.database, "name": name} if {
	some column in columns.protected
	name := concat(".", [column.database, column.relation, column.column])
}

places_by_label[mapping.label] contains {"protocol": mapping.protocol, "of": mapping.service, "name": name} if {
	some mapping in columns.paths
	name := concat(" ", [mapping.service, mapping.json_path])
}
