package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/receipt"
)

// killed is a command that is killed, and what has to hold after it.
type killed struct {
	arguments []string
	check     func()
}

var toBeKilled = map[string]func(*testFolder) killed{
	"create": killedCreate, "rotate": killedRotate, "rewrap": killedRewrap,
	"destroy a name": killedDestroy, "destroy a key": killedDestroyKey,
}

// The real command, killed at random points of its run.
func TestKilledCommandLosesNothingAndLeavesNothingHalfDone(t *testing.T) {
	const kills = 20
	for name, prepare := range toBeKilled {
		t.Run(name, func(t *testing.T) {
			f, _ := newRotated(t)
			whole := f.command(prepare(f).arguments...)
			started := time.Now()
			if out, err := whole.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			usual := time.Since(started)
			for range kills {
				f, _ := newRotated(t)
				one := prepare(f)
				command := f.command(one.arguments...)
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(rand.N(usual + usual/4))
				_ = command.Process.Kill()
				_ = command.Wait()
				one.check()
			}
		})
	}
}

// The same at the system calls with which it changes anything on the disk. They
// are counted by thread, and which thread makes which is by chance.
func TestCommandKilledAtSystemCallsThatChangeTheDisk(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there")
	}
	for name, prepare := range toBeKilled {
		t.Run(name, func(t *testing.T) {
			for step := 1; ; step++ {
				f, _ := newRotated(t)
				one := prepare(f)
				command := f.command(one.arguments...)
				command.Args = append([]string{
					strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,linkat,renameat,renameat2,unlinkat,mkdirat",
					"-e", "inject=fsync,linkat,renameat,renameat2,unlinkat,mkdirat:signal=SIGKILL:when=" + strconv.Itoa(step), command.Path,
				}, command.Args[1:]...)
				command.Path = strace
				err := command.Run()
				if one.check(); err == nil {
					return
				}
			}
		})
	}
}

func killedCreate(f *testFolder) killed {
	before := f.content()
	return killed{[]string{"keys", "create", "new"}, func() {
		_, _ = f.verified("pii")
		if status, _, said := run(f.T, f.complete([]string{"keys", "create", "new"})...); status != 0 {
			for _, purpose := range []string{"aead", "deterministic", "prf"} {
				if strings.Contains(said, "give it what it lacks with: fieldveil keys create new --purpose "+purpose) {
					f.ok("keys", "create", "new", "--purpose", purpose)
					_, _, said = run(f.T, f.complete([]string{"keys", "create", "new"})...)
				}
			}
		}
		if ids, _ := f.verified("new"); len(ids) != 3 {
			f.Errorf("keys %v", ids)
		}
		f.ok("keys", "rotate", "new") // which sweeps
		f.wantNothingStaged("new")
		for _, file := range []string{"pii.aead.json", "pii.deterministic.json", "pii.prf.json"} {
			if !strings.Contains(before, string(f.read(f.file(file)))) {
				f.Errorf("%s changed", file)
			}
		}
	}}
}

func killedRotate(f *testFolder) killed {
	before, _ := f.verified("pii")
	other := f.read(f.file("pii.prf.json"))
	return killed{[]string{"keys", "rotate", "pii"}, func() {
		after, _ := f.verified("pii")
		for id := range before {
			if !after[id] {
				f.Errorf("the key %d is lost", id)
			}
		}
		if len(after) > len(before)+1 || !bytes.Equal(other, f.read(f.file("pii.prf.json"))) {
			f.Errorf("before %v, after %v", before, after)
		}
		f.ok("keys", "rotate", "pii")
		f.wantNothingStaged("pii")
	}}
}

func killedRewrap(f *testFolder) killed {
	f.ok("keys", "create", "pii/acme")
	before := f.secrets("pii", f.kek)
	arguments := []string{"keys", "rewrap", "--all", "--new-kek-uri", kek.InsecureDevURI(f.beside("next.json"))}
	return killed{arguments, func() {
		f.ok(arguments...)
		for _, name := range []string{"pii", "pii/acme"} {
			f.ok("keys", "verify", name, "--kek-uri", kek.InsecureDevURI(f.beside("next.json")))
		}
		if after := f.secrets("pii", f.beside("next.json")); !maps.EqualFunc(before, after, bytes.Equal) {
			f.Error("the keys are others")
		}
	}}
}

func killedDestroy(f *testFolder) killed {
	f.ok("keys", "create", "pii/acme")
	f.ok("keys", "rotate", "pii/acme")
	other := f.read(f.file("pii.aead.json"))
	secrets := f.secrets("pii/acme", f.kek)
	file := f.beside("receipt.json")
	arguments := []string{"keys", "destroy", "pii/acme", "--yes", "--receipt", file, "--receipt-keyset", f.beside("receipts.json")}
	return killed{arguments, func() {
		f.wantReceiptOnlyIfDestroyed(file, secrets)
		f.finish(file, arguments, "pii/acme", true, secrets)
		if left, _ := filepath.Glob(filepath.Join(f.keysets, "*acme*")); len(left) > 0 || !bytes.Equal(other, f.read(f.file("pii.aead.json"))) {
			f.Errorf("left %v, or another name changed", left)
		}
		f.wantNothingStaged("pii/acme")
	}}
}

func killedDestroyKey(f *testFolder) killed {
	keyID := f.inspect("pii")[0].Keys[0].KeyID
	secrets := map[uint32][]byte{keyID: f.secrets("pii", f.kek)[keyID]}
	file := f.beside("receipt.json")
	arguments := []string{
		"keys", "destroy", "pii", "--key-id", fmt.Sprint(keyID), "--yes", "--receipt", file, "--receipt-keyset", f.beside("receipts.json"),
	}
	return killed{arguments, func() {
		f.wantReceiptOnlyIfDestroyed(file, secrets)
		f.finish(file, arguments, "pii", false, secrets)
		if ids, _ := f.verified("pii"); len(ids) != 3 || ids[keyID] {
			f.Errorf("keys %v", ids)
		}
		f.ok("keys", "rotate", "pii")
		f.wantNothingStaged("pii")
	}}
}

// wantReceiptOnlyIfDestroyed holds for a receipt that is there, and for whatever
// else a killed command left that could be taken for one.
func (f *testFolder) wantReceiptOnlyIfDestroyed(file string, secrets map[uint32][]byte) {
	f.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*receipt.json*"))
	if err != nil {
		f.Fatal(err)
	}
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*receipt.json*"))
	for _, path := range slices.Concat(left, hidden) {
		if _, err := receipt.Check(path, f.beside("public.json")); err == nil {
			f.wantNowhere(secrets, f.kek)
		}
	}
	if _, err := os.Lstat(file); err == nil {
		if _, err := receipt.Check(file, f.beside("public.json")); err != nil {
			f.Errorf("a receipt that is none: %v", err)
		}
	}
}

// finish runs the command again, unless its receipt was there already.
func (f *testFolder) finish(file string, arguments []string, name string, whole bool, secrets map[uint32][]byte) {
	f.Helper()
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		f.ok(arguments...)
	}
	statement, err := receipt.Check(file, f.beside("public.json"))
	if err != nil {
		f.Fatal(err)
	}
	named := map[uint32]bool{}
	for _, k := range statement.Keysets {
		for _, id := range k.KeyIDs {
			named[id] = true
		}
	}
	for id := range secrets {
		if !named[id] {
			f.Errorf("the receipt lacks key %d", id)
		}
	}
	if statement.Name != name || statement.Whole != whole || len(named) != len(secrets) {
		f.Errorf("the receipt states %+v", statement)
	}
	f.wantNowhere(secrets, f.kek)
}

// verified gives the ids of a name's keys, all of which were used.
func (f *testFolder) verified(name string) (map[uint32]bool, string) {
	f.Helper()
	said, _ := f.ok("keys", "verify", name)
	ids := map[uint32]bool{}
	for _, one := range f.inspect(name) {
		for _, key := range one.Keys {
			ids[key.KeyID] = true
		}
	}
	return ids, said
}

func (f *testFolder) wantNothingStaged(name string) {
	f.Helper()
	for _, pattern := range []string{".*", "backups/.*"} {
		left, err := filepath.Glob(filepath.Join(f.keysets, pattern))
		if err != nil {
			f.Fatal(err)
		}
		if of := "." + strings.ReplaceAll(name, "/", ".") + "."; slices.ContainsFunc(left, func(path string) bool {
			return strings.HasPrefix(filepath.Base(path), of)
		}) {
			f.Errorf("left over: %v", left)
		}
	}
}
