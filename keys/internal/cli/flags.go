package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// keysetsFlag is the folder of encrypted keysets.
type keysetsFlag struct{ folder string }

func (f *keysetsFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.folder, "keysets", "", "`DIR` with the encrypted keysets")
}

func (f *keysetsFlag) check() error {
	if f.folder == "" {
		return fault.Input("--keysets", "not given", "name the folder of the encrypted keysets")
	}
	return nil
}

// kekFlag is the key URI of the key-encryption key.
type kekFlag struct{ uri string }

func (f *kekFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.uri, "kek-uri", "", "key `URI` of the key-encryption key, one of\n"+strings.Join(kek.Forms(), "\n")+
		"\nIts credentials are those of the KMS's own tools, from the environment")
}

func (f *kekFlag) given() bool { return f.uri != "" }

func (f *kekFlag) insecure() bool { return strings.HasPrefix(f.uri, kek.InsecureDevPrefix) }

func (f *kekFlag) keyURI() (string, error) {
	if !f.given() {
		return "", fault.Input("--kek-uri", "no key-encryption key is given", "name one of "+kekForms())
	}
	return f.uri, nil
}

func kekForms() string { return strings.Join(kek.Forms(), ", ") }

func (f *kekFlag) open() (tink.AEAD, error) {
	keyURI, err := f.keyURI()
	if err != nil {
		return nil, err
	}
	return openKEK(keyURI)
}

func openKEK(keyURI string) (tink.AEAD, error) {
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

// aeadTemplateFlag is the algorithm of new AEAD keys.
type aeadTemplateFlag struct{ name string }

func (f *aeadTemplateFlag) add(c *cobra.Command, byDefault, note string) {
	c.Flags().StringVar(&f.name, "aead-template", byDefault,
		"`ALGORITHM` of the AEAD key: "+keystore.AEADTemplateNames()+note)
}

func (f *aeadTemplateFlag) parse() (keystore.AEADTemplate, error) {
	template, ok := keystore.ParseAEADTemplate(f.name)
	if !ok {
		return "", fault.Input("--aead-template \""+f.name+"\"", "no such algorithm", "use one of "+keystore.AEADTemplateNames())
	}
	return template, nil
}

func parsePurpose(text string) (keystore.Purpose, error) {
	purpose, known := keystore.ParsePurpose(text)
	if !known {
		return "", fault.Input("--purpose \""+text+"\"", "no such purpose", "use one of "+keystore.PurposeNames())
	}
	return purpose, nil
}

func errTemplateWithoutAEAD() error {
	return fault.Input("--aead-template", "only aead keys have a choice of algorithm", "leave it out")
}
