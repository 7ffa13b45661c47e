package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

func TestDestroyedTenantIsNowhereAndTheReceiptSaysSo(t *testing.T) {
	f, _ := newRotated(t)
	f.ok("keys", "create", "pii/acme")
	f.ok("keys", "rotate", "pii/acme")
	f.ok("keys", "create", "pii/globex")
	secrets := f.secrets("pii/acme", f.kek)
	file := f.beside("receipt.json")
	f.ok("keys", "destroy", "pii/acme", "--yes", "--receipt", file, "--receipt-keyset", f.beside("receipts.json"))
	f.wantNowhere(secrets, f.kek)
	if len(f.secrets("pii/globex", f.kek)) != 3 || len(f.secrets("pii", f.kek)) != 4 {
		t.Error("more than the tenant's keys is gone")
	}

	// An auditor has the receipt and the public keyset alone.
	elsewhere := t.TempDir()
	for _, from := range []string{file, f.beside("public.json")} {
		f.write(filepath.Join(elsewhere, filepath.Base(from)), f.read(from))
	}
	said, _ := f.ok("keys", "check-receipt", filepath.Join(elsewhere, "receipt.json"), "--public-keyset", filepath.Join(elsewhere, "public.json"))
	for _, part := range []string{"the signature is good", "all keysets of pii/acme", "wrapped by: " + kek.InsecureDevURI(f.kek), "aead keys: ", "prf keys: "} {
		if !strings.Contains(said, part) {
			t.Errorf("no %q in\n%s", part, said)
		}
	}
	for id := range secrets {
		if !strings.Contains(said, fmt.Sprint(id)) {
			t.Errorf("no key %d in\n%s", id, said)
		}
	}
}

func TestReceiptKeysetMayHaveAKeyEncryptionKeyOfItsOwn(t *testing.T) {
	f, _ := newRotated(t)
	next := kek.InsecureDevURI(f.beside("next.json"))
	said, _ := f.ok("keys", "rewrap", "--receipt-keyset", f.beside("receipts.json"), "--new-kek-uri", next)
	if !strings.Contains(said, "rewrapped") {
		t.Errorf("said %s", said)
	}
	status, _, errors := run(t, f.complete([]string{
		"keys", "destroy", "pii", "--yes", "--receipt", f.beside("r.json"), "--receipt-keyset", f.beside("receipts.json"),
	})...)
	if status != 2 || !strings.Contains(errors, "does not open it") {
		t.Errorf("status %d: %s", status, errors)
	}
	f.ok("keys", "destroy", "pii", "--yes", "--receipt", f.beside("r.json"), "--receipt-keyset", f.beside("receipts.json"), "--receipt-kek-uri", next)
	f.ok("keys", "check-receipt", f.beside("r.json"), "--public-keyset", f.beside("public.json"))
}

func TestDestroyAsksAtATerminal(t *testing.T) {
	f, keyID := newRotated(t)
	before := f.content()
	for _, one := range []struct {
		arguments []string
		answer    string
		status    int
	}{
		{[]string{"destroy", "pii"}, "yes\n", 2},
		{[]string{"destroy", "pii"}, "\n", 2},
		{[]string{"destroy", "pii"}, "\x04", 2}, // end of input
		{[]string{"destroy", "pii", "--key-id", keyID}, "pii\n", 2},
		{[]string{"destroy", "pii", "--key-id", keyID}, keyID + "\n", 0},
		{[]string{"destroy", "pii"}, "pii\n", 0},
	} {
		command := f.command(append([]string{"keys"}, one.arguments...)...)
		said := f.atTerminal(command, one.answer)
		if status := command.ProcessState.ExitCode(); status != one.status || !strings.Contains(said, "This can not be undone. Write ") {
			t.Errorf("%q, answered %q: status %d: %s", one.arguments, one.answer, status, said)
		}
		if one.status != 0 && f.content() != before {
			t.Fatalf("%q, answered %q: something changed", one.arguments, one.answer)
		}
	}
	if left, _ := filepath.Glob(f.file("pii*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestDestroyInJSONAsksBesideTheDocument(t *testing.T) {
	f, _ := newRotated(t)
	command := f.command("keys", "destroy", "pii", "--output", "json")
	var output bytes.Buffer
	command.Stdout = &output
	said := f.atTerminal(command, "pii\n")
	var document destroyed
	if err := json.Unmarshal(output.Bytes(), &document); err != nil || document.Name != "pii" || !strings.Contains(said, "will destroy") {
		t.Errorf("%v\n%s%s", err, output.String(), said)
	}
}

// atTerminal runs a command with a terminal as its input, and gives what it says
// there and on standard error.
func (f *testFolder) atTerminal(command *exec.Cmd, answer string) string {
	f.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		f.Fatal(err)
	}
	defer terminal.Close()
	if err := unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		f.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err != nil {
		f.Fatal(err)
	}
	input, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		f.Fatal(err)
	}
	defer input.Close()
	var said bytes.Buffer
	command.Stdin, command.Stderr = input, &said
	if command.Stdout == nil {
		command.Stdout = &said
	}
	if _, err := terminal.WriteString(answer); err != nil {
		f.Fatal(err)
	}
	_ = command.Run()
	return said.String()
}
