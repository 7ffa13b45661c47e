package fieldveil.treatment_test

import data.fieldveil.tokens_test
import data.fieldveil.treatment

# Break-glass.

glass(decision, expires) := object.union(
	{
		"name": "glass",
		"who": ann,
		"labels": ["a.b"],
		"break_glass": {"reason": "INC-42 refunds stuck", "expires": expires},
	},
	decision,
)

open_glass(decision) := glass(decision, "2026-03-02T12:00:00Z")

at(moment) := time.parse_rfc3339_ns(moment)

reading_at(rules, moment) := read if {
	read := treatment.read("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as set_of(rules)
		with time.now_ns as at(moment)
}

writing_at(rules, moment) := write if {
	write := treatment.write("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as set_of(rules)
		with time.now_ns as at(moment)
}

before := "2026-03-02T11:59:59Z"

after := "2026-03-02T12:00:00Z"

seal := {"name": "s", "who": ann, "labels": ["a.b"], "write": "seal"}

no_seal := object.union(seal, {"write": "refuse"})

test_until_it_expires_break_glass_takes_the_place_of_what_others_give if {
	every other in [reveal, last4, conceal, null_, refuse] {
		rules := [grant(other), open_glass({"read": reveal})]
		reading_at(rules, before) == reveal
		reading_at(rules, after) == other
	}
	reading_at([open_glass({"read": reveal})], before) == reveal
	reading_at([open_glass({"read": reveal})], after) == conceal
	reading_at([grant(reveal), open_glass({"read": last4})], before) == last4
}

test_break_glass_may_let_write if {
	writing_at([open_glass({"write": "seal"})], before) == "seal"
	writing_at([open_glass({"write": "seal"})], after) == "refuse"
	writing_at([no_seal, open_glass({"write": "seal"})], before) == "seal"
	writing_at([seal, open_glass({"write": "refuse"})], before) == "refuse"
	writing_at([seal, open_glass({"write": "refuse"})], after) == "seal"
}

test_what_it_does_not_say_stays_as_it_is if {
	writing_at([seal, open_glass({"read": reveal})], before) == "seal"
	writing_at([no_seal, open_glass({"read": reveal})], before) == "refuse"
	reading_at([grant(last4), open_glass({"write": "seal"})], before) == last4
	elsewhere := object.union(open_glass({"read": reveal, "write": "seal"}), {"labels": ["public.**"]})
	reading_at([grant(null_), no_seal, elsewhere], before) == null_
	writing_at([seal, elsewhere], before) == "seal"
}

test_limits_hold_under_break_glass if {
	nowhere := {"name": "l", "unless": {"workload": {"namespace": ["vault"]}}, "labels": ["a.b"]}
	rules := [open_glass({"read": reveal, "write": "seal"}), object.union(nowhere, {"read": last4, "write": "refuse"})]
	reading_at(rules, before) == last4
	writing_at(rules, before) == "refuse"
}

test_of_two_break_glass_rules_the_strictest_counts if {
	reading_at([open_glass({"read": reveal}), open_glass({"read": last4}), grant(refuse)], before) == last4
	reading_at([open_glass({"read": reveal}), glass({"read": null_}, "2026-03-02T11:00:00Z")], before) == reveal
}

test_break_glass_is_for_those_that_it_describes if {
	for_bob := object.union(open_glass({"read": reveal}), {"who": {"session": {"user": ["bob"]}}})
	reading_at([for_bob, grant(null_)], before) == null_
}

test_break_glass_without_a_time_has_expired if {
	every expires in ["", "tomorrow", "2026-13-02T12:00:00Z", null, 5, true] {
		reading_at([glass({"read": reveal}, expires), grant(last4)], before) == last4
	}
	no_time := json.remove(open_glass({"read": reveal}), ["break_glass/expires"])
	reading_at([no_time, grant(last4)], before) == last4
	every odd in [{}, null, false, "INC-42"] {
		reading_at([object.union(no_time, {"break_glass": odd}), grant(last4)], before) == last4
	}
}

changes(rules, moment) := found if {
	found := treatment.changes with data.catalog as catalog
		with data.rules as set_of(rules)
		with time.now_ns as at(moment)
}

second(moment) := floor(at(moment) / 1000000000)

test_what_rules_give_changes_with_windows_and_when_break_glass_expires if {
	changes([grant(reveal), limit(last4)], before) == set()
	changes([grant(reveal), open_glass({"read": reveal})], before) == {second("2026-03-02T12:00:00Z")}
	office := {"time": [{"from": "08:00", "to": "18:00"}]}
	morning := {"time": [{"to": "14:00"}]}
	timed := [object.union(grant(reveal), {"who": office}), object.union(limit(last4), {"unless": morning})]
	changes(timed, before) == {second("2026-03-02T18:00:00Z"), second("2026-03-02T14:00:00Z")}
}

# Who decides.

named(name, rule) := object.union(rule, {"name": name})

deciding(rules) := {"read_by": reading.read_by, "write_by": writing.write_by} if {
	reading := treatment.reading("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as set_of(rules)
		with time.now_ns as at(before)
	writing := treatment.writing("a.b", treatment.no_request) with input as asking
		with data.catalog as catalog
		with data.rules as set_of(rules)
		with time.now_ns as at(before)
}

test_the_rules_that_decide_are_named if {
	outside := {"unless": {"workload": {"namespace": ["vault"]}}}
	every case in [
		[[], [], []],
		[[named("one", grant(reveal))], ["one"], []],
		[[named("one", grant(reveal)), named("two", grant(reveal))], ["one", "two"], []],
		[[named("one", grant(reveal)), named("two", grant(null_))], ["two"], []],
		[[named("one", grant(last4)), named("two", grant(email))], ["one", "two"], []],
		[[named("one", grant(some_rows)), named("two", grant(within(1, 1, null_)))], ["one", "two"], []],
		[[named("one", grant(reveal)), object.union(named("two", limit(last4)), outside)], ["two"], []],
		[[object.union(named("two", limit(last4)), outside)], [], []],
		[[object.union(named("two", limit(refuse)), outside)], ["two"], []],
		[[named("one", grant(refuse)), named("two", open_glass({"read": reveal}))], ["two"], []],
		[[named("one", seal)], [], ["one"]],
		[[named("one", seal), named("two", no_seal)], [], ["two"]],
		[[named("one", seal), {"name": "two", "unless": outside.unless, "labels": ["**"], "write": "refuse"}], [], ["two"]],
		[[named("one", no_seal), named("two", open_glass({"write": "seal"}))], [], ["two"]],
	] {
		[rules, read_by, write_by] := case
		deciding(rules) == {"read_by": read_by, "write_by": write_by}
	}
}

test_a_token_that_is_not_valid_refuses_everything_and_no_rule_decides if {
	with_token := object.union(asking, {"token": tokens_test.token({"exp": 5})})
	rules := set_of([grant(reveal), seal, open_glass({"read": reveal, "write": "seal"})])
	reading := treatment.reading("a.b", treatment.no_request) with input as with_token
		with data.catalog as catalog
		with data.rules as rules
		with data.tokens as {"test": tokens_test.issuer}
		with time.now_ns as at(before)
	reading == {"read": refuse, "read_by": []}
	writing := treatment.writing("a.b", treatment.no_request) with input as with_token
		with data.catalog as catalog
		with data.rules as rules
		with data.tokens as {"test": tokens_test.issuer}
		with time.now_ns as at(before)
	writing == {"write": "refuse", "write_by": []}
}
