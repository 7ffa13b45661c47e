package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestBrokenFileIsRefusedAndTheOldKeysetKept(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	before := a.get("/v1/keysets", "")
	for what, harm := range map[string]func() (good string){
		"cut short":            func() string { return f.breakFile("pii.aead.json") },
		"of another algorithm": func() string { return f.swap("pii.aead.json", "pii.prf.json") },
	} {
		good := harm()
		told := a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "pii.aead.json") })
		if told.status != 200 {
			t.Errorf("%s: not ready: %s", what, told.body)
		}
		if kept := a.get("/v1/keysets", ""); kept.status != 200 || kept.body != before.body {
			t.Errorf("%s: status %d, and not what was served before", what, kept.status)
		}
		if refused := a.metric(`keyset_files_refused{keyset="pii"}`); refused != "1" {
			t.Errorf("%s: metric %s", what, refused)
		}
		f.write("pii.aead.json", good)
		a.until("/readyz", func(got answer) bool { return !strings.Contains(got.body, "problems") })
		if refused := a.metric(`keyset_files_refused{keyset="pii"}`); refused != "0" {
			t.Errorf("%s: metric %s after it was restored", what, refused)
		}
	}
	if n := strings.Count(a.log.String(), "not a Tink encrypted keyset"); n != 1 {
		t.Errorf("the log speaks of it %d times:\n%s", n, a.log)
	}
	if !strings.Contains(a.log.String(), "served as it was before its files changed") {
		t.Errorf("the log does not tell what follows:\n%s", a.log)
	}
	if again := a.get("/v1/keysets", ""); again.body != before.body {
		t.Error("other keysets are served after the file was restored")
	}
}

func TestFolderWithoutKeysetsIsTold(t *testing.T) {
	f := newFixture(t)
	f.write("kek.json", "{}")
	a := f.startUnready()
	told := a.until("/readyz", func(answer) bool { return strings.Contains(a.log.String(), "no keyset found: ") })
	if told.status != 503 {
		t.Errorf("ready without a keyset: %s", told.body)
	}
}

// swap puts another file's text in a file's place.
func (f *fixture) swap(file, other string) (good string) {
	f.Helper()
	text := testfile.Read(f, filepath.Join(f.config.Keysets, file))
	wrong := testfile.Read(f, filepath.Join(f.config.Keysets, other))
	f.write(file, string(wrong))
	return string(text)
}

func TestOneBrokenKeysetLeavesTheOthersServedAndTheAgentUnready(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("payments")
	f.breakFile("payments.deterministic.json")
	a := f.startUnready()
	a.until("/v1/keysets", func(got answer) bool { return got.status == 200 && got.names(t) == "pii" })
	if ready := a.get("/readyz", ""); ready.status != 503 || !strings.Contains(ready.body, "payments.deterministic.json") {
		t.Errorf("status %d: %s", ready.status, ready.body)
	}
}

func TestRemovedNameOrPurposeIsServedNoMore(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("payments")
	a := f.start()
	testfile.Remove(t, filepath.Join(f.config.Keysets, "pii.prf.json"))
	f.remove("payments")
	got := a.until("/v1/keysets", func(got answer) bool { return got.names(t) == "pii" && len(got.keysets(t).Keysets["pii"]) == 2 })
	if got.keysets(t).Keysets["pii"]["aead"] == nil {
		t.Error("another purpose went, too")
	}
	// The last name, too: an empty answer, so that no worker goes on with it.
	for _, purpose := range []keystore.Purpose{keystore.AEAD, keystore.Deterministic} {
		testfile.Remove(t, filepath.Join(f.config.Keysets, "pii."+string(purpose)+".json"))
	}
	if got := a.until("/v1/keysets", func(got answer) bool { return got.names(t) == "" }); got.status != 200 {
		t.Errorf("status %d", got.status)
	}
}

func TestFolderThatIsGoneDropsNothing(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	away := f.config.Keysets + ".away"
	if err := os.Rename(f.config.Keysets, away); err != nil {
		t.Fatal(err)
	}
	for what, prepare := range map[string]func() error{
		"no folder":             func() error { return nil },
		"an empty mount point":  func() error { return os.Mkdir(f.config.Keysets, 0o700) },
		"a file in its place":   func() error { return os.WriteFile(f.config.Keysets, nil, 0o600) },
		"a link that dangles":   func() error { return os.Symlink(away+".none", f.config.Keysets) },
		"links that lead round": func() error { return os.Symlink(f.config.Keysets, f.config.Keysets) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		a.until("/metrics", func(answer) bool { return a.metric("folder_problem") == "1" })
		if got := a.get("/v1/keysets", ""); got.names(t) != "pii" {
			t.Errorf("%s: keysets %q", what, got.names(t))
		}
		if err := os.RemoveAll(f.config.Keysets); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(away, f.config.Keysets); err != nil {
		t.Fatal(err)
	}
	a.until("/metrics", func(answer) bool { return a.metric("folder_problem") == "0" })
}

func TestOverfullFolderDropsWhatIsRemovedAndTakesUpNothingNew(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"pii", "payments", "pii/acme"} {
		f.create(name)
	}
	a := f.start()
	path := "/v1/keysets?tenant=pii/acme"
	if got := a.get(path, ""); got.names(t) != "payments pii pii/acme" {
		t.Fatalf("keysets %q", got.names(t))
	}
	// At once: a scan that comes between two writes would know some of the new names.
	store := f.config.Keysets
	full := store + "-full"
	err := os.CopyFS(full, os.DirFS(store))
	for i := range keystore.MaxKeysets {
		err = errors.Join(err, os.WriteFile(filepath.Join(full, fmt.Sprintf("new%d.aead.json", i)), []byte("{}"), 0o600))
	}
	if err := errors.Join(err, os.Rename(store, store+"-former"), os.Rename(full, store)); err != nil {
		t.Fatal(err)
	}
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "more keysets than one agent serves") })
	f.remove("payments")
	f.remove("pii/acme")
	f.write("new.aead.json", "{}")
	a.until(path, func(got answer) bool { return got.names(t) == "pii" })
	primary := f.primary("pii", keystore.AEAD)
	f.rotate("pii")
	a.until("/readyz", func(got answer) bool {
		return !strings.Contains(got.body, fmt.Sprintf(`"primary_key_id":%d,`, primary))
	})
	if configured := a.metric("keysets_configured"); configured != "1" {
		t.Errorf("%s names", configured)
	}
}

// As the kubelet mounts a ConfigMap or Secret: files are links through ..data,
// which is swapped for another folder.
func TestSwappedConfigMapMountIsTakenUp(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.create("pii/acme")
	store := f.config.Keysets
	mount := filepath.Join(filepath.Dir(store), "mount")
	if err := os.Mkdir(mount, 0o700); err != nil {
		t.Fatal(err)
	}
	project := func(version string) {
		t.Helper()
		testfile.CopyFolder(t, filepath.Join(mount, "..v"+version), store)
		next := filepath.Join(mount, "..data_tmp")
		if err := os.Symlink("..v"+version, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(mount, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	project("1")
	// A key of a Secret has no slash in it, and needs none: a tenant's name is part of the file's.
	files, err := os.ReadDir(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		file := entry.Name()
		if err := os.Symlink(filepath.Join("..data", file), filepath.Join(mount, file)); err != nil {
			t.Fatal(err)
		}
	}
	f.config.Keysets = mount
	a := f.start()
	before := a.get("/v1/keysets", "")
	a.until("/v1/keysets?tenant=pii/acme", func(got answer) bool { return got.names(t) == "pii pii/acme" })

	f.config.Keysets = store
	f.rotate("pii")
	project("2")
	a.until("/v1/keysets", func(got answer) bool { return got.body != before.body })
	var ready answer = a.get("/readyz", "")
	if !strings.Contains(ready.body, "primary_key_id") || strings.Contains(ready.body, "problems") {
		t.Errorf("ready: %s", ready.body)
	}

	// Kubernetes removes links whose key is gone; one that dangles is a broken file.
	testfile.Remove(t, filepath.Join(mount, "..data"))
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "problems") })
	if got := a.get("/v1/keysets", ""); got.names(t) != "pii" {
		t.Errorf("keysets %q", got.names(t))
	}
}

func TestEmptyFolderIsWaitedOnUntilItHoldsAKeyset(t *testing.T) {
	f := newFixture(t)
	a := f.startUnready()
	if got := a.until("/v1/keysets", func(got answer) bool { return got.status == 200 }); got.names(t) != "" {
		t.Errorf("keysets %q", got.names(t))
	}
	if got := a.get("/readyz", ""); got.status != 503 || !strings.Contains(got.body, "no keyset is there") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	f.create("pii")
	a.until("/readyz", func(got answer) bool { return got.status == 200 })
}
