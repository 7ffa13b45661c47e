# METADATA
# title: Treatments
# description: |
#   What the principal gets of a label. The strictest of all rules that speak of both wins, whatever their order;
#   where none speaks: conceal, and no writing.
package fieldveil.treatment

import data.fieldveil.columns
import data.fieldveil.principal

strictest_first := ["refuse", "null", "conceal", "mask", "reveal"]

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
read(label) := strictest(given(label) | reads_of(limiting, label))

# METADATA
# title: write
# description: Whether the principal may write a label.
# scope: document
default write(_) := "refuse"

write(label) := "seal" if {
	write_given(label)
	not write_refused(label)
}

# The rules that give something to the one who asks, each with the labels that it speaks of.
granting := [{"rule": rule, "labels": labels_of(rule)} |
	some rule in rules
	principal.holds(rule.who)
]

# Limits hold unless it is shown that they do not: what is missing from the input lifts none.
limiting := [{"rule": rule, "labels": labels_of(rule)} |
	some rule in rules
	unless := rule.unless
	not principal.holds(unless)
]

given(label) := reads if {
	reads := reads_of(granting, label)
	count(reads) > 0
} else := {{"treatment": "conceal"}}

reads_of(entries, label) := {entry.rule.read |
	some entry in entries
	label in entry.labels
}

write_given(label) if {
	some entry in granting
	entry.rule.write == "seal"
	label in entry.labels
}

write_refused(label) if {
	some entry in array.concat(granting, limiting)
	entry.rule.write == "refuse"
	label in entry.labels
}

strictest(reads) := only(candidates) if {
	treatments := {read.treatment | some read in reads}
	treatment := [name | some name in strictest_first; name in treatments][0]
	candidates := {read | some read in reads; read.treatment == treatment}
}

# Of two masks neither is the stricter: they show different parts.
only(candidates) := candidate if {
	count(candidates) == 1
	some candidate in candidates
} else := {"treatment": "conceal"}
