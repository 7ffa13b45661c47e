package fieldveil.budgets_test

import data.fieldveil.budgets

refuse := {"treatment": "refuse"}

null_ := {"treatment": "null"}

last4 := {"treatment": "mask", "format": "last4"}

first1 := {"treatment": "mask", "format": "first1"}

budget(rows, per_seconds, then) := {"rows": rows, "per_seconds": per_seconds, "then": then}

test_one_budget_is_itself if {
	budgets.together({budget(500, 60, last4)}) == budget(500, 60, last4)
}

test_several_have_the_least_rows_in_the_longest_time if {
	three := {budget(500, 60, last4), budget(100, 10, last4), budget(900, 3600, last4)}
	budgets.together(three) == budget(100, 3600, last4)
}

test_the_strictest_of_what_follows_counts if {
	every case in [
		[{refuse, null_, last4}, refuse],
		[{refuse, null_}, refuse],
		[{refuse, last4}, refuse],
		[{null_, last4}, null_],
		[{last4, first1}, null_],
		[{last4}, last4],
	] {
		[thens, strictest] := case
		budgets.together({budget(5, 5, then) | some then in thens}) == budget(5, 5, strictest)
	}
}
