# METADATA
# title: Time
# description: |
#   What of the rules depends on time: windows of the week and moments at which something ends. Whoever evaluates at one
#   second sees one time.
package fieldveil.clock

seconds_of_day := 86400

# METADATA
# title: now
# description: Unix seconds.
now := floor(time.now_ns() / 1000000000)

# METADATA
# title: seconds
# description: The Unix seconds of an RFC 3339 time.
seconds(moment) := floor(time.parse_rfc3339_ns(moment) / 1000000000)

# METADATA
# title: within
# description: Whether it is now in one of these windows. A zone that is not known is at no time.
within(windows) if {
	some window in windows
	minute := floor(second_in(zone_of(window), now) / 60)
	within_one(window, minute, weekday_in(zone_of(window)))
}

# METADATA
# title: next_change
# description: |
#   The first second at which it may be in another of these windows than now. On the day before the clocks of a zone
#   change it is the next quarter of an hour at the latest, for clocks change on one.
next_change(windows) := min(moments) if {
	moments := {moment |
		some window in windows
		some moment in changes(window)
	}
	count(moments) > 0
}

# METADATA
# title: is_empty
# description: Whether a window ends at the minute at which it begins.
is_empty(window) if begin_of(window) == end_of(window)

# From one minute of a day to another of the same day.
within_one(window, minute, weekday) if {
	begin_of(window) < end_of(window)
	on_day(window, weekday)
	minute >= begin_of(window)
	minute < end_of(window)
}

# Past midnight: before it, of the day on which it begins.
within_one(window, minute, weekday) if {
	begin_of(window) > end_of(window)
	on_day(window, weekday)
	minute >= begin_of(window)
}

# Past midnight: after it, of the day before.
within_one(window, minute, weekday) if {
	begin_of(window) > end_of(window)
	on_day(window, (weekday + 6) % 7)
	minute < end_of(window)
}

on_day(window, _) if not window.days

on_day(window, weekday) if week[weekday] in window.days

week := ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

days := {
	"Sunday": 0,
	"Monday": 1,
	"Tuesday": 2,
	"Wednesday": 3,
	"Thursday": 4,
	"Friday": 5,
	"Saturday": 6,
}

zone_of(window) := object.get(window, "zone", "UTC")

begin_of(window) := minute_of(object.get(window, "from", "00:00"))

end_of(window) := minute_of(object.get(window, "to", "24:00"))

minute_of(text) := (to_number(parts[0]) * 60) + to_number(parts[1]) if parts := split(text, ":")

second_in(zone, moment) := (((clock[0] * 60) + clock[1]) * 60) + clock[2] if {
	clock := time.clock([moment * 1000000000, zone])
}

weekday_in(zone) := days[time.weekday([now * 1000000000, zone])]

changes(window) := beginning_or_end(window) | {quarter | is_put_forward_or_back(zone_of(window))} if {
	quarter := (floor(now / 900) + 1) * 900
}

beginning_or_end(window) := {moment |
	second := second_in(zone_of(window), now)
	some minute in {begin_of(window), end_of(window)}
	moment := now + ahead((minute * 60) - second)
}

# What is now has happened: the next time is tomorrow.
ahead(seconds_off) := seconds_of_day if {
	seconds_off % seconds_of_day == 0
} else := (seconds_off + seconds_of_day) % seconds_of_day

# Within a day from now.
is_put_forward_or_back(zone) if second_in(zone, now) != second_in(zone, now + seconds_of_day)
