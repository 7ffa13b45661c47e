# METADATA
# title: Budgets
# description: Several budgets for one label as the one that is not looser than any of them.
package fieldveil.budgets

# METADATA
# title: together
# description: The least rows in the longest time, and the strictest of what follows.
together(budgets) := {
	"rows": min({budget.rows | some budget in budgets}),
	"per_seconds": max({budget.per_seconds | some budget in budgets}),
	"then": strictest({budget.then | some budget in budgets}),
}

# Of two masks neither is the stricter, as they show different parts: null.
strictest(treatments) := {"treatment": "refuse"} if {
	{"treatment": "refuse"} in treatments
} else := treatment if {
	count(treatments) == 1
	some treatment in treatments
} else := {"treatment": "null"}
