package keys

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Processes of the real command at the same time: each change is there in the
// end, and none is half of another.
func TestConcurrentCommandsLoseNoChange(t *testing.T) {
	f, _ := newRotated(t)
	f.ok("keys", "create", "pii/acme")
	f.ok("keys", "create", "pii/globex")
	secrets := f.secrets("pii/acme", f.kek)
	const rotations = 8
	lines := []string{"destroy pii/acme --yes --receipt " + f.beside("r.json") + " --receipt-keyset " + f.beside("receipts.json"), "create other", "verify pii"}
	for range rotations {
		lines = append(lines, "rotate pii --add", "rotate pii/globex")
	}
	var group sync.WaitGroup
	for _, line := range lines {
		group.Go(func() {
			if out, err := f.command(append([]string{"keys"}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		})
	}
	group.Wait()
	f.ok("keys", "verify")
	if keys := f.inspect("pii")[0].Keys; len(keys) != rotations+2 {
		t.Errorf("%d keys, not %d", len(keys), rotations+2)
	}
	if keys := f.inspect("pii/globex")[0].Keys; len(keys) != rotations+1 {
		t.Errorf("%d keys, not %d", len(keys), rotations+1)
	}
	for _, key := range f.inspect("pii")[0].Keys {
		if key.Created == nil {
			t.Errorf("when key %d was made is lost", key.KeyID)
		}
	}
	f.wantNowhere(secrets, f.kek)
	f.ok("keys", "check-receipt", f.beside("r.json"), "--public-keyset", f.beside("public.json"))
}

// Of several destructions at once that name one receipt, one is done and attested;
// the others destroy nothing.
func TestOneReceiptAttestsOneDestruction(t *testing.T) {
	f, _ := newRotated(t)
	const tenants = 6
	for i := range tenants {
		f.ok("keys", "create", fmt.Sprintf("pii/t%d", i))
	}
	var group sync.WaitGroup
	for i := range tenants {
		group.Go(func() {
			_ = f.command("keys", "destroy", fmt.Sprintf("pii/t%d", i), "--yes", "--receipt", f.beside("r.json"), "--receipt-keyset", f.beside("receipts.json")).Run()
		})
	}
	group.Wait()
	said, _ := f.ok("keys", "check-receipt", f.beside("r.json"), "--public-keyset", f.beside("public.json"))
	left := 0
	for i := range tenants {
		name := fmt.Sprintf("pii/t%d", i)
		if status, _, _ := run(t, f.complete([]string{"keys", "verify", name})...); status == 0 {
			left++
		} else if !strings.Contains(said, "all keysets of "+name) {
			t.Errorf("%s is destroyed, and the receipt says\n%s", name, said)
		}
	}
	if left != tenants-1 {
		t.Errorf("%d of %d tenants are left", left, tenants)
	}
}
