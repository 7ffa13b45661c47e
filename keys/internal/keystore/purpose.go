package keystore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

// Purpose is what the keys of one keyset file are for.
type Purpose string

// The purposes there are. The words are those of the file names and of the
// agent's answer.
const (
	AEAD          Purpose = "aead"
	Deterministic Purpose = "deterministic"
	PRF           Purpose = "prf"
)

// Purposes are all purposes, in the order in which they are shown.
var Purposes = []Purpose{AEAD, Deterministic, PRF}

// PurposeNames are the purposes as a person writes them.
func PurposeNames() string {
	names := make([]string, 0, len(Purposes))
	for _, purpose := range Purposes {
		names = append(names, string(purpose))
	}
	return strings.Join(names, ", ")
}

// ParsePurpose reads a purpose as a person writes it.
func ParsePurpose(text string) (Purpose, bool) {
	purpose := Purpose(text)
	return purpose, slices.Contains(Purposes, purpose)
}

const typeURLPrefix = "type.googleapis.com/google.crypto.tink."

// keyTypes are the Tink key types that the filter knows.
var keyTypes = map[Purpose][]string{
	AEAD:          {"AesGcmKey", "AesGcmSivKey", "XChaCha20Poly1305Key", "ChaCha20Poly1305Key"},
	Deterministic: {"AesSivKey"},
	PRF:           {"HmacPrfKey", "HkdfPrfKey", "AesCmacPrfKey"},
	Signature:     {"Ed25519PrivateKey"},
}

// keyType is the name in a type URL.
func keyType(typeURL string) string { return typeURL[strings.LastIndex(typeURL, ".")+1:] }

// template is the key template of a keyset's first key.
func (p Purpose) template(aeadTemplate AEADTemplate) *tinkpb.KeyTemplate {
	switch p {
	case Deterministic:
		return daead.AESSIVKeyTemplate()
	case PRF:
		return prf.HMACSHA256PRFKeyTemplate()
	default:
		return aeadTemplate.template()
	}
}

// outputPrefix is what Tink puts before an output, to name the key that made it.
// What a PRF gives is cut to length and has none.
func (p Purpose) outputPrefix() tinkpb.OutputPrefixType {
	if p == PRF {
		return tinkpb.OutputPrefixType_RAW
	}
	return tinkpb.OutputPrefixType_TINK
}

// MaxKeys is how many keys of one keyset the filter takes, enabled or not.
const MaxKeys = 256

// check refuses a keyset that the filter could not use. The texts it gives name
// a key id and a type, never more.
func (p Purpose) check(cleartext *tinkpb.Keyset) error {
	if count := len(cleartext.GetKey()); count > MaxKeys {
		return fmt.Errorf("it has %d keys, and the filter takes %d", count, MaxKeys)
	}
	seen := map[uint32]bool{}
	primaryEnabled := false
	for _, key := range cleartext.GetKey() {
		keyID, typeURL := key.GetKeyId(), key.GetKeyData().GetTypeUrl()
		if seen[keyID] {
			return fmt.Errorf("two of its keys have the id %d", keyID)
		}
		seen[keyID] = true
		name, isTink := strings.CutPrefix(typeURL, typeURLPrefix)
		if !isTink || !slices.Contains(keyTypes[p], name) {
			return fmt.Errorf("key %d is of type %s, and %s keys are %s",
				keyID, typeURL, p, strings.Join(keyTypes[p], ", "))
		}
		if key.GetOutputPrefixType() != p.outputPrefix() {
			return fmt.Errorf("key %d has the output prefix %s, and %s keys have %s",
				keyID, key.GetOutputPrefixType(), p, p.outputPrefix())
		}
		if accepted, ok := acceptedKeys[name]; ok {
			if err := accepted.check(key.GetKeyData().GetValue()); err != nil {
				return fmt.Errorf("key %d is a key of type %s that the filter does not take: %w", keyID, name, err)
			}
		}
		if keyID == cleartext.GetPrimaryKeyId() {
			primaryEnabled = key.GetStatus() == tinkpb.KeyStatusType_ENABLED
		}
	}
	if !primaryEnabled {
		return fmt.Errorf("its primary key %d is not there or not enabled", cleartext.GetPrimaryKeyId())
	}
	return nil
}

// AEADTemplate names an algorithm for AEAD keys.
type AEADTemplate string

// DefaultAEADTemplate is the algorithm of a keyset when none is asked for.
const DefaultAEADTemplate AEADTemplate = "aes256-gcm"

var aeadTemplates = []struct {
	name     AEADTemplate
	template func() *tinkpb.KeyTemplate
}{
	{DefaultAEADTemplate, aead.AES256GCMKeyTemplate},
	{"aes128-gcm", aead.AES128GCMKeyTemplate},
	{"aes256-gcm-siv", aead.AES256GCMSIVKeyTemplate},
	{"xchacha20-poly1305", aead.XChaCha20Poly1305KeyTemplate},
}

// AEADTemplateNames are the names that ParseAEADTemplate knows.
func AEADTemplateNames() string {
	names := make([]string, 0, len(aeadTemplates))
	for _, t := range aeadTemplates {
		names = append(names, string(t.name))
	}
	return strings.Join(names, ", ")
}

// ParseAEADTemplate reads the name of an algorithm.
func ParseAEADTemplate(text string) (AEADTemplate, bool) {
	for _, t := range aeadTemplates {
		if string(t.name) == text {
			return t.name, true
		}
	}
	return "", false
}

func (t AEADTemplate) template() *tinkpb.KeyTemplate {
	for _, known := range aeadTemplates {
		if known.name == t {
			return known.template()
		}
	}
	return aead.AES256GCMKeyTemplate()
}
