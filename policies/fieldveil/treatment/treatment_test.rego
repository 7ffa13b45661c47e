package fieldveil.treatment_test

import data.fieldveil.treatment

asking := {"session": {"user": "ann", "database": "shop"}, "workload": {"namespace": "shop"}}

ann := {"session": {"user": ["ann"]}}

catalog := {"test": {"databases": [], "labels": {
	"a.b": {"protection": "randomized", "keyset": "pii", "type": "text"},
	"public.customer.email": {"protection": "randomized", "keyset": "pii", "type": "text"},
}}}

set_of(rules) := {"test": {"rules": rules}}

shop := {"workload": {"namespace": ["shop"]}}

grant(read) := {"name": "r", "who": ann, "labels": ["a.b"], "read": read}

limit(read) := {"name": "r", "unless": shop, "labels": ["a.b"], "read": read}

reading(rules) := read if {
	read := treatment.read("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as set_of(rules)
}

reading_elsewhere(rules) := read if {
	elsewhere := json.remove(asking, ["workload/namespace"])
	read := treatment.read("a.b", treatment.no_request) with input as elsewhere
		with data.catalog as catalog
		with data.rules as set_of(rules)
}

labels_of(patterns) := labels if {
	rule := {"name": "r", "who": ann, "labels": patterns}
	labels := treatment.labels_of(rule) with data.catalog as catalog with data.rules as {"test": {"rules": [rule]}}
}

writing(rules) := write if {
	write := treatment.write("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as set_of(rules)
}

reveal := {"treatment": "reveal"}

last4 := {"treatment": "mask", "format": "last4"}

email := {"treatment": "mask", "format": "email"}

conceal := {"treatment": "conceal"}

null_ := {"treatment": "null"}

refuse := {"treatment": "refuse"}

test_without_a_rule_conceal_and_no_writing if {
	reading([]) == conceal
	writing([]) == "refuse"
}

test_one_rule_is_followed if {
	every read in {reveal, last4, conceal, null_, refuse} {
		reading([grant(read)]) == read
	}
}

test_the_strictest_of_two_rules_wins_in_either_order if {
	strictest_first := [refuse, null_, conceal, last4, reveal]
	every i, stricter in strictest_first {
		every other in array.slice(strictest_first, i, 5) {
			reading([grant(stricter), grant(other)]) == stricter
			reading([grant(other), grant(stricter)]) == stricter
		}
	}
}

test_rules_of_all_sets_count if {
	rules := {"one": {"rules": [grant(reveal)]}, "two": {"rules": [grant(refuse)]}}
	refuse == treatment.read("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as rules
}

test_of_two_mask_formats_neither_is_stricter_so_conceal if {
	reading([grant(last4), grant(email)]) == conceal
	reading([grant(last4), grant(email), grant(reveal)]) == conceal
	reading([grant(last4), grant(email), grant(refuse)]) == refuse
	reading([grant(last4), grant(last4)]) == last4
}

test_a_rule_for_somebody_else_or_another_label_does_not_count if {
	reading([object.union(grant(reveal), {"who": {"session": {"user": ["bob"]}}})]) == conceal
	reading([json.patch(grant(reveal), [{"op": "replace", "path": "labels", "value": ["a", "a.c", "a.b.c"]}])]) == conceal
}

test_labels_are_named_by_pattern if {
	every pattern in {"a.b", "a.*", "*.b", "a.**", "*.*"} {
		labels_of([pattern]) == {"a.b"}
	}
	every pattern in {"*", "a", "a.b.*", "b.*", "A.b", "a.?", "public.*"} {
		labels_of([pattern]) == set()
	}
	labels_of(["public.customer.*"]) == {"public.customer.email"}
	labels_of(["**"]) == {"a.b", "public.customer.email"}
	labels_of(["a", "a.b", "public.**"]) == {"a.b", "public.customer.email"}
}

test_a_limit_holds_unless_its_conditions_do if {
	reading([grant(reveal), limit(refuse)]) == reveal
	reading_elsewhere([grant(reveal), limit(refuse)]) == refuse
	reading_elsewhere([grant(reveal), limit(last4)]) == last4
}

test_a_limit_gives_nothing_to_whom_no_rule_gives if {
	reading([limit(last4)]) == conceal
	reading_elsewhere([limit(last4)]) == conceal
}

test_a_limit_does_not_loosen_a_rule if {
	reading_elsewhere([grant(null_), limit(last4)]) == null_
	reading_elsewhere([grant(email), limit(last4)]) == conceal
}

test_writing_must_be_given_and_is_refused_by_one_rule if {
	seal := {"name": "r", "who": ann, "labels": ["a.*"], "write": "seal"}
	no := {"name": "r", "who": ann, "labels": ["*.b"], "write": "refuse"}
	writing([seal]) == "seal"
	writing([seal, no]) == "refuse"
	writing([no, seal]) == "refuse"
	writing([object.union(seal, {"who": {"session": {"user": ["bob"]}}})]) == "refuse"
	writing([object.union(seal, {"labels": ["c.d"]})]) == "refuse"
}

test_writing_can_be_limited if {
	seal := {"name": "r", "who": ann, "labels": ["a.b"], "write": "seal"}
	writing([seal, {"name": "r", "unless": shop, "labels": ["**"], "write": "refuse"}]) == "seal"
	elsewhere := {"workload": {"namespace": ["elsewhere"]}}
	writing([seal, {"name": "r", "unless": elsewhere, "labels": ["**"], "write": "refuse"}]) == "refuse"
}

test_a_rule_on_reading_says_nothing_of_writing_and_the_other_way_round if {
	writing([grant(reveal)]) == "refuse"
	reading([{"name": "r", "who": ann, "labels": ["a.b"], "write": "seal"}]) == conceal
	writing([grant(refuse), {"name": "r", "who": ann, "labels": ["a.b"], "write": "seal"}]) == "seal"
}
