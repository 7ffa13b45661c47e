package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

func TestLookTellsEnvelopesFromValuesInClearAndDigestsTheRest(t *testing.T) {
	const body = `{"a":"CLEAR-1","b":"fv1.9wEn-_X","c":["fv1.A","CLEAR-2"],"d":"other"}`
	want := Look{
		Bytes:     len(body),
		Envelopes: 2,
		Clear:     2,
		Outside:   sum(`{"a":,"b":,"c":[,],"d":"other"}`),
		Values:    sum("CLEAR-1\nCLEAR-2\n"),
	}
	if got := look([]byte(body)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSealingChangesNothingOutside(t *testing.T) {
	before, after := look([]byte(`{"a":"CLEAR-1","b":2}`)), look([]byte(`{"a":"fv1.abc","b":2}`))
	if before.Outside != after.Outside || before.Clear != after.Envelopes {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if changed := look([]byte(`{"a":"fv1.abc","b":3}`)); changed.Outside == after.Outside {
		t.Error("another number outside is not seen")
	}
}

func TestWhatIsNoEnvelopeCountsAsOtherBytes(t *testing.T) {
	for _, value := range []string{"fv1.", "fv1.a b", "fv1.a=", "fv1.CLEAR.", "fv1.\\u0061"} {
		body := fmt.Sprintf(`{"a":"%s"}`, value)
		if got := look([]byte(body)); got.Envelopes != 0 || got.Outside != sum(body) {
			t.Errorf("%s: %+v", value, got)
		}
	}
}

func TestStringThatDoesNotEndIsLeftOutside(t *testing.T) {
	for _, body := range []string{"", `"`, `{"a":"CLEAR-1`, `{"a":"fv1.`} {
		if got := look([]byte(body)); got.Clear+got.Envelopes != 0 || got.Outside != sum(body) {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestManyValuesAreCounted(t *testing.T) {
	body := "[" + strings.Repeat(`"fv1.abc","CLEAR-1",`, 1000) + "0]"
	if got := look([]byte(body)); got.Envelopes != 1000 || got.Clear != 1000 {
		t.Errorf("%+v", got)
	}
}
