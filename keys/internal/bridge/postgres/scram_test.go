package postgres

import (
	"errors"
	"testing"
)

// The example of RFC 7677, section 3, with its user in the client's first message.
func TestScramIsThatOfTheRFC(t *testing.T) {
	s := newScram("pencil")
	s.firstBare = "n=user,r=rOprNGfwEbeRWgbNEkqO"
	final, err := s.final("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
	if want := "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="; err != nil || final != want {
		t.Errorf("%q, %v", final, err)
	}
	if err := s.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="); err != nil {
		t.Error(err)
	}
	if err := s.verify("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="); !errors.Is(err, errScramSignature) {
		t.Error(err)
	}
	if err := s.verify("e=other-error"); !errors.Is(err, errScram) {
		t.Error(err)
	}
}

func TestServersFirstMessageOfSomebodyElseIsRefused(t *testing.T) {
	for _, message := range []string{
		"", "r=x", "r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096", "r=other,s=W22Z,i=4096", "r=rOprNGfwEbeRWgbNEkqOx,s=!,i=4096",
		"r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=0", "r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1000001", "m=ext,r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1",
	} {
		s := newScram("pencil")
		s.firstBare = "n=user,r=rOprNGfwEbeRWgbNEkqO"
		if _, err := s.final(message); !errors.Is(err, errScram) {
			t.Errorf("%q: %v", message, err)
		}
	}
}

func TestPasswordIsPreparedAsTheServerStoredIt(t *testing.T) {
	for given, want := range map[string]string{"pencil": "pencil", "a b": "a b", "a\u00a0b": "a b", "ﬁ": "fi", "e\u0301": "é",
		// What the server takes out; and what SASLprep does not allow, which it takes as it is: a character without a meaning in
		// Unicode 3.2, writing of both directions, bytes that are no UTF-8.
		"a\u00adb": "ab", "x²😀": "x²😀", "א²a": "א²a", "\u00ad": "\u00ad", "g\xfcnther²": "g\xfcnther²"} {
		if got := prepared(given); got != want {
			t.Errorf("%q is prepared as %q", given, got)
		}
	}
}
