package agent

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func TestTenantsKeysetsAreServedToWhoAsksForThem(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"pii", "pii/acme", "pii/globex", "pii/initech"} {
		f.create(name)
	}
	a := f.start()
	if got := a.get("/v1/keysets", ""); got.names(t) != "pii" {
		t.Errorf("keysets %q to who asks for no tenant", got.names(t))
	}
	if open := a.metric("tenants_open"); open != "0" {
		t.Errorf("%s tenants are open before anybody asked", open)
	}
	both := a.get("/v1/keysets?tenant=pii/acme&tenant=pii/globex", "")
	if both.names(t) != "pii pii/acme pii/globex" {
		t.Errorf("keysets %q", both.names(t))
	}
	if keysets := both.keysets(t).Keysets["pii/acme"]; len(keysets) != 3 {
		t.Errorf("%d purposes of a tenant", len(keysets))
	}
	one := a.get("/v1/keysets?tenant=pii%2Facme", "")
	if one.names(t) != "pii pii/acme" || one.header.Get("ETag") == both.header.Get("ETag") {
		t.Errorf("keysets %q, ETag %s", one.names(t), one.header.Get("ETag"))
	}
	etag := one.header.Get("ETag")
	if again := a.get("/v1/keysets?tenant=pii/acme&tenant=pii/acme", etag); again.status != 304 {
		t.Errorf("status %d", again.status)
	}
	f.rotate("pii/globex")
	a.until("/v1/keysets?tenant=pii/globex&tenant=pii/acme", func(got answer) bool {
		return got.header.Get("ETag") != both.header.Get("ETag")
	})
	if again := a.get("/v1/keysets?tenant=pii/acme", etag); again.status != 304 {
		t.Errorf("status %d after another tenant's rotation", again.status)
	}
	if ready := a.get("/readyz", ""); !strings.Contains(ready.body, `"tenants_open":2`) {
		t.Errorf("ready: %s", ready.body)
	}
}

func TestTenantNobodyAsksForIsForgotten(t *testing.T) {
	f := newFixture(t)
	f.config.TenantIdle, f.config.KMSCheck = time.Second, time.Hour
	f.create("pii")
	f.create("pii/acme")
	a := f.start()
	asked := func() answer { return a.get("/v1/keysets?tenant=pii/acme", "") }
	first := asked()
	// Who asks again and again keeps it open, with answers that say "not modified".
	calls, _ := f.kms.counts()
	for begun := time.Now(); time.Since(begun) < 2*time.Second; time.Sleep(50 * time.Millisecond) {
		a.get("/v1/keysets?tenant=pii/acme", first.header.Get("ETag"))
	}
	if after, _ := f.kms.counts(); after != calls {
		t.Error("forgotten and opened again while it is asked for")
	}
	a.until("/metrics", func(answer) bool { return a.metric("tenants_open") == "0" })
	if got := asked(); got.body != first.body {
		t.Error("it is not opened again")
	}
}

func TestDestroyedTenantIsLeftOutAndAnIdleNameStaysOpen(t *testing.T) {
	f := newFixture(t)
	f.config.TenantIdle = 500 * time.Millisecond
	f.create("pii")
	f.create("pii/acme")
	f.create("pii/globex")
	a := f.start()
	path := "/v1/keysets?tenant=pii/acme&tenant=pii/globex"
	if got := a.get(path, ""); got.names(t) != "pii pii/acme pii/globex" {
		t.Fatalf("keysets %q", got.names(t))
	}
	release := f.kms.hang() // no KMS is asked for it
	defer release()
	f.remove("pii/acme")
	a.until(path, func(got answer) bool { return got.names(t) == "pii pii/globex" })
}

func TestUnknownAndMalformedTenantsCostNothing(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("pii/acme")
	a := f.start()
	query := url.Values{}
	for _, name := range []string{"", "pii", "pii/none", "pii/", "/acme", "pii/acme/x", "../pii/acme", "pii/../acme", "pii.acme", "PII/ACME", "pii/acme\x00", strings.Repeat("x/", 500)} {
		query.Add("tenant", name)
	}
	for i := range 2000 {
		query.Add("tenant", fmt.Sprintf("pii/none%d", i))
	}
	before, _ := f.kms.counts()
	got := a.get("/v1/keysets?"+query.Encode(), "")
	if got.status != 200 || got.names(t) != "pii" {
		t.Errorf("status %d: %s", got.status, got.names(t))
	}
	if open := a.metric("tenants_open"); open != "0" {
		t.Errorf("%s tenants are open", open)
	}
	if after, _ := f.kms.counts(); after-before > 10 {
		t.Errorf("the KMS was asked %d times", after-before)
	}
	// A request that is too long altogether is refused before it is read.
	if got := a.get("/v1/keysets?tenant="+strings.Repeat("x", 2*maxHeaderBytes), ""); got.status != 431 {
		t.Errorf("status %d", got.status)
	}
}

func TestNoMoreTenantsAreOpenThanMayBe(t *testing.T) {
	f := newFixture(t)
	f.config.MaxTenants, f.config.TenantIdle = 2, time.Second
	for _, name := range []string{"pii", "pii/a", "pii/b", "pii/c"} {
		f.create(name)
	}
	a := f.start()
	a.get("/v1/keysets?tenant=pii/a", "")
	a.get("/v1/keysets?tenant=pii/b", "")
	if got := a.get("/v1/keysets?tenant=pii/c", ""); got.names(t) != "pii" {
		t.Errorf("keysets %q", got.names(t))
	}
	if refused := a.metric(`tenant_requests_total{outcome="too_many"}`); refused != "1" {
		t.Errorf("%s are counted", refused)
	}
	a.until("/v1/keysets?tenant=pii/c", func(got answer) bool { return got.names(t) == "pii pii/c" })
}

func TestBrokenTenantLeavesTheAgentReadyAndIsTold(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("pii/acme")
	f.breakFile("pii.acme.aead.json")
	a := f.start()
	if got := a.get("/v1/keysets?tenant=pii/acme", ""); got.names(t) != "pii" {
		t.Errorf("keysets %q", got.names(t))
	}
	if ready := a.get("/readyz", ""); ready.status != 200 || !strings.Contains(ready.body, "pii.acme.aead.json") {
		t.Errorf("status %d: %s", ready.status, ready.body)
	}
	if refused := a.metric("tenant_files_refused"); refused != "1" {
		t.Errorf("metric %s", refused)
	}
}

func TestTenantThatIsRemovedWhileItsFilesAreReadIsNotTakenIn(t *testing.T) {
	c := newClocked(t, "pii")
	purposes := []keystore.Purpose{keystore.AEAD}
	look := func(names ...string) {
		tenants := map[string][]keystore.Purpose{}
		for _, name := range names {
			tenants[name] = purposes
		}
		c.applyScan(c.folder("pii"), tenants, nil)
	}
	look("pii/acme", "pii/globex")
	read := c.missing([]string{"pii/acme", "pii/globex"})
	if again := c.missing([]string{"pii/acme"}); len(read) != 2 || len(again) != 0 {
		t.Errorf("%d are to be read, and %d again", len(read), len(again))
	}
	if _, pending := c.pending([]string{"pii/acme"}); !pending {
		t.Error("nobody waits for what is read")
	}
	look("pii/globex")
	for name, f := range c.folder("pii/acme", "pii/globex") {
		c.admit(name, f)
	}
	if c.entries["pii/acme"] != nil || c.entries["pii/globex"] == nil || len(c.reading) != 0 {
		t.Errorf("kept %q, still read %v", c.keptNames(), c.reading)
	}
}
