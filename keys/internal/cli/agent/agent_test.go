package agent

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var run = commandtest.Of(New)

func TestBadInputIsOneLineStatusTwoAndChangesNothing(t *testing.T) {
	folder, flags := newKeysets(t)
	kekFile, missing := filepath.Join(folder, "kek.json"), filepath.Join(folder, "keysets", "none")
	before := commandtest.Content(t, folder)
	for _, arguments := range [][]string{
		{}, {"--socket", missing + "/s"}, {"--socket", kekFile, "--refresh", "1"},
		{"--socket", kekFile, "--refresh", "1ms"}, {"--socket", kekFile, "--max-offline", "1s"}, {"--socket", kekFile},
		{"--socket", kekFile, "--allow-uid", "root"}, {"--socket", kekFile, "--allow-uid", "4294967295"},
		{"--socket", kekFile, "--metrics-address", "nowhere"}, {"--socket", kekFile, "--max-tenants", "9999"},
		{"--socket", kekFile, "--keysets", missing}, {"--socket", kekFile, "--kek-uri", kek.InsecureDevURI(missing)},
		{"--socket", kekFile, "--keysets", ""}, {"--socket", kekFile, "--kek-uri", ""},
	} {
		run.WantBadInput(t, "", append(slices.Clip(flags), arguments...)...)
	}
	if commandtest.Content(t, folder) != before {
		t.Error("something changed")
	}
}

func TestAgentStopsOnSIGTERMWithStatusZero(t *testing.T) {
	folder, flags := newKeysets(t)
	socket := filepath.Join(folder, "s")
	ended := make(chan int, 1)
	go func() {
		status, _, _ := run(t, append(slices.Clip(flags), "--socket", socket)...)
		ended <- status
	}()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no socket")
		}
	}
	// The agent catches it before the socket is there, so this process lives on.
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case status := <-ended:
		if status != 0 {
			t.Errorf("status %d", status)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not stop")
	}
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is still there")
	}
}

// newKeysets makes keysets, and a key-encryption key beside their folder, and gives the command with the flags that name them.
func newKeysets(t *testing.T) (folder string, command []string) {
	t.Helper()
	folder = testfile.Folder(t)
	kekFile, keysets := filepath.Join(folder, "kek.json"), filepath.Join(folder, "keysets")
	if err := kek.CreateInsecureDev(kekFile); err != nil {
		t.Fatal(err)
	}
	aead, err := kek.Open(kek.InsecureDevURI(kekFile))
	if err != nil {
		t.Fatal(err)
	}
	store, err := keystore.OpenOrMake(keysets)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create("pii", keystore.DefaultAEADTemplate, aead); err != nil {
		t.Fatal(err)
	}
	return folder, []string{"agent", "--keysets", keysets, "--kek-uri", kek.InsecureDevURI(kekFile)}
}
