package keys

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each command's document has these members and no others: programs read them.
func TestJSONFormOfEveryCommand(t *testing.T) {
	f := newFolder(t)
	change := []string{"action", "backup", "changed", "key_id", "name", "path", "previous_primary_key_id", "primary_key_id", "purpose"}
	receipts, public, receipt := f.beside("receipts.json"), f.beside("public.json"), f.beside("receipt.json")
	var added string
	for _, one := range []struct {
		arguments []string
		want      []string
	}{
		{[]string{"create-insecure-dev-kek", "--out", f.beside("next.json")}, []string{"created", "kek_uri"}},
		{[]string{"create-receipt-keyset", "--out", receipts, "--public-out", public}, []string{"created", "key_id", "public"}},
		{[]string{"create", "pii"}, []string{"created[].key_id", "created[].name", "created[].path", "created[].purpose", "created[].type"}},
		{[]string{"create", "pii/acme"}, []string{"created[].key_id", "created[].name", "created[].path", "created[].purpose", "created[].type"}},
		{[]string{"rotate", "pii", "--add"}, change},
		{[]string{"rotate", "pii", "--promote", "ADDED"}, change},
		{[]string{"rotate", "pii"}, change},
		{[]string{"disable", "pii", "--key-id", "ADDED"}, change},
		{[]string{"enable", "pii", "--key-id", "ADDED"}, change},
		{[]string{"list"}, []string{
			"keysets[].keys[].key_id", "keysets[].keys[].primary", "keysets[].keys[].status", "keysets[].keys[].type",
			"keysets[].name", "keysets[].primary_key_id", "keysets[].purpose",
		}},
		{[]string{"inspect", "pii"}, []string{
			"keysets[].backups[]", "keysets[].kek_uri", "keysets[].keys[].age_seconds", "keysets[].keys[].created",
			"keysets[].keys[].key_id", "keysets[].keys[].primary", "keysets[].keys[].status", "keysets[].keys[].type",
			"keysets[].path", "keysets[].primary_key_id", "keysets[].purpose", "name",
		}},
		{[]string{"verify"}, []string{
			"keysets[].keys", "keysets[].name", "keysets[].ok", "keysets[].problem", "keysets[].purpose", "ok", "warnings[]",
		}},
		{[]string{"destroy", "pii", "--key-id", "ADDED", "--yes"}, []string{"action", "keysets[].key_ids[]", "keysets[].purpose", "name", "receipt", "whole"}},
		{[]string{"destroy", "pii/acme", "--yes", "--receipt", receipt, "--receipt-keyset", receipts}, []string{
			"action", "keysets[].key_ids[]", "keysets[].purpose", "name", "receipt", "whole",
		}},
		{[]string{"check-receipt", receipt, "--public-keyset", public}, []string{
			"receipt", "statement.destroyed_at", "statement.kek_uri", "statement.keysets[].key_ids[]", "statement.keysets[].purpose",
			"statement.name", "statement.type", "statement.whole", "valid",
		}},
		{[]string{"rewrap", "--all", "--new-kek-uri", "insecure-dev-kek://" + f.beside("next.json")}, []string{
			"action", "kek_uri", "keysets[].already", "keysets[].backup", "keysets[].name", "keysets[].path", "keysets[].purpose",
		}},
	} {
		for i, word := range one.arguments {
			if word == "ADDED" {
				one.arguments[i] = added
			}
		}
		output, _ := f.ok(append(append([]string{"keys"}, one.arguments...), "--output", "json")...)
		var document any
		if err := json.Unmarshal([]byte(output), &document); err != nil {
			t.Fatalf("%q: %v\n%s", one.arguments, err, output)
		}
		if got := members("", document); !slices.Equal(got, one.want) {
			t.Errorf("%q: members\n%v, not\n%v", one.arguments, got, one.want)
		}
		if slices.Contains(one.arguments, "--add") {
			added = fmt.Sprintf("%.0f", document.(map[string]any)["key_id"])
		}
	}
}

func TestWhatIsDoneIsToldBeforeAndAfter(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create-insecure-dev-kek", "--out", f.beside("next.json"))
	for _, one := range []struct{ command, will, did string }{
		{"create pii", `will make .*pii\.aead\.json with the key \d+`, `created .*pii\.prf\.json \(primary key \d+\)`},
		{"rotate pii --add", `will add key \d+ and leave key \d+ the primary`, `added key \d+; the primary is still \d+`},
		{"rotate pii --promote ADDED", `will promote key \d+`, `promoted key \d+`},
		{"disable pii --key-id FIRST", `will disable key \d+; what key \d+ sealed will not open`, `disabled key \d+`},
		{"disable pii --key-id FIRST", ``, `disabled already; nothing changed`},
		{"enable pii --key-id FIRST", `will enable key \d+`, `enabled key \d+`},
		{"rewrap pii --new-kek-uri insecure-dev-kek://" + f.beside("next.json"), `will wrap it by insecure-dev-kek`, `rewrapped`},
		{"rewrap pii --new-kek-uri insecure-dev-kek://" + f.kek + " --kek-uri insecure-dev-kek://" + f.beside("next.json"), `will wrap`, `rewrapped`},
		{"destroy pii --yes --key-id FIRST", `will destroy the key of pii: aead \[\d+\]`, `destroyed pii: aead \[\d+\]`},
		{"destroy pii --yes", `will destroy all keysets of pii: aead \[\d+\], deterministic \[\d+\], prf`, `destroyed pii: aead`},
	} {
		if strings.Contains(one.command, "FIRST") || strings.Contains(one.command, "ADDED") {
			keys := f.inspect("pii")[0].Keys
			one.command = strings.NewReplacer("FIRST", fmt.Sprint(keys[0].KeyID), "ADDED", fmt.Sprint(keys[len(keys)-1].KeyID)).Replace(one.command)
		}
		said, beside := f.ok(append([]string{"keys"}, strings.Fields(one.command)...)...)
		will := regexp.MustCompile(one.will).FindStringIndex(said)
		did := regexp.MustCompile(one.did).FindStringIndex(said)
		if will == nil || did == nil || one.will != "" && will[0] > did[0] || beside != "" {
			t.Errorf("%s: said\n%s%s", one.command, said, beside)
		}
	}
}

func TestInspectShowsWhatIsKnownAndNeedsNoKMS(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	f.ok("keys", "rotate", "pii")
	inspected := f.inspect("pii")
	aead := inspected[0]
	if len(inspected) != 3 || len(aead.Keys) != 2 || len(aead.Backups) != 1 || *aead.KEKURI != "insecure-dev-kek://"+f.kek {
		t.Fatalf("inspected %+v", inspected)
	}
	if key := aead.Keys[1]; !key.Primary || key.Type != "AesGcmKey" || key.Status != "enabled" || key.Created == nil || *key.AgeSeconds < 0 {
		t.Errorf("key %+v", key)
	}
	text, _ := f.ok("keys", "inspect", "pii")
	for _, part := range []string{"pii aead: ", "wrapped by insecure-dev-kek://", "HmacPrfKey", "primary", "former texts kept: 1"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
	f.remove(filepath.Join(f.keysets, "pii.meta.json"))
	if key := f.inspect("pii")[0]; key.KEKURI != nil || key.Keys[0].Created != nil || key.Keys[0].AgeSeconds != nil {
		t.Errorf("known of nothing: %+v", key)
	}
}

func TestEveryCommandExplainsItselfWithAnExample(t *testing.T) {
	for _, command := range New().Commands() {
		status, help, errors := run(t, "keys", command.Name(), "--help")
		if status != 0 || errors != "" || command.Long == "" || !strings.Contains(help, "Examples:\n  fieldveil keys "+command.Name()) {
			t.Errorf("%s: status %d\n%s%s", command.Name(), status, help, errors)
		}
	}
}

// members are the paths of all members, sorted; an array's elements are as one.
func members(path string, value any) []string {
	found := []string{}
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			found = append(found, members(strings.TrimPrefix(path+"."+name, "."), inner)...)
		}
	case []any:
		for _, inner := range value {
			found = append(found, members(path+"[]", inner)...)
		}
		if len(value) == 0 {
			found = append(found, path+"[]")
		}
	default:
		found = append(found, path)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
