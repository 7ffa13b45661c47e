package fieldveil.clock_test

import data.fieldveil.clock

at(moment) := time.parse_rfc3339_ns(moment)

within(windows, moment) if {
	clock.within(windows) with time.now_ns as at(moment)
}

change(windows, moment) := next if {
	next := clock.next_change(windows) with time.now_ns as at(moment)
}

second(moment) := floor(at(moment) / 1000000000)

# 2026-03-02 is a Monday.

test_a_window_begins_with_its_first_minute_and_ends_before_its_last if {
	office := [{"from": "08:00", "to": "18:00"}]
	every inside in ["2026-03-02T08:00:00Z", "2026-03-02T12:30:00Z", "2026-03-08T17:59:59Z"] {
		within(office, inside)
	}
	every outside in ["2026-03-02T07:59:59Z", "2026-03-02T18:00:00Z", "2026-03-02T00:00:00Z"] {
		not within(office, outside)
	}
}

test_a_window_of_days_is_all_of_each if {
	week := [{"days": ["mon", "wed"]}]
	every inside in ["2026-03-02T00:00:00Z", "2026-03-02T23:59:59Z", "2026-03-04T12:00:00Z"] {
		within(week, inside)
	}
	every outside in ["2026-03-01T23:59:59Z", "2026-03-03T00:00:00Z", "2026-03-07T12:00:00Z"] {
		not within(week, outside)
	}
}

test_every_day_has_its_name if {
	every i, day in ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] {
		within([{"days": [day]}], sprintf("2026-03-0%vT12:00:00Z", [i + 2]))
	}
}

test_a_window_without_an_end_or_a_beginning_goes_to_midnight if {
	within([{"from": "08:00"}], "2026-03-02T23:59:59Z")
	not within([{"from": "08:00"}], "2026-03-03T00:00:00Z")
	within([{"to": "08:00"}], "2026-03-02T00:00:00Z")
	not within([{"to": "08:00"}], "2026-03-02T08:00:00Z")
	within([{"from": "08:00", "to": "00:00"}], "2026-03-02T23:59:59Z")
	not within([{"from": "08:00", "to": "00:00"}], "2026-03-03T00:00:00Z")
}

test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins if {
	night := [{"days": ["fri"], "from": "22:00", "to": "06:00"}]
	every inside in ["2026-03-06T22:00:00Z", "2026-03-06T23:59:59Z", "2026-03-07T00:00:00Z", "2026-03-07T05:59:59Z"] {
		within(night, inside)
	}
	every outside in ["2026-03-06T00:00:00Z", "2026-03-06T05:00:00Z", "2026-03-07T06:00:00Z", "2026-03-07T22:00:00Z"] {
		not within(night, outside)
	}
	sunday := [{"days": ["sun"], "from": "22:00", "to": "06:00"}]
	within(sunday, "2026-03-02T05:00:00Z")
	not within(sunday, "2026-03-01T05:00:00Z")
}

test_the_zone_says_which_day_and_hour_it_is if {
	berlin := [{"days": ["mon"], "from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}]
	within(berlin, "2026-03-02T07:00:00Z")
	not within(berlin, "2026-03-02T17:00:00Z")

	# In summer two hours ahead.
	within(berlin, "2026-07-06T06:00:00Z")
	not within(berlin, "2026-07-06T16:00:00Z")
	within([{"days": ["tue"], "zone": "Pacific/Auckland"}], "2026-03-02T12:00:00Z")
	not within([{"days": ["mon"], "zone": "Pacific/Auckland"}], "2026-03-02T12:00:00Z")
}

test_one_of_several_windows_is_enough if {
	windows := [{"days": ["sat"]}, {"from": "08:00", "to": "09:00"}]
	within(windows, "2026-03-07T12:00:00Z")
	within(windows, "2026-03-02T08:30:00Z")
	not within(windows, "2026-03-02T12:00:00Z")
	not within([], "2026-03-02T12:00:00Z")
}

test_an_odd_window_is_at_no_time if {
	every odd in [
		{"zone": "Europe/Atlantis", "from": "00:00"},
		{"zone": 5, "from": "00:00"},
		{"from": "noon", "to": "13:00"},
		{"from": 8, "to": 18},
		{"days": "mon"},
		{"days": []},
		null,
		"08:00",
	] {
		not within([odd], "2026-03-02T12:30:00Z")
	}
	every odd in [null, "mon", 5, {}] {
		not within(odd, "2026-03-02T12:30:00Z")
	}
}

test_the_next_change_is_the_next_beginning_or_end if {
	office := [{"from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}]
	change(office, "2026-03-02T06:59:59Z") == second("2026-03-02T07:00:00Z")
	change(office, "2026-03-02T07:00:00Z") == second("2026-03-02T17:00:00Z")
	change(office, "2026-03-02T17:00:00Z") == second("2026-03-03T07:00:00Z")
	change([{"days": ["mon"]}], "2026-03-02T12:00:01Z") == second("2026-03-03T00:00:00Z")
	change([{"days": ["mon"]}], "2026-03-02T00:00:00Z") == second("2026-03-03T00:00:00Z")
	both := array.concat(office, [{"days": ["mon"], "to": "09:30"}])
	change(both, "2026-03-02T08:00:00Z") == second("2026-03-02T09:30:00Z")
	not change([], "2026-03-02T08:00:00Z")
}

# In Berlin the clocks go forward on 2026-03-29 at 01:00 UTC, and back on 2026-10-25 at 01:00 UTC.
test_on_the_day_before_clocks_change_the_next_quarter_of_an_hour_is_a_change if {
	office := [{"from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}]
	change(office, "2026-03-28T20:07:00Z") == second("2026-03-28T20:15:00Z")
	change(office, "2026-10-25T00:45:00Z") == second("2026-10-25T01:00:00Z")
	change(office, "2026-03-29T01:00:00Z") == second("2026-03-29T06:00:00Z")
	change(office, "2026-10-25T01:00:00Z") == second("2026-10-25T07:00:00Z")
	change([{"from": "08:00"}], "2026-03-28T20:07:00Z") == second("2026-03-29T00:00:00Z")
}

test_a_window_that_ends_before_the_next_quarter_of_an_hour_is_not_kept_open_for_it if {
	until := [{"to": "18:05", "zone": "Europe/Berlin"}]
	change(until, "2026-10-24T16:01:00Z") == second("2026-10-24T16:05:00Z")
	change(until, "2026-10-24T16:05:00Z") == second("2026-10-24T16:15:00Z")
	change([{"from": "02:20", "zone": "Europe/Berlin"}], "2026-03-28T01:16:00Z") == second("2026-03-28T01:20:00Z")
}

test_a_window_with_one_minute_for_beginning_and_end_is_empty if {
	every empty in [{"from": "08:00", "to": "08:00"}, {"to": "00:00"}] {
		clock.is_empty(empty)
		every moment in ["2026-03-02T00:00:00Z", "2026-03-02T08:00:00Z", "2026-03-02T12:00:00Z"] {
			not within([empty], moment)
		}
	}
	every window in [
		{"days": ["mon"]},
		{"from": "00:00"},
		{"from": "08:00", "to": "00:00"},
		{"from": "22:00", "to": "06:00"},
	] {
		not clock.is_empty(window)
	}
}

test_parts_of_seconds_are_cut_off if {
	clock.now == 1772452800 with time.now_ns as 1772452800999999999
	clock.seconds("2026-03-02T12:00:00+01:00") == 1772449200
}
