// Package keyflag has the flags that name keysets and their key-encryption key, for the commands that read keysets.
package keyflag

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

// Keysets is the folder of encrypted keysets.
type Keysets struct{ Folder string }

// Add adds the flag.
func (f *Keysets) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Folder, "keysets", "", "`DIR` with the encrypted keysets")
}

// Check refuses to do without it.
func (f *Keysets) Check() error {
	if f.Folder == "" {
		return fault.Input("--keysets", "not given", "name the folder of the encrypted keysets")
	}
	return nil
}

// KEK is the key URI of the key-encryption key.
type KEK struct{ URI string }

// Add adds the flag.
func (f *KEK) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.URI, "kek-uri", "", "key `URI` of the key-encryption key, one of\n"+strings.Join(kek.Forms(), "\n")+
		"\nIts credentials are those of the KMS's own tools, from the environment")
}

// Given tells whether the flag is given.
func (f *KEK) Given() bool { return f.URI != "" }

// Insecure tells whether the key is one in clear, for development.
func (f *KEK) Insecure() bool { return strings.HasPrefix(f.URI, kek.InsecureDevPrefix) }

// Check refuses to do without it.
func (f *KEK) Check() error {
	if !f.Given() {
		return NoKEK("--kek-uri")
	}
	return nil
}

// Open opens it at its KMS.
func (f *KEK) Open() (tink.AEAD, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	return OpenKEK(f.URI)
}

// NoKEK says that a flag has to name a key-encryption key.
func NoKEK(flag string) error {
	return fault.Input(flag, "no key-encryption key is given", "name one of "+strings.Join(kek.Forms(), ", "))
}

// OpenKEK opens a key-encryption key at its KMS.
func OpenKEK(keyURI string) (tink.AEAD, error) {
	aead, err := kek.Open(keyURI)
	if err != nil {
		return nil, err
	}
	return namedKEK{AEAD: aead, keyURI: keyURI}, nil
}

// namedKEK is a key-encryption key that knows its key URI, for what is noted
// beside the keysets that it wraps.
type namedKEK struct {
	tink.AEAD
	keyURI string
}

func (k namedKEK) KeyURI() string { return k.keyURI }
