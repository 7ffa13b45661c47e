package agent

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/localsocket"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestSocketIsForItsOwnerAloneAndGoesWithTheAgent(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	info, err := os.Lstat(f.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Mode().Type() != fs.ModeSocket {
		t.Errorf("mode %s", info.Mode())
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(f.config.Socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	// What an agent that was killed leaves: a bound name that nobody listens on.
	listener, err := net.Listen("unix", f.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	listener.Close()
	if _, err := os.Lstat(f.config.Socket); err != nil {
		t.Fatal(err)
	}
	if got := f.start().get("/v1/keysets", ""); got.status != 200 {
		t.Errorf("status %d", got.status)
	}
}

func TestLiveSocketIsNotReplaced(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	err := Run(t.Context(), f.config, slog.New(slog.DiscardHandler))
	if fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("the second agent: %v", err)
	}
	if got := a.get("/v1/keysets", ""); got.status != 200 {
		t.Errorf("the first agent: status %d", got.status)
	}
}

func TestOfManyAgentsStartedOnAStaleSocketOneServes(t *testing.T) {
	f := newFixture(t)
	stale, err := net.Listen("unix", f.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()

	var mutex sync.Mutex
	var listeners []net.Listener
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if listener, err := localsocket.Listen(t.Context(), f.config.Socket); err == nil {
				mutex.Lock()
				defer mutex.Unlock()
				listeners = append(listeners, listener)
			}
		})
	}
	group.Wait()
	if len(listeners) != 1 {
		t.Errorf("%d agents listen", len(listeners))
	}
	for _, listener := range listeners {
		listener.Close()
	}
}

func TestOtherFilesAndImpossiblePathsAreRefused(t *testing.T) {
	f := newFixture(t)
	testfile.Write(t, f.config.Socket, "mine")
	for path, reason := range map[string]string{
		f.config.Socket:                                   "no socket is there",
		f.config.Keysets + "/no/sock":                     "folder does not exist",
		f.config.Keysets + "/" + strings.Repeat("x", 200): "longer than",
	} {
		_, err := localsocket.Listen(t.Context(), path)
		if fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, err := os.ReadFile(f.config.Socket); err != nil || string(text) != "mine" {
		t.Error("the other file was touched")
	}
}

func TestLockedFolderOfTheSocketHoldsUpNeitherTheStartForEverNorTheEnd(t *testing.T) {
	f := newFixture(t)
	folder, err := os.Open(filepath.Dir(f.config.Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := Run(ctx, f.config, slog.New(slog.DiscardHandler)); err != nil || time.Since(begun) > localsocket.LockPatience {
		t.Errorf("told to end: %v after %v", err, time.Since(begun))
	}
	err = Run(t.Context(), f.config, slog.New(slog.DiscardHandler))
	if fault.ExitStatus(err) != fault.ExitFailure || !strings.Contains(err.Error(), "keeps its folder locked") {
		t.Errorf("it ends with %v", err)
	}
}
