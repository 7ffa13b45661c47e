package keystore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
	"google.golang.org/protobuf/proto"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestVerifyUsesEveryEnabledKey(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	rotate(t, store, kek, "pii")
	if _, err := store.Disable("pii", AEAD, former, kek); err != nil {
		t.Fatal(err)
	}
	for _, purpose := range Purposes {
		if err := store.Verify("pii", purpose, kek); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyFindsWhatTheFilterCouldNotUse(t *testing.T) {
	for reason, change := range map[string]func(*tinkpb.Keyset){
		"two of its keys have the id": func(k *tinkpb.Keyset) { k.Key = append(k.Key, proto.CloneOf(k.Key[0])) },
		"is of type":                  func(k *tinkpb.Keyset) { k.Key[0].KeyData.TypeUrl = typeURLPrefix + "AesEaxKey" },
		"output prefix":               func(k *tinkpb.Keyset) { k.Key[0].OutputPrefixType = tinkpb.OutputPrefixType_CRUNCHY },
		"its primary key":             func(k *tinkpb.Keyset) { k.PrimaryKeyId++ },
		"malformed":                   func(k *tinkpb.Keyset) { k.Key[0].KeyData.Value = []byte("canary") },
	} {
		store, kek := newStore(t)
		create(t, store, kek, "pii")
		forge(t, store, kek, change)
		err := store.Verify("pii", AEAD, kek)
		wantFault(t, err, fault.ExitBadInput, reason)
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("key material in the error: %v", err)
		}
	}
}

func TestVerifyFindsAFileThatStatesOtherKeysThanItHolds(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	path := store.path("pii", AEAD)
	var file map[string]json.RawMessage
	if err := json.Unmarshal(testfile.Read(t, path), &file); err != nil {
		t.Fatal(err)
	}
	file["keysetInfo"] = json.RawMessage(strings.Replace(string(file["keysetInfo"]), "ENABLED", "DISABLED", 1))
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, string(text))
	wantFault(t, store.Verify("pii", AEAD, kek), fault.ExitBadInput, "states other keys than it holds")
}

func TestNotesThatCanNotBeReadAreAFaultOfThemAlone(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	testfile.Write(t, store.file("pii", metaKind), `{"created":`)
	wantFault(t, store.VerifyMeta("pii"), fault.ExitBadInput, "when keys were made")
	if err := store.Verify("pii", AEAD, kek); err != nil {
		t.Error(err)
	}
	before := contents(t, store)
	_, err := store.AddKey("pii", AEAD, "", true, kek)
	wantFault(t, err, fault.ExitBadInput, "when keys were made")
	if contents(t, store) != before {
		t.Error("something changed")
	}
}

// forge writes a keyset that Tink would not make.
func forge(t *testing.T, store *Store, kek tink.AEAD, change func(*tinkpb.Keyset)) {
	t.Helper()
	material := proto.CloneOf(insecurecleartextkeyset.KeysetMaterial(openHandle(t, store, kek, AEAD)))
	change(material)
	serialized, err := proto.Marshal(material)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := kek.Encrypt(serialized, []byte{})
	if err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	if err := keyset.NewJSONWriter(&written).WriteEncrypted(&tinkpb.EncryptedKeyset{EncryptedKeyset: sealed}); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, store.path("pii", AEAD), written.String())
}
