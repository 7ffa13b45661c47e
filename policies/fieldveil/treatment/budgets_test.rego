package fieldveil.treatment_test

import data.fieldveil.treatment

within(rows, per_seconds, then) := {
	"treatment": "reveal",
	"budget": {"rows": rows, "per_seconds": per_seconds, "then": then},
}

some_rows := within(500, 60, last4)

test_a_budget_is_stricter_than_to_reveal_and_less_strict_than_a_mask if {
	reading([grant(some_rows)]) == some_rows
	reading([grant(some_rows), grant(reveal)]) == some_rows
	reading([grant(reveal), grant(some_rows)]) == some_rows
	every stricter in [last4, conceal, null_, refuse] {
		reading([grant(some_rows), grant(stricter)]) == stricter
	}
}

test_two_budgets_are_as_one_that_is_no_looser if {
	reading([grant(some_rows), grant(some_rows)]) == some_rows
	reading([grant(some_rows), grant(within(100, 10, refuse))]) == within(100, 60, refuse)
	reading([grant(some_rows), grant(within(100, 10, email)), grant(reveal)]) == within(100, 60, null_)
}

test_a_limit_may_set_a_budget if {
	rules := [grant(reveal), limit(some_rows)]
	reading(rules) == reveal
	reading_elsewhere(rules) == some_rows
	reading_elsewhere([limit(some_rows)]) == conceal
	reading_elsewhere([grant(last4), limit(some_rows)]) == last4
}

# A mask without a format.

mask := {"treatment": "mask"}

own_mask(format) := {"test": {"databases": [], "labels": {"a.b": {
	"protection": "randomized",
	"keyset": "pii",
	"type": "text",
	"mask": format,
}}}}

reading_with(rules, defined) := read if {
	read := treatment.read("a.b", treatment.no_request) with input as asking
		with data.catalog as defined
		with data.rules as set_of(rules)
}

test_a_mask_without_a_format_is_the_labels_own if {
	every format in ["last4", "email", "partial(1,\"…\",2)"] {
		defined := own_mask(format)
		reading_with([grant(mask)], defined) == {"treatment": "mask", "format": format}
		then := {"treatment": "mask", "format": format}
		reading_with([grant(within(5, 5, mask))], defined) == within(5, 5, then)
	}
}

test_a_rules_format_goes_before_the_labels if {
	reading_with([grant(last4)], own_mask("email")) == last4
	reading_with([grant(within(5, 5, last4))], own_mask("email")) == within(5, 5, last4)
}

test_masks_are_compared_by_the_format_that_they_come_to if {
	reading_with([grant(mask), grant(last4)], own_mask("last4")) == last4
	reading_with([grant(mask), grant(last4)], own_mask("email")) == conceal
	reading_with([grant(within(5, 5, mask)), grant(within(5, 5, last4))], own_mask("email")) == within(5, 5, null_)
}

test_a_mask_that_has_no_format_at_all_shows_nothing if {
	reading([grant(mask)]) == null_
	reading([grant(within(5, 5, mask))]) == within(5, 5, null_)
}
