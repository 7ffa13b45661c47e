package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/tink"
)

type request struct {
	Do             string          `json:"do"`
	KEK            json.RawMessage `json:"kek"`
	Keyset         json.RawMessage `json:"keyset"`
	Type           string          `json:"type"`
	Promote        bool            `json:"promote"`
	KeyID          uint32          `json:"key_id"`
	Input          hexBytes        `json:"input"`
	AssociatedData hexBytes        `json:"associated_data"`
	Length         uint32          `json:"length"`
}

// answer holds one of these.
type answer struct {
	Keyset json.RawMessage `json:"keyset,omitempty"`
	Output *hexBytes       `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"`
}

type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

func (r request) run() (answer, error) {
	open, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(r.KEK)))
	if err != nil {
		return answer{}, err
	}
	kek, err := aead.New(open)
	if err != nil {
		return answer{}, err
	}
	manager := keyset.NewManager()
	var handle *keyset.Handle
	if r.Keyset != nil {
		if handle, err = keyset.Read(keyset.NewJSONReader(bytes.NewReader(r.Keyset)), kek); err != nil {
			return answer{}, err
		}
		manager = keyset.NewManagerFromHandle(handle)
	}
	switch r.Do {
	case "add":
		if err := r.add(manager); err != nil {
			return answer{}, err
		}
		return encrypt(manager, kek)
	case "disable":
		if err := manager.Disable(r.KeyID); err != nil {
			return answer{}, err
		}
		return encrypt(manager, kek)
	}
	output, err := r.compute(handle)
	return answer{Output: (*hexBytes)(&output)}, err
}

func (r request) add(manager *keyset.Manager) error {
	parameters, err := parametersOf(r.Type)
	if err != nil {
		return err
	}
	keyID, err := manager.AddNewKeyFromParameters(parameters)
	if err != nil || !r.Promote {
		return err
	}
	return manager.SetPrimary(keyID)
}

func encrypt(manager *keyset.Manager, kek tink.AEAD) (answer, error) {
	handle, err := manager.Handle()
	if err != nil {
		return answer{}, err
	}
	var text bytes.Buffer
	if err := handle.Write(keyset.NewJSONWriter(&text), kek); err != nil {
		return answer{}, err
	}
	return answer{Keyset: text.Bytes()}, nil
}

func (r request) compute(handle *keyset.Handle) ([]byte, error) {
	switch r.Do {
	case "aead seal", "aead open":
		primitive, err := aead.New(handle)
		if err != nil {
			return nil, err
		}
		if r.Do == "aead seal" {
			return primitive.Encrypt(r.Input, r.AssociatedData)
		}
		return primitive.Decrypt(r.Input, r.AssociatedData)
	case "deterministic seal", "deterministic open":
		primitive, err := daead.New(handle)
		if err != nil {
			return nil, err
		}
		if r.Do == "deterministic seal" {
			return primitive.EncryptDeterministically(r.Input, r.AssociatedData)
		}
		return primitive.DecryptDeterministically(r.Input, r.AssociatedData)
	case "prf":
		set, err := prf.NewPRFSet(handle)
		if err != nil {
			return nil, err
		}
		return set.ComputePrimaryPRF(r.Input, r.Length)
	}
	return nil, fmt.Errorf("there is no operation %q", r.Do)
}
