package keystore

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestPublicHalfThatAKilledRunLeftAloneIsSaid(t *testing.T) {
	_, kek := newStore(t)
	folder := t.TempDir()
	path, public := filepath.Join(folder, "receipts.json"), filepath.Join(folder, "public.json")
	half := func(*keyset.Handle) ([]byte, error) { return []byte("half"), nil }
	testfile.Write(t, public, "half")
	_, err := CreateSignature(path, public, half, kek, func() {})
	wantFault(t, err, fault.ExitBadInput, "remove it if a run that was cut short left it")
	if !strings.Contains(err.Error(), path+" does not") {
		t.Error(err)
	}
}
