package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestOpenKeysetsAreServedAsStockTinkReadsThem(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("payments")
	a := f.start()

	answer := a.get("/v1/keysets", "")
	if answer.status != 200 || answer.header.Get("Cache-Control") != "no-store" || answer.header.Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, header %v", answer.status, answer.header)
	}
	served := answer.keysets(t)
	if answer.header.Get("ETag") != `"`+served.Revision+`"` || served.Revision == "" {
		t.Errorf("ETag %s, revision %s", answer.header.Get("ETag"), served.Revision)
	}
	for _, name := range []string{"pii", "payments"} {
		for _, purpose := range keystore.Purposes {
			handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(served.Keysets[name][string(purpose)])))
			if err != nil {
				t.Fatalf("%s %s: %v", name, purpose, err)
			}
			if got, want := handle.KeysetInfo().GetPrimaryKeyId(), f.primary(name, purpose); got != want {
				t.Errorf("%s %s: primary %d, not %d", name, purpose, got, want)
			}
		}
	}
}

func TestNameMadeBeforeThereWerePRFKeysetsIsServedWithWhatItHas(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	testfile.Remove(t, filepath.Join(f.config.Keysets, "pii.prf.json"))
	a := f.start()
	served := a.get("/v1/keysets", "").keysets(t).Keysets["pii"]
	if len(served) != 2 || served["aead"] == nil || served["deterministic"] == nil {
		t.Errorf("%d purposes are served", len(served))
	}
	if ready := a.get("/readyz", ""); strings.Contains(ready.body, "problems") {
		t.Errorf("ready %s", ready.body)
	}
}

func TestAnswerIsNotModifiedUntilAKeysetIs(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	etag := a.get("/v1/keysets", "").header.Get("ETag")

	for _, condition := range []string{etag, `"other", ` + etag, "W/" + etag, "*"} {
		if again := a.get("/v1/keysets", condition); again.status != 304 || again.body != "" || again.header.Get("ETag") != etag {
			t.Errorf("If-None-Match %s: status %d, %d bytes", condition, again.status, len(again.body))
		}
	}
	f.rotate("pii")
	changed := a.until("/v1/keysets", func(got answer) bool { return got.header.Get("ETag") != etag })
	if conditional := a.get("/v1/keysets", etag); conditional.status != 200 {
		t.Errorf("status %d after rotation", conditional.status)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(changed.keysets(t).Keysets["pii"]["aead"])))
	if err != nil {
		t.Fatal(err)
	}
	if handle.Len() != 2 || handle.KeysetInfo().GetPrimaryKeyId() != f.primary("pii", keystore.AEAD) {
		t.Error("the rotated keyset is not what is served")
	}
}

func TestReadinessMetricsAndLogTellKeyIDsAndNoKeyMaterial(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	ready := a.get("/readyz", "")
	var body readyAnswer
	if err := json.Unmarshal([]byte(ready.body), &body); err != nil {
		t.Fatal(err)
	}
	pii := body.Keysets["pii"]
	if !body.Ready || pii.OpenSince.IsZero() || pii.Purposes["aead"].PrimaryKeyID != f.primary("pii", keystore.AEAD) {
		t.Errorf("ready: %s", ready.body)
	}
	f.rotate("pii")
	rotated := a.until("/readyz", func(got answer) bool { return !strings.Contains(got.body, body.Revision) })
	f.breakFile("pii.prf.json")
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "problems") })
	told := rotated.body + a.get("/readyz", "").body + a.get("/metrics", "").body + a.log.String()
	for purpose, text := range a.get("/v1/keysets", "").keysets(t).Keysets["pii"] {
		var cleartext struct {
			Key []struct{ KeyData struct{ Value string } }
		}
		if err := json.Unmarshal(text, &cleartext); err != nil || len(cleartext.Key) == 0 {
			t.Fatalf("%s: %v", purpose, err)
		}
		for _, key := range cleartext.Key {
			if strings.Contains(told, key.KeyData.Value) {
				t.Errorf("%s: key material is told", purpose)
			}
		}
	}
	for line := range strings.Lines(a.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a log line that is not JSON: %s", line)
		}
	}
}

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	if got := a.get("/", ""); got.status != 404 || !strings.Contains(got.body, `"error"`) {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	for request, want := range map[string]string{
		"OPTIONS *":             "404",
		"OPTIONS /v1/keysets":   "405",
		"GET //v1/keysets":      "404",
		"GET /v1/keysets/":      "404",
		"GET /v1/./keysets":     "404",
		"GET /livez/../readyz":  "404",
		"CONNECT agent:80":      "404",
		"GET http://agent/none": "404",
	} {
		connection, err := net.Dial("unix", f.config.Socket)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprintf(connection, "%s HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n", request)
		if got, err := io.ReadAll(connection); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+want) {
			t.Errorf("%s: %v: %s", request, err, got)
		}
	}
	response, err := a.client.Post("http://agent/v1/keysets", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 405 {
		t.Errorf("POST: status %d", response.StatusCode)
	}
}

func TestConcurrentRequestsDuringRotationSeeWholeAnswers(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 50 {
				got := a.get("/v1/keysets", "")
				if got.status != 200 || got.header.Get("ETag") != `"`+got.keysets(t).Revision+`"` {
					t.Errorf("status %d, ETag %s", got.status, got.header.Get("ETag"))
				}
			}
		})
	}
	for range 5 {
		f.rotate("pii")
		time.Sleep(50 * time.Millisecond)
	}
	group.Wait()
}

func TestSettingsThatCouldNotWorkAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"refresh":      func(c *Config) { c.Refresh = time.Millisecond },
		"negative":     func(c *Config) { c.Refresh = -time.Second },
		"kms check":    func(c *Config) { c.KMSCheck = time.Second },
		"max offline":  func(c *Config) { c.MaxOffline = 15 * time.Minute },
		"max refused":  func(c *Config) { c.MaxRefused = -1 },
		"tenant idle":  func(c *Config) { c.TenantIdle = time.Second },
		"many tenants": func(c *Config) { c.MaxTenants = MostTenants + 1 },
	} {
		config := Defaults()
		if err := config.Check(); err != nil {
			t.Fatal(err)
		}
		change(&config)
		if err := config.Check(); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatTheFlagsNameMustBeThere(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"folder":          func(c *Config) { c.Keysets += "/none" },
		"key":             func(c *Config) { c.KeyURI += ".none" },
		"KMS":             func(c *Config) { c.KeyURI = "none://" },
		"metrics address": func(c *Config) { c.MetricsAddress = "nowhere" },
	} {
		f := newFixture(t)
		change(&f.config)
		if err := Run(t.Context(), f.config, slog.New(slog.DiscardHandler)); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(f.config.Socket); err == nil {
			t.Errorf("%s: a socket is left", name)
		}
	}
}
