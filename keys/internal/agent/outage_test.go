package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestNothingIsServedBeforeTheKMSAnswersOnce(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.kms.set(errAway)
	a := f.startUnready()
	for _, path := range []string{"/v1/keysets", "/readyz"} {
		got := a.until(path, func(got answer) bool { return strings.Contains(got.body, errAway.Reason) })
		var reason struct{ Error string }
		if json.Unmarshal([]byte(got.body), &reason) != nil || got.status != 503 || !strings.Contains(reason.Error, errAway.Error()) {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	if got := a.get("/livez", ""); got.status != 200 {
		t.Errorf("live: status %d", got.status)
	}
	f.kms.set(nil)
	if got := a.until("/v1/keysets", func(got answer) bool { return got.status == 200 }); got.names(t) != "pii" {
		t.Errorf("keysets %s", got.names(t))
	}
}

func TestKMSThatIsAwayEndsServingAfterMaxOffline(t *testing.T) {
	f := newFixture(t)
	f.config.MaxOffline = 3 * time.Second
	f.create("pii")
	a := f.start()
	before := a.get("/v1/keysets", "")
	f.kms.set(errAway)
	offline := func() float64 {
		seconds, err := strconv.ParseFloat(a.metric("kms_offline_seconds"), 64)
		if err != nil {
			t.Error(err)
		}
		return seconds
	}
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, errAway.Reason) })
	if got := a.get("/v1/keysets", ""); got.status != 200 || got.body != before.body {
		t.Errorf("status %d soon after the KMS went", got.status)
	}
	a.until("/metrics", func(answer) bool { return offline() > 0 })
	if got := a.get("/readyz", ""); got.status != 200 {
		t.Errorf("not ready soon after the KMS went: %s", got.body)
	}

	// An answer that leaves the keyset out takes it from the workers at once; an
	// error would leave it to them.
	gone := a.until("/v1/keysets", func(got answer) bool { return got.names(t) == "" })
	if gone.status != 200 || gone.header.Get("ETag") == before.header.Get("ETag") {
		t.Errorf("status %d, ETag %s", gone.status, gone.header.Get("ETag"))
	}
	if got := a.get("/readyz", ""); got.status != 503 || !strings.Contains(got.body, errAway.Reason) {
		t.Errorf("ready: status %d: %s", got.status, got.body)
	}
	if open := a.metric("keysets_open"); open != "0" {
		t.Errorf("%s keysets are open", open)
	}
	a.until("/metrics", func(answer) bool { return strings.Contains(a.log.String(), whyOffline) })

	f.kms.set(nil)
	if again := a.until("/v1/keysets", func(got answer) bool { return got.names(t) != "" }); again.body != before.body {
		t.Error("other keysets are served once the KMS is back")
	}
	a.until("/readyz", func(got answer) bool { return got.status == 200 })
	if offline() != 0 || a.metric("kms_last_answer_seconds") == "" {
		t.Errorf("offline for %v s, last answer %s s ago", offline(), a.metric("kms_last_answer_seconds"))
	}
}

func TestKMSThatSaysNoEndsServingSooner(t *testing.T) {
	f := newFixture(t)
	f.config.MaxRefused = time.Second
	f.create("pii")
	a := f.start()
	f.kms.set(errDenied)
	told := a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "refused_since") })
	if told.status != 200 || !strings.Contains(told.body, errDenied.Reason) {
		t.Errorf("status %d: %s", told.status, told.body)
	}
	if got := a.get("/v1/keysets", ""); got.names(t) != "pii" {
		t.Errorf("keysets %q soon after the first no", got.names(t))
	}
	a.until("/v1/keysets", func(got answer) bool { return got.names(t) == "" })
	a.until("/readyz", func(got answer) bool { return got.status == 503 && strings.Contains(a.log.String(), whyRefused) })
	if offline := a.metric("kms_offline_seconds"); offline != "0" {
		t.Errorf("a KMS that answers is offline for %s s", offline)
	}
	if calls := a.metric(`kms_call_duration_seconds_count{outcome="refused"}`); calls == "0" || calls == "" {
		t.Errorf("%s refusals are counted", calls)
	}
	f.kms.set(nil)
	a.until("/readyz", func(got answer) bool { return got.status == 200 })
}

func TestOneNoIsForgottenWhenTheKMSOpensAgain(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	f.kms.set(errDenied)
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "refused_since") })
	f.kms.set(nil)
	a.until("/readyz", func(got answer) bool {
		return got.status == 200 && !strings.Contains(got.body, "refused_since") && !strings.Contains(got.body, "problems")
	})
}

func TestKMSIsAskedOneCallAtATimeAndSeldomWhileItIsAway(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"pii", "payments", "health", "pii/acme", "pii/globex"} {
		f.create(name)
	}
	a := f.start()
	for range 10 {
		a.get("/v1/keysets?tenant=pii/acme&tenant=pii/globex", "")
		f.rotate("health")
		time.Sleep(20 * time.Millisecond)
	}
	calls, most := f.kms.counts()
	if calls < 15 || most != 1 {
		t.Errorf("%d calls, %d at once", calls, most)
	}
	// With five keysets due every 100 ms, an agent that did not back off would make
	// fifty calls a second.
	f.config.KMSCheck = 2 * time.Second
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	f.kms.set(errAway)
	before, _ := f.kms.counts()
	b := f.startUnready()
	for range 100 {
		b.get("/v1/keysets?tenant=pii/acme", "")
		time.Sleep(10 * time.Millisecond)
	}
	if after, _ := f.kms.counts(); after == before || after-before > 5 {
		t.Errorf("%d calls in the first second of an outage", after-before)
	}
}

func TestKMSThatHangsHoldsUpNeitherAnswersNorEnds(t *testing.T) {
	f := newFixture(t)
	f.config.MaxOffline = 2 * time.Second
	f.create("pii")
	f.create("payments")
	a := f.start()
	release := f.kms.hang()
	defer release()
	f.remove("payments")
	a.until("/v1/keysets", func(got answer) bool { return got.names(t) == "pii" })
	a.until("/v1/keysets", func(got answer) bool { return got.names(t) == "" })
	if err := a.stop(); err != nil {
		t.Error(err)
	}
}

func TestBackOffDoublesWithinItsLimitAndIsNeverTheSame(t *testing.T) {
	for failures, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 7: time.Minute, 1000: time.Minute} {
		seen := map[time.Duration]bool{}
		for range 50 {
			wait := backOff(failures, time.Hour)
			if wait < most/2 || wait > most {
				t.Errorf("%v after %d failures", wait, failures)
			}
			seen[wait] = true
		}
		if len(seen) < 10 {
			t.Errorf("no jitter after %d failures", failures)
		}
	}
	if wait := backOff(1000, time.Second); wait > time.Second {
		t.Errorf("%v, and the KMS is to be asked each second", wait)
	}
}
