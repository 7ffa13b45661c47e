# METADATA
# title: Treatments
# description: |
#   What the principal gets of a label. The strictest of all rules that speak of both wins, whatever their order;
#   where none speaks: conceal, and no writing.
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
labels_like[pattern] := {label |
	some label, _ in columns.definitions
	is_like(label, pattern)
} if {
	some pattern in patterns
}

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
# title: read
# description: What the principal reads of a label.
read(label) := {"treatment": "refuse"} if {
	principal.denied
} else := together({in_full(said, label) | some said in strictest_reads(label)})

# METADATA
# title: write
# description: Whether the principal may write a label.
# scope: document
default write(_) := "refuse"

write(label) := "seal" if {
	not principal.denied
	writes(label) == {"seal"}
}

# METADATA
# title: reading
# description: What the principal reads of a label, and the names of the rules that decide it.
reading(label) := {"read": read(label), "read_by": named("read", strictest_reads(label), label)}

# METADATA
# title: writing
# description: Whether the principal may write a label, and the names of the rules that decide it.
writing(label) := {"write": write(label), "write_by": named("write", {write(label)}, label)}

# METADATA
# title: break_glass
# description: The break-glass rules that hold for the one who asks.
break_glass := [rule | some rule in giving; rule.break_glass]

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

# The rules that give something to the one who asks.
giving := [rule |
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
limiting := [rule |
	some rule in rules
	unless := rule.unless
	not principal.holds(unless)
]

# What these rules say of reading and of writing, and of which labels. What several say alike is there once: that is
# what keeps many rules on many labels cheap.
given := said_by(giving)

given_in_emergency := said_by(break_glass)

limited := said_by(limiting)

said_by(some_rules) := {what: {[rule[what], labels_of(rule)] | some rule in some_rules; rule[what]} |
	some what in ["read", "write"]
}

of_label(said, label) := {one[0] | some one in said; label in one[1]}

# Where a break-glass rule says something of a label, no other rule gives it.
given_of(what, label) := of_label(given_in_emergency[what], label) if {
	is_emergency(what, label)
} else := of_label(given[what], label)

is_emergency(what, label) if count(of_label(given_in_emergency[what], label)) > 0

reads(label) := given_reads | of_label(limited.read, label) if {
	given_reads := given_of("read", label)
	count(given_reads) > 0
} else := {{"treatment": "conceal"}} | of_label(limited.read, label)

writes(label) := given_of("write", label) | of_label(limited.write, label)

strictest_reads(label) := {said | some said in reads(label); strictness(said) == least} if {
	least := min({strictness(said) | some said in reads(label)})
}

strictness(said) := 4 if {
	said.budget
} else := {"refuse": 0, "null": 1, "conceal": 2, "mask": 3, "reveal": 5}[said.treatment]

# The rules that say one of these of a label.
named(what, said, label) := sort({rule.name |
	not principal.denied
	some rule in array.concat(applying(what, label), limiting)
	rule[what] in said
	label in labels_of(rule)
})

applying(what, label) := break_glass if {
	is_emergency(what, label)
} else := giving

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
