package fault

import "testing"

func TestErrorIsOneLineWithoutControlCharacters(t *testing.T) {
	got := Input("a\nb\r\tc", "\x1b[2Jé\x7f\u009b1m\u202e", "\x00d\x9b").Error()
	if want := "a b  c:  [2Jé  1m ;  d\uFFFD"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
