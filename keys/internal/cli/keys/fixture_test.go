package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// beside is a path beside the folder of the keysets.
func (f *testFolder) beside(file string) string { return filepath.Join(filepath.Dir(f.kek), file) }

func (f *testFolder) inspect(name string) []inspectedKeyset {
	f.Helper()
	output, _ := f.ok("keys", "inspect", name, "--output", "json")
	var inspected struct{ Keysets []inspectedKeyset }
	if err := json.Unmarshal([]byte(output), &inspected); err != nil {
		f.Fatal(err)
	}
	return inspected.Keysets
}

func (f *testFolder) remove(path string) {
	f.Helper()
	testfile.Remove(f, path)
}

func (f *testFolder) read(path string) []byte {
	f.Helper()
	text := testfile.Read(f, path)
	return text
}

func (f *testFolder) write(path string, text []byte) {
	f.Helper()
	testfile.Write(f, path, text)
}

func (f *testFolder) openKEK(file string) tink.AEAD {
	f.Helper()
	aead, err := kek.Open(kek.InsecureDevURI(file))
	if err != nil {
		f.Fatal(err)
	}
	return aead
}

// secrets is the material of every key of a name, by key id.
func (f *testFolder) secrets(name, kekFile string) map[uint32][]byte {
	f.Helper()
	store, err := keystore.Open(f.keysets)
	if err != nil {
		f.Fatal(err)
	}
	files, err := store.ReadAll(name)
	if err != nil {
		f.Fatal(err)
	}
	secrets := map[uint32][]byte{}
	for _, file := range files {
		handle, err := file.Open(f.openKEK(kekFile))
		if err != nil {
			f.Fatal(err)
		}
		for _, key := range insecurecleartextkeyset.KeysetMaterial(handle).GetKey() {
			value := key.GetKeyData().GetValue()
			secrets[key.GetKeyId()] = value[len(value)-32:]
		}
	}
	return secrets
}

// wantNowhere looks for secrets in everything that lies beside the keysets: the
// text of each file, and what is in it when it is opened.
func (f *testFolder) wantNowhere(secrets map[uint32][]byte, kekFiles ...string) {
	f.Helper()
	err := filepath.WalkDir(filepath.Dir(f.kek), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text := f.read(path)
		held := [][]byte{text}
		if encrypted, err := keyset.NewJSONReader(bytes.NewReader(text)).ReadEncrypted(); err == nil && len(encrypted.GetEncryptedKeyset()) > 0 {
			for _, file := range kekFiles {
				if opened, err := f.openKEK(file).Decrypt(encrypted.GetEncryptedKeyset(), nil); err == nil {
					held = append(held, opened)
				}
			}
			if len(held) == 1 {
				f.Errorf("%s does not open", path)
			}
		}
		for keyID, secret := range secrets {
			for _, bytesOf := range held {
				if bytes.Contains(bytesOf, secret) || bytes.Contains(bytesOf, []byte(base64.StdEncoding.EncodeToString(secret)[:24])) {
					f.Errorf("%s holds the destroyed key %d", path, keyID)
				}
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
}

// program builds the command once for all tests that need processes of it.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "fieldveil-program")
	if err != nil {
		return "", err
	}
	// Tests of other users run it, too.
	if err := os.Chmod(folder, 0o755); err != nil {
		return "", err
	}
	programFolder = folder
	path := filepath.Join(folder, "fieldveil")
	// As the image has it; set-up compiled its packages already.
	built := exec.Command("../../../../deploy/images/build-command", path)
	built.Stderr = os.Stderr
	return path, built.Run()
})

var programFolder string

func TestMain(m *testing.M) {
	status := m.Run()
	if programFolder != "" {
		os.RemoveAll(programFolder)
	}
	os.Exit(status)
}

func (f *testFolder) command(arguments ...string) *exec.Cmd {
	f.Helper()
	path, err := program()
	if err != nil {
		f.Fatal(err)
	}
	return exec.Command(path, f.complete(arguments)...)
}
