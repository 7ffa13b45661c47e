package explain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// partialSample is the made-up value that examples of partial masks are made of.
const partialSample = "4111-1111-1111-1234"

// Text is a treatment in a few words: "mask last4", "reveal 500 rows per 60 s, then null".
func (r Read) Text() string {
	switch r.Kind() {
	case "mask":
		return "mask " + r.Format
	case "budget":
		return fmt.Sprintf("reveal %s per %s, then %s", rows(r.Budget.Rows), seconds(r.Budget.PerSeconds), r.Budget.Then.Text())
	}
	return r.Treatment
}

func rows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return strconv.FormatInt(n, 10) + " rows"
}

func seconds(n int64) string {
	switch {
	case n%3600 == 0:
		return strconv.FormatInt(n/3600, 10) + " h"
	case n%60 == 0:
		return strconv.FormatInt(n/60, 10) + " min"
	}
	return strconv.FormatInt(n, 10) + " s"
}

// Example is a made-up value and what a mask leaves of it; of no mask and of an unknown one, nothing.
func Example(format string) (value, masked string, known bool) {
	if mask, found := masks().Masks[format]; found && mask.Example.Format == format {
		return mask.Example.Value, mask.Example.Shown, true
	}
	first, padding, last, ok := parsePartial(format)
	if !ok {
		return "", "", false
	}
	sample := partialSample
	if least := 2 * (first + last); least > len(sample) {
		// Long enough for the ends to show.
		sample = strings.Repeat("abcdefghijklmnopqrstuvwxyz", least/26+1)
	}
	return sample, partial(sample, first, padding, last), true
}

// parsePartial reads partial(FIRST,"PADDING",LAST).
func parsePartial(format string) (first int, padding string, last int, ok bool) {
	inner, found := strings.CutPrefix(format, "partial(")
	if !found || !masks().pattern.MatchString(format) {
		return 0, "", 0, false
	}
	inner = strings.TrimSuffix(inner, ")")
	start, end := strings.Index(inner, `,"`), strings.LastIndex(inner, `",`)
	first, err := strconv.Atoi(inner[:start])
	last, err2 := strconv.Atoi(inner[end+2:])
	return first, inner[start+2 : end], last, err == nil && err2 == nil
}

// partial never shows more than half of the value.
func partial(value string, first int, padding string, last int) string {
	if utf8.RuneCountInString(value) < 2*(first+last) {
		return padding
	}
	characters := []rune(value)
	return string(characters[:first]) + padding + string(characters[len(characters)-last:])
}

// KindMeaning says for the reader of a page what a kind of treatment is.
func KindMeaning(kind string) string {
	return map[string]string{
		"refuse":  "an error; the whole statement is refused",
		"null":    "NULL in place of the value",
		"conceal": "the ciphertext as it is stored",
		"mask":    "a part of the value",
		"budget":  "the value, for so many rows in a time",
		"reveal":  "the value",
	}[kind]
}

// KindName is a kind's name as a page shows it.
func KindName(kind string) string {
	if kind == "budget" {
		return "reveal, with a budget"
	}
	return kind
}

// Missing stands for a label that a principal's database does not have.
const Missing = "–"
