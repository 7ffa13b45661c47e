package agent

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/spiffe/spiffetest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var metricName = regexp.MustCompile(namespace + `_[a-z_]+`)

// The reference lists what there is, and nothing else.
func TestEveryMetricIsInTheReference(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("pii/acme")
	identity := spiffetest.New(t)
	identity.Says(time.Hour, "spiffe://example.org/orders")
	identity.Start()
	f.config.SpiffeSocket = "unix://" + identity.Socket
	a := f.start()
	a.get("/v1/keysets?tenant=pii/acme", "")
	served := regexp.MustCompile(`(?m)^# TYPE `+namespace+`_(\S+)`).FindAllStringSubmatch(a.get("/metrics", "").body, -1)
	var there []string
	for _, match := range served {
		there = append(there, namespace+"_"+match[1])
	}
	reference := testfile.Read(t, "../../../docs/reference/key-agent-api.md")
	told := metricName.FindAllString(string(reference), -1)
	slices.Sort(told)
	told = slices.Compact(told)
	slices.Sort(there)
	if !slices.Equal(there, told) {
		t.Errorf("there are %q;\nthe reference tells %q", there, told)
	}
}

func TestAgeIsThatOfEachKey(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	ages := regexp.MustCompile(`(?m)^` + namespace + `_key_age_seconds\{key_id="\d+",keyset="pii",primary="true",purpose="(\w+)"\} \d`)
	if found := ages.FindAllString(a.get("/metrics", "").body, -1); len(found) != 3 {
		t.Errorf("ages %q", found)
	}
	f.rotate("pii")
	older := regexp.MustCompile(`(?m)^` + namespace + `_key_age_seconds\{key_id="\d+",keyset="pii",primary="false",purpose="aead"\} \d`)
	a.until("/metrics", func(got answer) bool { return older.MatchString(got.body) })
}
