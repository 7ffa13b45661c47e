package agent

import (
	"bytes"
	"encoding/json"
	"log/slog"
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
	if err := os.Remove(filepath.Join(f.config.Keysets, "pii.prf.json")); err != nil {
		t.Fatal(err)
	}
	a := f.start()
	served := a.get("/v1/keysets", "").keysets(t).Keysets["pii"]
	if len(served) != 2 || served["aead"] == nil || served["deterministic"] == nil {
		t.Errorf("%d purposes are served", len(served))
	}
	if health := a.get("/healthz", ""); strings.Contains(health.body, "degraded") {
		t.Errorf("health %s", health.body)
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

func TestBrokenFileKeepsLastGoodKeysetsAndThenNone(t *testing.T) {
	f := newFixture(t)
	f.config.MaxStale = 2 * time.Second
	f.create("pii")
	a := f.start()
	before := a.get("/v1/keysets", "")
	good := f.breakFile("pii.aead.json")

	a.until("/healthz", func(got answer) bool { return strings.Contains(got.body, `"degraded"`) })
	if kept := a.get("/v1/keysets", ""); kept.status != 200 || kept.body != before.body {
		t.Errorf("status %d soon after the file broke", kept.status)
	}
	for _, path := range []string{"/v1/keysets", "/healthz"} {
		none := a.until(path, func(got answer) bool { return got.status == 503 })
		var reason struct{ Error string }
		if json.Unmarshal([]byte(none.body), &reason) != nil || !strings.Contains(reason.Error, "pii.aead.json") {
			t.Errorf("%s: body %q", path, none.body)
		}
	}
	if n := strings.Count(a.log.String(), "not a Tink encrypted keyset"); n != 1 {
		t.Errorf("the log speaks of it %d times:\n%s", n, a.log)
	}

	f.write("pii.aead.json", good)
	if again := a.until("/v1/keysets", func(got answer) bool { return got.status == 200 }); again.body != before.body {
		t.Error("other keysets are served after the file was restored")
	}
}

func TestOneBrokenKeysetLeavesTheOthersServed(t *testing.T) {
	f := newFixture(t)
	f.config.MaxStale = 500 * time.Millisecond
	f.create("pii")
	f.create("payments")
	f.breakFile("payments.deterministic.json")
	a := f.start()

	served := a.get("/v1/keysets", "").keysets(t)
	if len(served.Keysets) != 1 || served.Keysets["pii"] == nil {
		t.Errorf("%d keysets are served", len(served.Keysets))
	}
	if health := a.get("/healthz", ""); health.status != 200 || !strings.Contains(health.body, "payments.deterministic.json") {
		t.Errorf("health: %s", health.body)
	}
}

func TestRemovedKeysetIsDroppedAtTheNextRefresh(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("payments")
	a := f.start()
	for _, purpose := range keystore.Purposes {
		if err := os.Remove(filepath.Join(f.config.Keysets, "payments."+string(purpose)+".json")); err != nil {
			t.Fatal(err)
		}
	}
	a.until("/v1/keysets", func(got answer) bool { return len(got.keysets(t).Keysets) == 1 })
}

func TestLostKEKKeepsLastGoodKeysetsAndThenNone(t *testing.T) {
	f := newFixture(t)
	f.config.MaxStale = 2 * time.Second
	f.create("pii")
	a := f.start()
	if err := os.Rename(f.kekFile, f.kekFile+".away"); err != nil {
		t.Fatal(err)
	}
	a.until("/healthz", func(got answer) bool { return got.status == 200 && strings.Contains(got.body, `"degraded"`) })
	a.until("/v1/keysets", func(got answer) bool { return got.status == 503 })
	if err := os.Rename(f.kekFile+".away", f.kekFile); err != nil {
		t.Fatal(err)
	}
	a.until("/v1/keysets", func(got answer) bool { return got.status == 200 })
}

func TestHealthAndLogTellKeyIDsAndNoKeyMaterial(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	health := a.get("/healthz", "")
	var body healthAnswer
	if err := json.Unmarshal([]byte(health.body), &body); err != nil {
		t.Fatal(err)
	}
	pii := body.Keysets["pii"]
	if body.Status != "ok" || pii.OpenSince.IsZero() || pii.Purposes["aead"].PrimaryKeyID != f.primary("pii", keystore.AEAD) {
		t.Errorf("health: %s", health.body)
	}
	f.rotate("pii")
	a.until("/healthz", func(got answer) bool { return !strings.Contains(got.body, body.Revision) })
	for purpose, text := range a.get("/v1/keysets", "").keysets(t).Keysets["pii"] {
		var cleartext struct {
			Key []struct{ KeyData struct{ Value string } }
		}
		if err := json.Unmarshal(text, &cleartext); err != nil || len(cleartext.Key) == 0 {
			t.Fatalf("%s: %v", purpose, err)
		}
		for _, key := range cleartext.Key {
			if strings.Contains(health.body+a.log.String(), key.KeyData.Value) {
				t.Errorf("%s: key material in the health or the log", purpose)
			}
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

func TestAgentWithNothingToOpenEndsWithOneLine(t *testing.T) {
	for name, prepare := range map[string]func(*fixture){
		"no keyset":     func(*fixture) {},
		"only a broken": func(f *fixture) { f.write("pii.aead.json", "{") },
	} {
		f := newFixture(t)
		prepare(f)
		err := Run(t.Context(), f.config, slog.New(slog.DiscardHandler))
		if fault.ExitStatus(err) != fault.ExitFailure || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(f.config.Socket); err == nil {
			t.Errorf("%s: a socket is left", name)
		}
	}
}

func TestSettingsThatCouldNotWorkAreRefused(t *testing.T) {
	for _, config := range []Config{
		{Refresh: time.Millisecond, MaxStale: time.Minute},
		{Refresh: -time.Second, MaxStale: time.Minute},
		{Refresh: time.Minute, MaxStale: 90 * time.Second},
	} {
		if err := config.Check(); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%+v: %v", config, err)
		}
	}
}
