package fieldveil.problems_test

import data.fieldveil.problems

in_rule(path) := array.concat(["rules", "test", "rules", 0], path)

office := {"time": [{"from": "08:00", "to": "18:00"}]}

test_a_rule_gives_nothing_to_whoever_says_the_right_words if {
	every who in [
		{"session": {"application_name": ["billing"]}},
		{"session": {"purpose": ["refund"]}},
		{"session": {"purpose": ["refund"], "application_name": ["billing"]}},
		office,
		object.union(office, {"session": {"purpose": ["refund"]}}),
		{"session": {"database": ["shop"]}},
		{"request": {"method": ["GET"], "route": ["/x"]}},
		object.union(office, {"session": {"database": ["shop"], "purpose": ["refund"]}}),
	] {
		every decision in [
			{"read": {"treatment": "reveal"}},
			{"read": {"treatment": "mask", "format": "last4"}},
			{"read": budget_then({"treatment": "null"})},
			{"write": "seal"},
		] {
			of_grant(who, decision) == {problem(
				in_rule(["who"]),
				"it gives something to whoever says the right words: the client chooses all that it names",
				"name session.user, workload, listener, session.source, client_certificate, a header or a claim beside it",
			)}
			every trusted in [
				{"session": {"user": ["ann"]}},
				{"session": {"source": ["10.0.0.0/8"]}},
				{"workload": {"namespace": ["shop"]}},
				{"listener": ["orders-db"]},
				{"claims": {"team": ["billing"]}},
				{"workload": {"labels": {"team": ["billing"]}}},
				{"headers": {"x-team": ["billing"]}},
			] {
				of_grant(object.union(who, trusted), decision) == set()
			}
		}
		every decision in [{"read": {"treatment": "conceal"}}, {"read": {"treatment": "refuse"}, "write": "refuse"}] {
			of_grant(who, decision) == set()
		}
	}
}

of_grant(who, decision) := of_one(object.union({"name": "g", "who": who, "labels": ["a"]}, decision))

of_limit_unless(unless) := of_one({"name": "l", "unless": unless, "labels": ["a"], "read": {"treatment": "refuse"}})

of_one(one) := found if {
	found := problems.found with data.catalog as {"test": catalog}
		with data.rules as {"test": {"rules": [one]}}
		with time.now_ns as time.parse_rfc3339_ns("2026-03-02T12:00:00Z")
}

test_what_the_client_chooses_may_lift_a_limit if {
	of_limit_unless({"session": {"purpose": ["refund"]}}) == set()
	of_limit_unless(office) == set()
}

by_itself(conditions) := problem(
	in_rule([conditions, "session", "role"]),
	"SET ROLE widens nothing by itself",
	"name session.user, client_certificate or a claim beside it",
)

test_a_role_needs_a_user_or_a_claim_beside_it if {
	role := {"session": {"role": ["billing"]}}
	conceal := {"read": {"treatment": "conceal"}}
	every other in [{}, {"workload": {"namespace": ["shop"]}}, {"listener": ["orders-db"]}, office] {
		of_grant(object.union(role, other), conceal) == {by_itself("who")}
		of_limit_unless(object.union(role, other)) == {by_itself("unless")}
	}
	every other in [{"session": {"user": ["ann"]}}, {"claims": {"realm": {"roles": ["x"]}}}] {
		of_grant(object.union(role, other), {"read": {"treatment": "reveal"}}) == set()
		of_limit_unless(object.union(role, other)) == set()
	}
}

ann_in(windows) := {"session": {"user": ["ann"]}, "time": windows}

test_a_zone_that_is_not_known_is_a_problem if {
	every zone in ["Europe/Atlantis", "CET+1", "Local", "../etc"] {
		windows := [{"days": ["mon"]}, {"from": "08:00", "zone": zone}]
		of_grant(ann_in(windows), {"read": {"treatment": "reveal"}}) == {problem(
			in_rule(["who", "time", 1, "zone"]),
			sprintf("%v is no zone of the time zone database", [zone]),
			"write one such as Europe/Berlin, or leave it out for UTC",
		)}
	}
	every zone in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"] {
		of_limit_unless({"time": [{"from": "08:00", "zone": zone}]}) == set()
	}
}

test_a_window_without_a_minute_is_a_problem if {
	every window in [{"from": "08:00", "to": "08:00"}, {"days": ["mon"], "to": "00:00"}] {
		of_limit_unless({"time": [window]}) == {problem(
			in_rule(["unless", "time", 0]),
			"it ends at the minute at which it begins",
			"change from or to, or leave both out for the whole day",
		)}
	}
}

test_a_window_of_another_shape_is_a_problem if {
	every window in [
		{},
		{"zone": "UTC"},
		{"days": []},
		{"days": ["monday"]},
		{"from": "8:00"},
		{"from": "24:00"},
		{"to": "12:60"},
		{"from": "08:00", "until": "09:00"},
	] {
		some one in of_grant(ann_in([window]), {"read": {"treatment": "reveal"}})
		array.slice(one.path, 0, 6) == in_rule(["who", "time"])
	}
}

glass(patch) := object.union(rule, {"break_glass": object.union(
	{"reason": "INC-42", "expires": "2026-03-03T12:00:00Z"},
	patch,
)})

test_labels_of_the_workload_of_another_shape_are_a_problem if {
	every labels in [
		{},
		{"": ["x"]},
		{"team ": ["x"]},
		{"a/b/c": ["x"]},
		{"team": "x"},
		{"team": []},
		{"team": [""]},
		["team"],
	] {
		some one in of_limit_unless({"workload": {"labels": labels}})
		array.slice(one.path, 0, 7) == in_rule(["unless", "workload", "labels"])
	}
	of_limit_unless({"workload": {"labels": {"team": ["billing"], "app.kubernetes.io/name": ["orders"]}}}) == set()
}

test_headers_and_requests_of_another_shape_are_a_problem if {
	every condition in [
		{"headers": {}},
		{"headers": {"X-Team": ["billing"]}},
		{"headers": {"x-team": "billing"}},
		{"headers": {"x-team": [""]}},
		{"request": {}},
		{"request": {"method": []}},
		{"request": {"method": ["get"]}},
		{"request": {"method": "GET"}},
		{"request": {"route": ["people"]}},
		{"request": {"path": ["/people"]}},
	] {
		some key, _ in condition
		some one in of_limit_unless(condition)
		array.slice(one.path, 0, 6) == in_rule(["unless", key])
	}
	of_limit_unless({"headers": {"x-team": ["billing"]}, "request": {"method": ["GET"], "route": ["/x/{id}"]}}) == set()
}

test_break_glass_expires_within_30_days if {
	every expires in ["2026-03-03T12:00:00Z", "2020-01-01T00:00:00Z", "2026-04-01T14:00:00+02:00"] {
		of_one(glass({"expires": expires})) == set()
	}
	of_one(glass({"expires": "2026-04-01T12:00:01Z"})) == {problem(
		in_rule(["break_glass", "expires"]),
		"it is more than 30 days ahead",
		"break glass for 30 days at most, or give a rule without break_glass",
	)}
	of_one(glass({"expires": "2026-02-31T12:00:00Z"})) == {problem(
		in_rule(["break_glass", "expires"]),
		"2026-02-31T12:00:00Z is no time",
		"write one of RFC 3339, such as 2027-03-01T18:00:00Z",
	)}
	count(of_one(glass({"expires": "tomorrow"}))) == 1
}

test_break_glass_needs_a_reason_and_a_time if {
	every reason in ["", " ", "a\nb"] {
		in_rule(["break_glass", "reason"]) in paths(of_one(glass({"reason": reason})))
	}
	every key in ["reason", "expires"] {
		some one in of_one(json.remove(glass({}), [concat("/", ["break_glass", key])]))
		array.slice(one.path, 0, 5) == in_rule(["break_glass"])
	}
	in_rule(["break_glass", "expires"]) in paths(of_one(glass({"expires": "tomorrow"})))
}

test_a_limit_breaks_no_glass if {
	limit := object.union(object.remove(glass({}), ["who"]), {"unless": office, "read": {"treatment": "refuse"}})
	in_rule(["break_glass"]) in paths(of_one(limit))
}

test_what_is_accepted_is_named if {
	accepting({"purpose": ["application_name", "comment"], "token": ["comment"]}) == set()
	every accept in [{}, {"purpose": []}, {"token": ["application_name"]}, {"user": ["comment"]}] {
		count(accepting(accept)) > 0
	}
}

accepting(accept) := found if {
	found := problems.found with data.catalog as {"test": catalog}
		with data.rules as {"test": {"rules": [], "accept": accept}}
}
