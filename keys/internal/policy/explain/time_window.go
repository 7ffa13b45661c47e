package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones where the machine has none
)

// momentIn is the first minute from a moment on that lies in a window of time, as rules
// have it, and the window in words. A window that can not be read gives the zero moment.
func momentIn(window any, from time.Time) (time.Time, string) {
	w, ok := parseWindow(window)
	if !ok {
		return time.Time{}, "in a window of time"
	}
	at := from.In(w.zone).Truncate(time.Minute)
	for range 8 * 24 * 60 {
		if w.holds(at) {
			return at, w.said
		}
		at = at.Add(time.Minute)
	}
	return time.Time{}, w.said
}

type window struct {
	days     []string // none: all
	from, to int      // minutes of the day
	zone     *time.Location
	said     string
}

const wholeDay = 24 * 60

func parseWindow(value any) (window, bool) {
	var read struct {
		Days     []string `json:"days"`
		From, To string
		Zone     string `json:"zone"`
	}
	if into(value, &read) != nil {
		return window{}, false
	}
	w := window{days: read.Days, from: 0, to: wholeDay}
	var err error
	if w.zone, err = time.LoadLocation(read.Zone); err != nil {
		return window{}, false
	}
	var said []string
	if len(read.Days) > 0 {
		said = append(said, strings.Join(read.Days, " "))
	}
	for _, bound := range []struct {
		text, word string
		into       *int
	}{{read.From, "from", &w.from}, {read.To, "to", &w.to}} {
		if bound.text == "" {
			continue
		}
		clock, err := time.Parse("15:04", bound.text)
		if err != nil {
			return window{}, false
		}
		*bound.into = clock.Hour()*60 + clock.Minute()
		said = append(said, bound.word+" "+bound.text)
	}
	if read.Zone != "" {
		said = append(said, read.Zone)
	}
	w.said = fmt.Sprint("at ", strings.Join(said, " "))
	return w, true
}

// holds says whether a moment lies in the window. A window over midnight belongs to the day on which it begins.
func (w window) holds(at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	if w.from < w.to {
		return w.on(at) && w.from <= minute && minute < w.to
	}
	return minute >= w.from && w.on(at) || minute < w.to && w.on(at.AddDate(0, 0, -1))
}

func (w window) on(day time.Time) bool {
	return len(w.days) == 0 || slices.Contains(w.days, strings.ToLower(day.Weekday().String()[:3]))
}
