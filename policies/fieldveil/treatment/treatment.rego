# METADATA
# title: Treatments
# description: |
#   What the principal gets of a label in a request, which is its method and its route where rules tell them apart; of a
#   database none. The strictest of all rules that speak of all of them wins, whatever their order; where none speaks:
#   conceal, and no writing.
package fieldveil.treatment

import data.fieldveil.budgets
import data.fieldveil.clock
import data.fieldveil.columns
import data.fieldveil.principal

# METADATA
# title: rulesets
# description: Every set of rules, by name.
rulesets[name] := ruleset if some name, ruleset in data.rules

# METADATA
# title: rules
# description: Every rule of every set (data.rules.<name>).
rules contains rule if {
	some ruleset in rulesets
	some rule in ruleset.rules
}

# METADATA
# title: labels_like
# description: For each pattern of a rule, the labels that it names.
labels_like[pattern] := labels_named(pattern) if some pattern in patterns

# Most patterns are a label's name, which is looked up: the rest are held against every label.
labels_named(pattern) := {label | some label, _ in columns.definitions; is_like(label, pattern)} if {
	contains(pattern, "*")
} else := {pattern} if {
	columns.definitions[pattern]
} else := set()

# METADATA
# title: is_like
# description: Whether a pattern names a label. Without an asterisk it names itself.
# scope: document
is_like(label, pattern) if label == pattern

is_like(label, pattern) if {
	contains(pattern, "*")
	glob.match(pattern, ["."], label)
}

patterns contains pattern if {
	some rule in rules
	some pattern in rule.labels
}

# METADATA
# title: labels_of
# description: The labels that a rule speaks of.
labels_of(rule) := union({labels_like[pattern] | some pattern in rule.labels})

# METADATA
# title: no_request
# description: What a database's session is, and a request between which and others no rule makes a difference.
no_request := {"method": "", "route": ""}

# METADATA
# title: read
# description: What the principal reads of a label in a request.
read(label, request) := {"treatment": "refuse"} if {
	principal.denied
} else := together({in_full(said, label) | some said in strictest_reads(label, request)})

# METADATA
# title: write
# description: Whether the principal may write a label in a request.
# scope: document
default write(_, _) := "refuse"

write(label, request) := "seal" if {
	not principal.denied
	writes(label, request) == {"seal"}
}

# METADATA
# title: reading
# description: What the principal reads of a label in a request, and the names of the rules that decide it.
reading(label, request) := {
	"read": read(label, request),
	"read_by": named("read", strictest_reads(label, request), label, request),
}

# METADATA
# title: writing
# description: Whether the principal may write a label in a request, and the names of the rules that decide it.
writing(label, request) := {
	"write": write(label, request),
	"write_by": named("write", {write(label, request)}, label, request),
}

# METADATA
# title: break_glass
# description: The break-glass rules that hold for the one who asks in a request.
break_glass(request) := [rule | some rule in giving(request); rule.break_glass]

# METADATA
# title: changes
# description: The seconds at which what rules give may change by time alone.
# scope: document
changes contains moment if {
	some rule in rules
	moment := clock.seconds(rule.break_glass.expires)
}

changes contains moment if {
	some rule in rules
	some conditions in ["who", "unless"]
	moment := clock.next_change(rule[conditions].time)
}

# The rules that give something to the one who asks, in a request. Most name no request, and are asked once for all.
giving(request) := array.concat(giving_always, [rule |
	some rule in giving_in_some
	principal.is_of(rule.who, request)
])

giving_always := [rule | some rule in giving_somewhere; not rule.who.request]

giving_in_some := [rule | some rule in giving_somewhere; rule.who.request]

giving_somewhere := [rule |
	some rule in rules
	not expired(rule)
	principal.holds(rule.who)
]

# What can not be told to lie ahead has expired.
expired(rule) if {
	"break_glass" in object.keys(rule)
	not is_open(rule)
}

is_open(rule) if clock.now < clock.seconds(rule.break_glass.expires)

# Limits hold unless it is shown that they do not: what is missing from the input lifts none.
limiting(request) := array.concat(limiting_always, [rule |
	some rule in limiting_in_some
	not principal.is_of(rule.unless, request)
])

limiting_always := [rule |
	some rule in rules
	unless := rule.unless
	not principal.holds(unless)
]

# Those that some requests lift.
limiting_in_some := [rule |
	some rule in rules
	rule.unless.request
	principal.holds(rule.unless)
]

# What these rules say of reading and of writing, and of which labels. What several say alike is there once: that is
# what keeps many rules on many labels cheap.
given(request) := said_by(giving(request))

given_in_emergency(request) := said_by(break_glass(request))

limited(request) := said_by(limiting(request))

said_by(some_rules) := {what: {[rule[what], labels_of(rule)] | some rule in some_rules; rule[what]} |
	some what in ["read", "write"]
}

of_label(said, label) := {one[0] | some one in said; label in one[1]}

# Where a break-glass rule says something of a label, no other rule gives it.
given_of(what, label, request) := of_label(given_in_emergency(request)[what], label) if {
	is_emergency(what, label, request)
} else := of_label(given(request)[what], label)

is_emergency(what, label, request) if count(of_label(given_in_emergency(request)[what], label)) > 0

reads(label, request) := given_reads | of_label(limited(request).read, label) if {
	given_reads := given_of("read", label, request)
	count(given_reads) > 0
} else := {{"treatment": "conceal"}} | of_label(limited(request).read, label)

writes(label, request) := given_of("write", label, request) | of_label(limited(request).write, label)

strictest_reads(label, request) := {said | some said in reads(label, request); strictness(said) == least} if {
	least := min({strictness(said) | some said in reads(label, request)})
}

strictness(said) := 4 if {
	said.budget
} else := {"refuse": 0, "null": 1, "conceal": 2, "mask": 3, "reveal": 5}[said.treatment]

# The rules that say one of these of a label.
named(what, said, label, request) := sort({rule.name |
	not principal.denied
	some rule in array.concat(applying(what, label, request), limiting(request))
	rule[what] in said
	label in labels_of(rule)
})

applying(what, label, request) := break_glass(request) if {
	is_emergency(what, label, request)
} else := giving(request)

# A mask without a format is the label's own.
in_full(said, label) := masked(said, label) if {
	not said.budget
} else := json.patch(said, [{"op": "replace", "path": "budget/then", "value": masked(said.budget.then, label)}])

masked(said, label) := said if {
	not lacks_format(said)
} else := {"treatment": "mask", "format": columns.masks[label]} if {
	columns.masks[label]
} else := {"treatment": "null"}

lacks_format(said) if {
	said.treatment == "mask"
	not said.format
}

# Of two masks neither is the stricter: they show different parts.
together(alternatives) := one if {
	count(alternatives) == 1
	some one in alternatives
} else := {"treatment": "reveal", "budget": budgets.together({one.budget | some one in alternatives})} if {
	every one in alternatives {
		one.budget
	}
} else := {"treatment": "conceal"}
