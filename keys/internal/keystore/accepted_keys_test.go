package keystore

import (
	"bytes"
	"strings"
	"testing"

	aescmac "github.com/tink-crypto/tink-go/v2/proto/aes_cmac_prf_go_proto"
	aesgcm "github.com/tink-crypto/tink-go/v2/proto/aes_gcm_go_proto"
	aesgcmsiv "github.com/tink-crypto/tink-go/v2/proto/aes_gcm_siv_go_proto"
	aessiv "github.com/tink-crypto/tink-go/v2/proto/aes_siv_go_proto"
	common "github.com/tink-crypto/tink-go/v2/proto/common_go_proto"
	hkdf "github.com/tink-crypto/tink-go/v2/proto/hkdf_prf_go_proto"
	hmac "github.com/tink-crypto/tink-go/v2/proto/hmac_prf_go_proto"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"google.golang.org/protobuf/proto"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func TestKeysThatTheFilterDoesNotTakeAreRefused(t *testing.T) {
	hmacOf := func(size int, hash common.HashType) proto.Message {
		return &hmac.HmacPrfKey{KeyValue: bytes.Repeat([]byte{7}, size), Params: &hmac.HmacPrfParams{Hash: hash}}
	}
	hkdfOf := func(size int, hash common.HashType) proto.Message {
		return &hkdf.HkdfPrfKey{KeyValue: bytes.Repeat([]byte{7}, size), Params: &hkdf.HkdfPrfParams{Hash: hash}}
	}
	gcmOf := func(size int) proto.Message { return &aesgcm.AesGcmKey{KeyValue: bytes.Repeat([]byte{7}, size)} }
	sivOf := func(size int) proto.Message { return &aessiv.AesSivKey{KeyValue: bytes.Repeat([]byte{7}, size)} }
	cmacOf := func(size int) proto.Message {
		return &aescmac.AesCmacPrfKey{KeyValue: bytes.Repeat([]byte{7}, size)}
	}
	for _, one := range []struct {
		purpose Purpose
		typeURL string
		key     proto.Message
		problem string // "": it is taken
	}{
		{AEAD, typeURLPrefix + "AesGcmKey", gcmOf(16), ""},
		{AEAD, typeURLPrefix + "AesGcmKey", gcmOf(32), ""},
		{AEAD, typeURLPrefix + "AesGcmKey", gcmOf(24), "of 24 bytes"},
		{AEAD, "AesGcmKey", gcmOf(32), "is of type AesGcmKey"},
		{AEAD, typeURLPrefix + "AesGcmKey", &aesgcm.AesGcmKey{Version: 1, KeyValue: make([]byte, 32)}, "of another version"},
		{AEAD, typeURLPrefix + "AesGcmSivKey", &aesgcmsiv.AesGcmSivKey{KeyValue: make([]byte, 31)}, "of 31 bytes"},
		{Deterministic, typeURLPrefix + "AesSivKey", sivOf(64), ""},
		{Deterministic, typeURLPrefix + "AesSivKey", sivOf(32), "of 32 bytes"},
		{Deterministic, typeURLPrefix + "AesSivKey", sivOf(48), "of 48 bytes"},
		{PRF, typeURLPrefix + "AesCmacPrfKey", cmacOf(32), ""},
		{PRF, typeURLPrefix + "AesCmacPrfKey", cmacOf(16), "of 16 bytes"},
		{PRF, typeURLPrefix + "HkdfPrfKey", hkdfOf(33, common.HashType_SHA512), ""},
		{PRF, typeURLPrefix + "HkdfPrfKey", hkdfOf(31, common.HashType_SHA256), "of 31 bytes"},
		{PRF, typeURLPrefix + "HkdfPrfKey", hkdfOf(32, common.HashType_SHA1), "of the hash SHA1"},
		{PRF, typeURLPrefix + "HkdfPrfKey", hkdfOf(32, common.HashType_SHA384), "of the hash SHA384"},
		{PRF, typeURLPrefix + "HmacPrfKey", hmacOf(16, common.HashType_SHA384), ""},
		{PRF, typeURLPrefix + "HmacPrfKey", hmacOf(15, common.HashType_SHA256), "of 15 bytes"},
		{PRF, typeURLPrefix + "HmacPrfKey", hmacOf(32, common.HashType_SHA1), "of the hash SHA1"},
		{PRF, typeURLPrefix + "HmacPrfKey", hmacOf(32, common.HashType_SHA224), "of the hash SHA224"},
		{PRF, typeURLPrefix + "HmacPrfKey", &hmac.HmacPrfKey{KeyValue: make([]byte, 32)}, "of the hash UNKNOWN_HASH"},
	} {
		value, err := proto.Marshal(one.key)
		if err != nil {
			t.Fatal(err)
		}
		err = one.purpose.check(&tinkpb.Keyset{PrimaryKeyId: 1, Key: []*tinkpb.Keyset_Key{{
			KeyId: 1, Status: tinkpb.KeyStatusType_ENABLED, OutputPrefixType: one.purpose.outputPrefix(),
			KeyData: &tinkpb.KeyData{TypeUrl: one.typeURL, Value: value},
		}}})
		if (err == nil) != (one.problem == "") || err != nil && !strings.Contains(err.Error(), one.problem) {
			t.Errorf("%s %v: %v, not %q", one.typeURL, one.purpose, err, one.problem)
		}
	}
}

func TestKeysetHasNoMoreKeysThanTheFilterTakes(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	file, err := store.Read("pii", AEAD)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.changeFile(file, kek, func(e *edit) error {
		e.Changed = true
		for range MaxKeys - 1 {
			if _, err := e.manager.Add(DefaultAEADTemplate.template()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if held := openHandle(t, store, kek, AEAD).Len(); held != MaxKeys {
		t.Errorf("%d keys", held)
	}
	_, err = store.AddKey("pii", AEAD, "", true, kek)
	wantFault(t, err, fault.ExitBadInput, "it has 256 keys already")
	many := &tinkpb.Keyset{Key: make([]*tinkpb.Keyset_Key, MaxKeys+1)}
	if err := AEAD.check(many); err == nil || !strings.Contains(err.Error(), "it has 257 keys") {
		t.Error(err)
	}
}
