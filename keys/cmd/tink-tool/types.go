package main

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcmsiv"
	"github.com/tink-crypto/tink-go/v2/aead/chacha20poly1305"
	"github.com/tink-crypto/tink-go/v2/aead/xchacha20poly1305"
	"github.com/tink-crypto/tink-go/v2/daead/aessiv"
	"github.com/tink-crypto/tink-go/v2/key"
	"github.com/tink-crypto/tink-go/v2/prf/aescmacprf"
	"github.com/tink-crypto/tink-go/v2/prf/hkdfprf"
	"github.com/tink-crypto/tink-go/v2/prf/hmacprf"
)

// parametersOf gives the parameters of a key type by the name that a request has for it.
func parametersOf(name string) (key.Parameters, error) {
	switch name {
	case "aes128-gcm":
		return aesGCM(16)
	case "aes256-gcm":
		return aesGCM(32)
	case "aes128-gcm-siv":
		return aesgcmsiv.NewParameters(16, aesgcmsiv.VariantTink)
	case "aes256-gcm-siv":
		return aesgcmsiv.NewParameters(32, aesgcmsiv.VariantTink)
	case "chacha20-poly1305":
		return chacha20poly1305.NewParameters(chacha20poly1305.VariantTink)
	case "xchacha20-poly1305":
		return xchacha20poly1305.NewParameters(xchacha20poly1305.VariantTink)
	case "aes-siv":
		return aessiv.NewParameters(64, aessiv.VariantTink)
	case "hmac-sha256":
		return hmacprf.NewParameters(32, hmacprf.SHA256)
	case "hmac-sha384":
		return hmacprf.NewParameters(48, hmacprf.SHA384)
	case "hmac-sha512":
		return hmacprf.NewParameters(64, hmacprf.SHA512)
	case "hkdf-sha256":
		return hkdfprf.NewParameters(32, hkdfprf.SHA256, nil)
	case "hkdf-sha512-salt":
		return hkdfprf.NewParameters(32, hkdfprf.SHA512, []byte("fieldveil"))
	case "aes-cmac":
		parameters, err := aescmacprf.NewParameters(32)
		return &parameters, err
	}
	return nil, fmt.Errorf("there is no key type %q", name)
}

func aesGCM(keyBytes int) (key.Parameters, error) {
	return aesgcm.NewParameters(aesgcm.ParametersOpts{
		KeySizeInBytes: keyBytes, IVSizeInBytes: 12, TagSizeInBytes: 16, Variant: aesgcm.VariantTink,
	})
}
