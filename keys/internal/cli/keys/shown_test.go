package keys

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

func TestWhatFilesStateCommandsNoTerminalAndForgesNoLine(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	stated := `{"encryptedKeyset":"AAAA","keysetInfo":{"primaryKeyId":1,"keyInfo":[` +
		`{"typeUrl":"a.A\u001b[2J\nforged\u009b","status":"ENABLED","keyId":1,"outputPrefixType":"TINK"}]}}`
	f.write(f.file("pii.aead.json"), []byte(stated))
	f.write(f.file("pii.meta.json"), fmt.Appendf(nil, `{"created":{},"wrapped":{"aead":{"kek_uri":"x://\u001b[2J\nforged","file_sha256":"%x"}}}`,
		sha256.Sum256([]byte(stated))))
	for _, command := range []string{"list", "inspect pii"} {
		arguments := []string{"keys", "--keysets", f.keysets}
		status, said, errors := run(t, append(arguments[:1:1], append(strings.Fields(command), arguments[1:]...)...)...)
		if status != 0 || !strings.Contains(said, "A [2J forged") || strings.ContainsAny(said, "\x1b\u009b") || strings.Contains(said, "\nforged") {
			t.Errorf("%s: status %d: %q%s", command, status, said, errors)
		}
		if command != "list" && !strings.Contains(said, "by x:// [2J forged") {
			t.Errorf("%s: %q", command, said)
		}
	}
}

func TestFileThatStatesNoKeysIsInspectedAsOneWithAListOfNone(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	f.write(f.file("pii.aead.json"), []byte(`{"encryptedKeyset":"AAAA"}`))
	status, said, errors := run(t, "keys", "inspect", "pii", "--keysets", f.keysets, "--output", "json")
	if status != 0 || !strings.Contains(said, `"keys": []`) || strings.Contains(said, `"keys": null`) {
		t.Errorf("status %d: %s%s", status, said, errors)
	}
}
