package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"google.golang.org/protobuf/proto"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// Every command that opens keysets meets every broken file: one line, status 2,
// and not a byte of the folder is another afterwards.
func TestBrokenKeysetsChangeNothingInEveryCommand(t *testing.T) {
	for name, one := range map[string]struct {
		break_ func(f *testFolder, path string)
		reason string
	}{
		"truncated":    {func(f *testFolder, path string) { f.write(path, f.read(path)[:100]) }, "not a Tink encrypted keyset"},
		"empty":        {func(f *testFolder, path string) { f.write(path, nil) }, "not a Tink encrypted keyset"},
		"a folder":     {func(f *testFolder, path string) { f.remove(path); _ = os.Mkdir(path, 0o700) }, "it is a folder"},
		"in clear":     {writeInClear, "in clear text"},
		"of no use":    {func(f *testFolder, path string) { f.write(path, f.read(f.file("pii.prf.json"))) }, "is of type"},
		"too long":     {func(f *testFolder, path string) { f.write(path, bytes.Repeat([]byte(" "), keystore.MaxFileBytes+1)) }, "longer than"},
		"twice the id": {forged(func(k *tinkpb.Keyset) { k.Key[1].KeyId = k.Key[0].KeyId }), "two of its keys have the id"},
		"unknown type": {forged(func(k *tinkpb.Keyset) {
			k.Key[0].KeyData.TypeUrl = "type.googleapis.com/google.crypto.tink.AesEaxKey"
		}), "is of type"},
		"no primary": {forged(func(k *tinkpb.Keyset) { k.PrimaryKeyId = 1 }), "its primary key 1 is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			f, keyID := newRotated(t)
			secrets := f.secrets("pii", f.kek)
			one.break_(f, f.file("pii.aead.json"))
			before := f.content()
			for _, arguments := range f.changing(keyID) {
				f.wantBadInput(secrets, one.reason, arguments...)
			}
			if f.content() != before {
				t.Error("something changed")
			}
		})
	}
}

func TestWrongKeyEncryptionKeyChangesNothingInAnyCommand(t *testing.T) {
	f, keyID := newRotated(t)
	f.ok("keys", "create-insecure-dev-kek", "--out", f.beside("wrong.json"))
	secrets := f.secrets("pii", f.kek)
	before := f.content()
	for _, arguments := range f.changing(keyID) {
		f.wantBadInput(secrets, "does not open it", append(arguments, "--kek-uri", kek.InsecureDevURI(f.beside("wrong.json")))...)
		f.wantBadInput(secrets, "no such key-encryption key file", append(arguments, "--kek-uri", kek.InsecureDevURI(f.beside("none.json")))...)
		f.wantBadInput(secrets, "no KMS is known for it", append(arguments, "--kek-uri", "nonsense://x")...)
	}
	f.wantBadInput(secrets, "does not open it", "keys", "destroy", "pii", "--yes", "--receipt", f.beside("r.json"),
		"--receipt-keyset", f.beside("receipts.json"), "--receipt-kek-uri", kek.InsecureDevURI(f.beside("wrong.json")))
	if f.content() != before {
		t.Error("something changed")
	}
}

func TestWhatIsAskedWronglyChangesNothing(t *testing.T) {
	f, keyID := newRotated(t)
	f.ok("keys", "create", "other")
	primary := fmt.Sprint(f.inspect("pii")[0].PrimaryKeyID)
	receipts, exists := f.beside("receipts.json"), f.beside("exists.json")
	f.write(exists, []byte("mine"))
	before := f.content()
	for _, line := range []string{
		"disable", "disable pii", "disable pii --key-id", "disable pii --key-id seven", "disable pii --key-id 1", "disable pii --key-id 4294967296",
		"disable pii --key-id PRIMARY", "disable none --key-id KEY", "disable pii --key-id KEY --purpose prf", "disable pii --key-id KEY --purpose x",
		"enable", "enable pii --key-id 1", "enable pii --key-id KEY --output yaml", "enable ../pii --key-id KEY",
		"rotate pii --promote 1", "rotate pii --output yaml", "rotate none --add",
		"destroy", "destroy pii", "destroy pii --key-id KEY", "destroy none --yes", "destroy pii --key-id 1 --yes", "destroy pii --key-id PRIMARY --yes",
		"destroy pii --purpose aead --yes", "destroy pii --key-id KEY --purpose prf --yes", "destroy pii --yes --output yaml",
		"destroy pii --yes --receipt NEW", "destroy pii --yes --receipt-keyset RECEIPTS", "destroy pii --yes --receipt NEW --receipt-keyset NONE",
		"destroy pii --yes --receipt EXISTS --receipt-keyset RECEIPTS", "destroy pii --yes --receipt NONE/deeper --receipt-keyset RECEIPTS",
		"destroy pii --yes --receipt NEW --receipt-keyset EXISTS", "destroy pii --yes --receipt NEW --receipt-keyset AEAD",
		"destroy pii --key-id KEY --yes --receipt EXISTS --receipt-keyset RECEIPTS",
		"rewrap", "rewrap pii", "rewrap --new-kek-uri KEK", "rewrap pii --all --new-kek-uri KEK", "rewrap none --new-kek-uri KEK",
		"rewrap pii --new-kek-uri insecure-dev-kek://NONE", "rewrap pii --new-kek-uri x", "rewrap --receipt-keyset NONE --new-kek-uri KEK",
		"rewrap pii ../x --new-kek-uri KEK", "rewrap pii --new-kek-uri KEK --output yaml",
		"verify none", "verify ../pii", "verify --output yaml", "verify --keysets NONE",
		"inspect", "inspect none", "inspect ../pii", "inspect pii --output yaml", "inspect pii --keysets NONE", "inspect pii/acme",
		"create-receipt-keyset", "create-receipt-keyset --out NEW", "create-receipt-keyset --out EXISTS --public-out NEW",
		"create-receipt-keyset --out NEW --public-out EXISTS", "create-receipt-keyset --out NONE/deeper --public-out NEW", "create-receipt-keyset --out NEW --public-out NONE/deeper",
		"check-receipt", "check-receipt NONE", "check-receipt NONE --public-keyset PUBLIC", "check-receipt EXISTS --public-keyset PUBLIC",
		"check-receipt EXISTS --public-keyset NONE", "check-receipt EXISTS --public-keyset RECEIPTS", "check-receipt EXISTS --public-keyset PUBLIC --output yaml",
		"create pii", "create pii --output yaml", "create a/b/c", "create x/ ", "create pii/..",
	} {
		line = strings.NewReplacer("KEY", keyID, "PRIMARY", primary, "RECEIPTS", receipts, "EXISTS", exists, "NEW", f.beside("new.json"), "NONE", f.beside("none"),
			"PUBLIC", f.beside("public.json"), "AEAD", f.file("pii.aead.json"), "KEK", kek.InsecureDevURI(f.kek)).Replace(line)
		f.wantBadInput(nil, "", append([]string{"keys"}, strings.Fields(line)...)...)
		if f.content() != before {
			t.Fatalf("%s: something changed", line)
		}
	}
}

func TestFolderThatCanNotBeWrittenChangesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a command as another user")
	}
	f, keyID := newRotated(t)
	// All of it can be read by that user, and nothing be written.
	for _, command := range [][]string{{"chmod", "-R", "a+rX", filepath.Dir(f.kek)}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	before := f.content()
	for _, arguments := range append(f.changing(keyID), []string{"keys", "create", "new"},
		[]string{"keys", "create-receipt-keyset", "--out", f.beside("a"), "--public-out", f.beside("b")}) {
		if arguments[1] == "verify" || arguments[1] == "enable" { // which write nothing here
			continue
		}
		command := f.command(arguments...)
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		var errors strings.Builder
		command.Stderr = &errors
		_ = command.Run()
		if command.ProcessState.ExitCode() != 2 || strings.Count(errors.String(), "\n") != 1 || !strings.Contains(errors.String(), "permission denied") {
			t.Errorf("%q: status %d: %s", arguments, command.ProcessState.ExitCode(), errors.String())
		}
	}
	if f.content() != before {
		t.Error("something changed")
	}
}

func TestVerifySaysEveryProblemAndWarns(t *testing.T) {
	f, _ := newRotated(t)
	f.ok("keys", "create", "pii/acme")
	f.remove(f.file("pii.acme.prf.json"))
	f.write(f.file("notes.json"), []byte("x"))
	said, warned := f.ok("keys", "verify")
	if strings.Count(said, "its enabled keys work") != 5 || !strings.Contains(warned, "it has no prf keyset") || !strings.Contains(warned, "notes.json") {
		t.Errorf("said\n%s%s", said, warned)
	}
	f.write(f.file("pii.aead.json"), []byte("x"))
	f.write(f.file("pii.acme.aead.json"), []byte("x"))
	f.write(f.file("pii.meta.json"), []byte("x"))
	status, output, errors := run(t, f.complete([]string{"keys", "verify", "--output", "json"})...)
	var document struct {
		OK      bool
		Keysets []struct {
			OK      bool
			Problem *string
		}
	}
	if err := json.Unmarshal([]byte(output), &document); err != nil {
		t.Fatal(err)
	}
	if status != 2 || document.OK || len(document.Keysets) != 5 || document.Keysets[0].Problem == nil || strings.Count(errors, "not a Tink encrypted keyset") != 2 ||
		!strings.Contains(errors, "when keys were made") {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestVerifyStopsAtAKMSThatDoesNotAnswer(t *testing.T) {
	t.Setenv("VAULT_ADDR", "https://127.0.0.1:1")
	t.Setenv("VAULT_TOKEN", "none")
	t.Setenv("VAULT_MAX_RETRIES", "0")
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	f.ok("keys", "create", "payments")
	status, _, errors := run(t, "keys", "verify", "--keysets", f.keysets, "--kek-uri", "hcvault:///transit/keys/x")
	if status != 1 || strings.Count(errors, "the KMS is away") != 1 || !strings.Contains(errors, "1 more names were not tried") {
		t.Errorf("status %d\n%s", status, errors)
	}
}

func TestFolderWithoutAKeysetIsBadInputWhereAllAreMeant(t *testing.T) {
	f := newFolder(t)
	testfile.MakeFolder(t, f.keysets)
	f.wantBadInput(nil, "there is no keyset in it", "keys", "verify")
	f.wantBadInput(nil, "there is no keyset in it", "keys", "rewrap", "--all", "--new-kek-uri", "insecure-dev-kek://"+f.kek)
}

// changing is every command that opens the aead keyset of pii.
func (f *testFolder) changing(keyID string) [][]string {
	var all [][]string
	for _, line := range []string{
		"rotate pii", "rotate pii --add", "rotate pii --purpose aead --promote KEY", "disable pii --purpose aead --key-id KEY",
		"enable pii --purpose aead --key-id KEY", "destroy pii --yes", "destroy pii --purpose aead --key-id KEY --yes",
		"destroy pii --yes --receipt NEW --receipt-keyset RECEIPTS", "destroy pii --purpose aead --key-id KEY --yes --receipt NEW --receipt-keyset RECEIPTS",
		"rewrap pii --new-kek-uri KEK", "rewrap --all --new-kek-uri KEK", "verify pii",
	} {
		line = strings.NewReplacer("KEY", keyID, "KEK", kek.InsecureDevURI(f.beside("next.json")),
			"RECEIPTS", f.beside("receipts.json"), "NEW", f.beside("new.json")).Replace(line)
		all = append(all, append([]string{"keys"}, strings.Fields(line)...))
	}
	return all
}

func (f *testFolder) wantBadInput(secrets map[uint32][]byte, reason string, arguments ...string) {
	f.Helper()
	status, output, errors := run(f.T, f.complete(arguments)...)
	// A question and what verify found stand on standard output.
	told := output != "" && arguments[1] != "verify" && !strings.HasPrefix(output, "will destroy")
	lines := strings.Count(errors, "\n")
	if status != 2 || told || lines == 0 || lines > 1 && arguments[1] != "verify" || !strings.Contains(errors, reason) || strings.Count(errors, "; ") == 0 {
		f.Errorf("%q: status %d, without %q\n%s%s", arguments, status, reason, output, errors)
	}
	for _, secret := range secrets {
		if strings.Contains(errors, string(secret)) {
			f.Errorf("%q: key material in the error", arguments)
		}
	}
}

func (f *testFolder) file(name string) string { return filepath.Join(f.keysets, name) }

// newRotated has pii with a former and a primary key, which it gives, a keyset
// that signs receipts, and a second key-encryption key.
func newRotated(t *testing.T) (f *testFolder, former string) {
	t.Helper()
	f = newFolder(t)
	f.ok("keys", "create", "pii")
	former = fmt.Sprint(f.inspect("pii")[0].PrimaryKeyID)
	f.ok("keys", "rotate", "pii")
	f.ok("keys", "create-receipt-keyset", "--out", f.beside("receipts.json"), "--public-out", f.beside("public.json"))
	f.ok("keys", "create-insecure-dev-kek", "--out", f.beside("next.json"))
	return f, former
}

func (f *testFolder) handle() *keyset.Handle {
	f.Helper()
	store, err := keystore.Open(f.keysets)
	if err != nil {
		f.Fatal(err)
	}
	file, err := store.Read("pii", keystore.AEAD)
	if err != nil {
		f.Fatal(err)
	}
	handle, err := file.Open(f.openKEK(f.kek))
	if err != nil {
		f.Fatal(err)
	}
	return handle
}

func writeInClear(f *testFolder, path string) {
	var text bytes.Buffer
	if err := insecurecleartextkeyset.Write(f.handle(), keyset.NewJSONWriter(&text)); err != nil {
		f.Fatal(err)
	}
	f.write(path, text.Bytes())
}

// forged changes what a keyset holds, and leaves what its file states.
func forged(change func(*tinkpb.Keyset)) func(*testFolder, string) {
	return func(f *testFolder, path string) {
		material := proto.CloneOf(insecurecleartextkeyset.KeysetMaterial(f.handle()))
		change(material)
		serialized, err := proto.Marshal(material)
		if err != nil {
			f.Fatal(err)
		}
		sealed, err := f.openKEK(f.kek).Encrypt(serialized, []byte{})
		if err != nil {
			f.Fatal(err)
		}
		var file map[string]any
		if err := json.Unmarshal(f.read(path), &file); err != nil {
			f.Fatal(err)
		}
		file["encryptedKeyset"] = sealed
		text, err := json.Marshal(file)
		if err != nil {
			f.Fatal(err)
		}
		f.write(path, text)
	}
}
