# METADATA
# title: Treatments
# description: |
#   What the principal gets of a label. The strictest of all rules that speak of both wins, whatever their order;
#   where none speaks: conceal, and no writing.
package fieldveil.treatment

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
# title: speaks_of
# description: Whether a rule's patterns take in a label.
speaks_of(rule, label) if {
	some pattern in rule.labels
	glob.match(pattern, ["."], label)
}

# METADATA
# title: read
# description: What the principal reads of a label.
read(label) := strictest(given(label) | limits(label))

# METADATA
# title: write
# scope: document
# description: Whether the principal may write a label.
default write(_) := "refuse"

write(label) := "seal" if {
	not write_refused(label)
	some grant in granting
	grant.write == "seal"
	speaks_of(grant, label)
}

write_refused(label) if {
	some rule in (granting | limiting)
	rule.write == "refuse"
	speaks_of(rule, label)
}

granting contains rule if {
	some rule in rules
	principal.holds(rule.who)
}

# Limits hold unless it is shown that they do not: what is missing from the input lifts none.
limiting contains rule if {
	some rule in rules
	unless := rule.unless
	not principal.holds(unless)
}

given(label) := reads if {
	reads := reads_of(granting, label)
	count(reads) > 0
} else := {{"treatment": "conceal"}}

limits(label) := reads_of(limiting, label)

reads_of(some_rules, label) := {rule.read | some rule in some_rules; speaks_of(rule, label)}

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
