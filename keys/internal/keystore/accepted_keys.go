package keystore

import (
	"errors"
	"fmt"
	"slices"

	aescmac "github.com/tink-crypto/tink-go/v2/proto/aes_cmac_prf_go_proto"
	aesgcm "github.com/tink-crypto/tink-go/v2/proto/aes_gcm_go_proto"
	aesgcmsiv "github.com/tink-crypto/tink-go/v2/proto/aes_gcm_siv_go_proto"
	aessiv "github.com/tink-crypto/tink-go/v2/proto/aes_siv_go_proto"
	chacha "github.com/tink-crypto/tink-go/v2/proto/chacha20_poly1305_go_proto"
	common "github.com/tink-crypto/tink-go/v2/proto/common_go_proto"
	hkdf "github.com/tink-crypto/tink-go/v2/proto/hkdf_prf_go_proto"
	hmac "github.com/tink-crypto/tink-go/v2/proto/hmac_prf_go_proto"
	xchacha "github.com/tink-crypto/tink-go/v2/proto/xchacha20_poly1305_go_proto"
	"google.golang.org/protobuf/proto"
)

// acceptedKey is which keys of one type the filter takes; Tink knows more.
type acceptedKey struct {
	empty  func() keyMessage
	sizes  []int             // of the key in bytes
	orMore bool              // than the one size
	hashes []common.HashType // of a type that has one
}

// keyMessage is what all of Tink's key types here have.
type keyMessage interface {
	proto.Message
	GetVersion() uint32
	GetKeyValue() []byte
}

var acceptedKeys = map[string]acceptedKey{
	"AesGcmKey":            {empty: func() keyMessage { return &aesgcm.AesGcmKey{} }, sizes: []int{16, 32}},
	"AesGcmSivKey":         {empty: func() keyMessage { return &aesgcmsiv.AesGcmSivKey{} }, sizes: []int{16, 32}},
	"ChaCha20Poly1305Key":  {empty: func() keyMessage { return &chacha.ChaCha20Poly1305Key{} }, sizes: []int{32}},
	"XChaCha20Poly1305Key": {empty: func() keyMessage { return &xchacha.XChaCha20Poly1305Key{} }, sizes: []int{32}},
	"AesSivKey":            {empty: func() keyMessage { return &aessiv.AesSivKey{} }, sizes: []int{64}},
	"AesCmacPrfKey":        {empty: func() keyMessage { return &aescmac.AesCmacPrfKey{} }, sizes: []int{32}},
	"HkdfPrfKey": {
		empty: func() keyMessage { return &hkdf.HkdfPrfKey{} }, sizes: []int{32}, orMore: true,
		hashes: []common.HashType{common.HashType_SHA256, common.HashType_SHA512},
	},
	"HmacPrfKey": {
		empty: func() keyMessage { return &hmac.HmacPrfKey{} }, sizes: []int{16}, orMore: true,
		hashes: []common.HashType{common.HashType_SHA256, common.HashType_SHA384, common.HashType_SHA512},
	},
}

// check refuses what the filter would. Its errors tell a size or a hash, never more.
func (f acceptedKey) check(value []byte) error {
	key := f.empty()
	if proto.Unmarshal(value, key) != nil || key.GetVersion() != 0 {
		return errors.New("malformed, or of another version")
	}
	size := len(key.GetKeyValue())
	if !slices.Contains(f.sizes, size) && (!f.orMore || size < f.sizes[0]) {
		return fmt.Errorf("of %d bytes", size)
	}
	var hash common.HashType
	switch key := key.(type) {
	case *hkdf.HkdfPrfKey:
		hash = key.GetParams().GetHash()
	case *hmac.HmacPrfKey:
		hash = key.GetParams().GetHash()
	}
	if len(f.hashes) > 0 && !slices.Contains(f.hashes, hash) {
		return fmt.Errorf("of the hash %s", hash)
	}
	return nil
}
