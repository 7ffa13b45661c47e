package keys

import (
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

func TestWhatKilledRunsStagedIsRemovedByTheNext(t *testing.T) {
	f, _ := newRotated(t)
	for _, one := range []struct {
		staged    string
		arguments []string
	}{
		{".d.json.1", []string{"create-insecure-dev-kek", "--out", f.beside("d.json")}},
		{".s.json.1", []string{"create-receipt-keyset", "--out", f.beside("s.json"), "--public-out", f.beside("p.json")}},
		{".p2.json.1", []string{"create-receipt-keyset", "--out", f.beside("s2.json"), "--public-out", f.beside("p2.json")}},
		{".receipts.json.1", []string{"rewrap", "--receipt-keyset", f.beside("receipts.json"), "--new-kek-uri", kek.InsecureDevURI(f.kek)}},
		{"..r.json.pending.1", []string{"destroy", "pii", "--yes", "--receipt", f.beside("r.json"), "--receipt-keyset", f.beside("receipts.json")}},
	} {
		f.write(f.beside(one.staged), []byte("x"))
		f.ok(append([]string{"keys"}, one.arguments...)...)
		if left, _ := filepath.Glob(f.beside(one.staged)); len(left) > 0 {
			t.Errorf("%q: left %v", one.arguments, left)
		}
	}
}
