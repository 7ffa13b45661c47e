// Package strictjson reads JSON that is just what is expected: no member that is
// not known, and nothing behind the value.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Decode reads one value. Errors may quote the text.
func Decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("more than one value")
	}
	return nil
}
