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
labels_of(rule) := {label |
	some pattern in rule.labels
	some label in labels_like[pattern]
}

# METADATA
# title: read
# description: What the principal reads of a label.
read(label) := reading(label).read

# METADATA
# title: write
# description: Whether the principal may write a label.
write(label) := writing(label).write

# METADATA
# title: reading
# description: What the principal reads of a label, and the names of the rules that decide it.
# scope: document
reading(label) := {"read": {"treatment": "refuse"}, "read_by": []} if {
	principal.denied
} else := {"read": read, "read_by": names} if {
	said := array.concat(given(label), said_of(limiting, label))
	deciding := strictest(said)
	read := together({entry.read | some entry in deciding})
	names := sort({entry.name | some entry in deciding; entry.name != ""})
}

# METADATA
# title: writing
# description: Whether the principal may write a label, and the names of the rules that decide it.
# scope: document
writing(label) := {"write": "refuse", "write_by": []} if {
	principal.denied
} else := {"write": "refuse", "write_by": names} if {
	names := writing_by(array.concat(granting("write", label), limiting), "refuse", label)
	count(names) > 0
} else := {"write": "seal", "write_by": names} if {
	names := writing_by(granting("write", label), "seal", label)
	count(names) > 0
} else := {"write": "refuse", "write_by": []}

# METADATA
# title: break_glass
# description: The break-glass rules that hold for the one who asks, each with the labels that it speaks of.
break_glass := [entry | some entry in giving; entry.rule.break_glass]

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

# The rules that give something to the one who asks, each with the labels that it speaks of.
giving := [{"rule": rule, "labels": labels_of(rule)} |
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
limiting := [{"rule": rule, "labels": labels_of(rule)} |
	some rule in rules
	unless := rule.unless
	not principal.holds(unless)
]

# Where a break-glass rule says something of a label, no other rule gives it.
granting(what, label) := entries if {
	entries := [entry |
		some entry in break_glass
		entry.rule[what]
		label in entry.labels
	]
	count(entries) > 0
} else := giving

given(label) := said if {
	said := said_of(granting("read", label), label)
	count(said) > 0
} else := [{"name": "", "read": {"treatment": "conceal"}}]

said_of(entries, label) := [{"name": entry.rule.name, "read": in_full(entry.rule.read, label)} |
	some entry in entries
	label in entry.labels
	entry.rule.read
]

writing_by(entries, write, label) := sort({entry.rule.name |
	some entry in entries
	entry.rule.write == write
	label in entry.labels
})

# A mask without a format is the label's own.
in_full(read, label) := masked(read, label) if {
	not read.budget
} else := json.patch(read, [{"op": "replace", "path": "budget/then", "value": masked(read.budget.then, label)}])

masked(read, label) := read if {
	not lacks_format(read)
} else := {"treatment": "mask", "format": columns.masks[label]} if {
	columns.masks[label]
} else := {"treatment": "null"}

lacks_format(read) if {
	read.treatment == "mask"
	not read.format
}

strictest(said) := [entry | some entry in said; strictness(entry.read) == least] if {
	least := min({strictness(entry.read) | some entry in said})
}

strictness(read) := 4 if {
	read.budget
} else := {"refuse": 0, "null": 1, "conceal": 2, "mask": 3, "reveal": 5}[read.treatment]

# Of two masks neither is the stricter: they show different parts.
together(reads) := read if {
	count(reads) == 1
	some read in reads
} else := {"treatment": "reveal", "budget": budgets.together({read.budget | some read in reads})} if {
	every read in reads {
		read.budget
	}
} else := {"treatment": "conceal"}
