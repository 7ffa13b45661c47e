package table

import (
	"fmt"
	"io"
	"time"
)

// Progress tells a person how far the work is: on a terminal in one line that is
// written anew, else in plain lines now and then.
type Progress struct {
	Out      io.Writer
	Terminal bool
	Every    time.Duration

	began, last time.Time
	first       int64 // rows done by earlier runs
	total       int64 // an estimate
}

func (p *Progress) begin(first, total int64) {
	p.began, p.last, p.first, p.total = time.Now(), time.Now(), first, total
}

func (p *Progress) show(report *Report) {
	if time.Since(p.last) < p.Every {
		return
	}
	p.last = time.Now()
	p.line(p.text(report))
}

func (p *Progress) text(report *Report) string {
	rate := float64(report.Rows-p.first) / max(time.Since(p.began).Seconds(), 0.001)
	// The estimate may be too low: the end is told by the table alone.
	total := max(p.total, report.Rows+1)
	left := time.Duration(float64(total-report.Rows) / max(rate, 0.001) * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s %s: %d of about %d rows (%d%%), %.0f rows/s, about %s left, %d written",
		report.Command, report.Table, report.Rows, total, report.Rows*100/total, rate, left, report.Written)
}

func (p *Progress) line(text string) {
	if p.Terminal {
		// Erase to the end: the line before may have been longer.
		fmt.Fprintf(p.Out, "\r%s\x1b[K", text)
		return
	}
	fmt.Fprintln(p.Out, text)
}

func (p *Progress) note(text string) {
	if p.Terminal {
		fmt.Fprint(p.Out, "\r\x1b[K")
	}
	fmt.Fprintln(p.Out, "fieldveil: "+text)
}

func (p *Progress) waiting(reason string) {
	if time.Since(p.last) < p.Every {
		return
	}
	p.last = time.Now()
	p.line("waiting: " + reason)
}

func (p *Progress) end(report *Report) {
	rate := float64(report.Rows-p.first) / max(time.Since(p.began).Seconds(), 0.001)
	p.line(fmt.Sprintf("%s %s: %d rows, %.0f rows/s, %d written", report.Command, report.Table, report.Rows, rate, report.Written))
	if p.Terminal {
		fmt.Fprintln(p.Out)
	}
}
