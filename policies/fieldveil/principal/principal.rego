# METADATA
# title: The principal
# description: |
#   Who asks, resolved once from the input: what it says of itself where rules accept that, the claims of its token, and
#   which conditions hold for it. What is missing, empty or of another type holds for nothing.
# schemas:
#   - input: schema.input.data
package fieldveil.principal

import data.fieldveil.clock
import data.fieldveil.tokens

# METADATA
# title: attributes
# description: The principal. An attribute that is missing or odd is an empty text; claims are those of verified tokens.
attributes := {
	"listener": text(["listener"]),
	"workload": {
		"namespace": text(["workload", "namespace"]),
		"service_account": text(["workload", "service_account"]),
		"spiffe_id": text(["workload", "spiffe_id"]),
		"labels": workload_labels,
	},
	"session": {
		"user": text(["session", "user"]),
		"role": text(["session", "role"]),
		"database": text(["session", "database"]),
		"application_name": text(["session", "application_name"]),
		"source": text(["session", "source"]),
		"purpose": purpose,
	},
	"client_certificate": client_certificate,
	"claims": claims,
	"headers": headers,
}

# METADATA
# title: accepts
# description: By purpose and token, the places beside SET from which some set of rules takes it.
accepts[what] contains place if {
	some ruleset in data.rules
	some what, places in ruleset.accept
	some place in places
}

# METADATA
# title: reads_comments
# description: Whether comments of statements may say anything.
# scope: document
default reads_comments := false

reads_comments if {
	some places in accepts
	"comment" in places
}

# METADATA
# title: denied
# description: Why everything is refused to a principal with a token that is not valid; undefined for others.
denied := concat(": ", ["the token is not valid", refusal])

# METADATA
# title: subject
# description: Who the principal is for budgets and for the audit. The client does not choose it.
subject := named if {
	named := tokens.subject_of(claims)
} else := concat("", ["service:", attributes.session.database]) if {
	text(["protocol"]) == "http"
	attributes.session.user == ""
} else := concat("", ["user:", attributes.session.user])

# METADATA
# title: changes
# description: The seconds at which the principal's token begins and ceases to be valid, or is to be verified again.
# scope: document
changes contains moment if some moment in tokens.changes(given(input)[0])

changes contains tokens.retry_at(given(input)[0])

# METADATA
# title: holds
# description: |
#   Whether every attribute that the conditions name has one of the values given for it. What they name of the request
#   itself is asked of is_of.
# scope: document
holds(conditions) if {
	named := attributes_named(object.remove(conditions, {"request"}))
	count(named) > 0
	every condition in named {
		has_one_of(condition[0], condition[1])
	}
}

# Conditions that name nothing but the request.
holds(conditions) if {
	conditions.request
	count(conditions) == 1
}

# METADATA
# title: is_of
# description: |
#   Whether conditions that name the request describe this one, given by its method and its route. A database's
#   principal has none, and both are empty.
is_of(conditions, request) if {
	wanted := conditions.request
	request.method in object.get(wanted, "method", [request.method])
	request.route in object.get(wanted, "route", [request.route])
}

# METADATA
# title: attributes_named
# description: What conditions name, as pairs of the attribute's path and its values.
attributes_named(conditions) := leaves | windows if {
	without_time := object.remove(conditions, {"time"})
	leaves := {leaf | walk(without_time, leaf); is_array(leaf[1])}
	windows := {[["time"], conditions.time] | is_array(conditions.time)}
}

has_one_of(path, values) if {
	not path[0] in {"claims", "client_certificate", "time"}
	value := object.get(attributes, path, "")
	value != ""
	value in values
}

# Source addresses lie in networks.
has_one_of(path, values) if {
	path == ["session", "source"]
	some network in values
	net.cidr_contains(network, attributes.session.source)
}

# Of what has several values, one counts.
has_one_of(path, values) if {
	path[0] in {"claims", "client_certificate"}
	some value in elements(object.get(attributes, path, []))
	value != ""
	value in values
}

has_one_of(path, values) if {
	path == ["time"]
	clock.within(values)
}

elements(claim) := claim if is_array(claim)

elements(claim) := [claim] if not is_array(claim)

text(path) := value if {
	value := object.get(input, path, "")
	is_string(value)
} else := ""

# What is said of one statement goes before what is said of the session, and that before the connection's name.
default purpose := ""

purpose := said[0] if {
	said := [purpose |
		some place in ["comment", "session", "application_name"]
		purpose := purpose_in(place)
		purpose != ""
	]
	count(said) > 0
}

purpose_in("session") := text(["session", "purpose"])

purpose_in("comment") := text(["comment", "purpose"]) if "comment" in accepts.purpose

# Two different ones are none.
purpose_in("application_name") := purpose if {
	"application_name" in accepts.purpose
	purposes := {trim_prefix(word, "fieldveil.purpose=") |
		some word in regex.split(`[ \t,;]+`, text(["session", "application_name"]))
		startswith(word, "fieldveil.purpose=")
	}
	count(purposes) == 1
	some purpose in purposes
}

workload_labels[name] := value if {
	some name, value in input.workload.labels
	is_string(value)
}

default client_certificate := {}

client_certificate := input.client_certificate if is_object(input.client_certificate)

headers[name] := value if {
	some name, value in input.headers
	is_string(value)
}

default claims := {}

claims := tokens.claims(given(input)[0]) if {
	not denied
} else := verified_before if {
	count(given(input)) == 0
	verified_before := object.get(input, "claims", {})
	is_object(verified_before)
}

# The statement's token takes the place of the session's. A function, for the value of a rule stands in the answer to
# whoever asks for the whole package.
given(asked) := [token |
	some path in [["comment", "token"], ["token"]]
	token := object.get(asked, path, "")
	token != ""
]

refusal := "comments may bring none here" if {
	object.get(input, ["comment", "token"], "") != ""
	not comment_token_accepted
} else := tokens.refusal(given(input)[0])

comment_token_accepted if "comment" in accepts.token
