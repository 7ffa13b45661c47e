package fieldveil.problems

import data.fieldveil.clock
import data.fieldveil.principal
import data.fieldveil.treatment

# What the client chooses, or what is the same for everybody. A database is chosen too, by whoever may connect to it.
chosen_freely := {
	["session", "application_name"],
	["session", "database"],
	["session", "purpose"],
	["session", "role"],
	["request", "method"],
	["request", "route"],
	["time"],
}

break_glass_seconds := (30 * 24) * 3600

found contains problem if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	gives(rule)
	paths_named(rule.who) - chosen_freely == set()
	problem := {
		"path": ["rules", name, "rules", i, "who"],
		"reason": "it gives something to whoever says the right words: the client chooses all that it names",
		"remedy": "name session.user, workload, listener, session.source, client_certificate, a header or a claim beside it",
	}
}

found contains problem if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	some conditions in ["who", "unless"]
	named := paths_named(rule[conditions])
	["session", "role"] in named
	not says_who(named)
	problem := {
		"path": ["rules", name, "rules", i, conditions, "session", "role"],
		"reason": "SET ROLE widens nothing by itself",
		"remedy": "name session.user, client_certificate or a claim beside it",
	}
}

found contains problem if {
	some window in windows
	not zone_known(window.window)
	problem := {
		"path": array.concat(window.path, ["zone"]),
		"reason": sprintf("%v is no zone of the time zone database", [window.window.zone]),
		"remedy": "write one such as Europe/Berlin, or leave it out for UTC",
	}
}

found contains problem if {
	some window in windows
	clock.is_empty(window.window)
	problem := {
		"path": window.path,
		"reason": "it ends at the minute at which it begins",
		"remedy": "change from or to, or leave both out for the whole day",
	}
}

found contains problem if {
	some glass in break_glasses
	regex.match(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T`, glass.expires) # of another form is what the schema says
	not is_moment(glass.expires)
	problem := {
		"path": glass.path,
		"reason": sprintf("%v is no time", [glass.expires]),
		"remedy": "write one of RFC 3339, such as 2027-03-01T18:00:00Z",
	}
}

found contains problem if {
	some glass in break_glasses
	clock.seconds(glass.expires) > clock.now + break_glass_seconds
	problem := {
		"path": glass.path,
		"reason": "it is more than 30 days ahead",
		"remedy": "break glass for 30 days at most, or give a rule without break_glass",
	}
}

gives(rule) if rule.read.treatment in {"reveal", "mask"}

gives(rule) if rule.write == "seal"

paths_named(conditions) := {attribute[0] | some attribute in principal.attributes_named(conditions)}

says_who(named) if ["session", "user"] in named

says_who(named) if {
	some path in named
	path[0] in {"claims", "client_certificate"}
}

# Every window of time, with its place.
windows contains window if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	some conditions in ["who", "unless"]
	some j, one in rule[conditions].time
	window := {"path": ["rules", name, "rules", i, conditions, "time", j], "window": one}
}

# Local is a zone to the library: that of whatever machine OPA runs on.
zone_known(window) if {
	zone := object.get(window, "zone", "UTC")
	zone != "Local"
	time.clock([0, zone])
}

break_glasses contains glass if {
	some name, ruleset in treatment.rulesets
	some i, rule in ruleset.rules
	expires := rule.break_glass.expires
	glass := {"path": ["rules", name, "rules", i, "break_glass", "expires"], "expires": expires}
}

is_moment(text) if clock.seconds(text)
