package cli

import (
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

// kekFlags choose the key-encryption key. There is one flag a KMS.
type kekFlags struct{ insecureDevFile string }

func (f *kekFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.insecureDevFile, "insecure-dev-kek", "",
		"INSECURE, for development only: key-encryption key in clear text from `FILE`")
}

func (f *kekFlags) given() bool { return f.insecureDevFile != "" }

func (f *kekFlags) keyURI() (string, error) {
	if !f.given() {
		return "", fault.Input("--insecure-dev-kek", "no key-encryption key is given",
			"name the file of one (make it with: fieldveil keys create-insecure-dev-kek --out FILE)")
	}
	return kek.InsecureDevURI(f.insecureDevFile), nil
}

func (f *kekFlags) open() (tink.AEAD, error) {
	keyURI, err := f.keyURI()
	if err != nil {
		return nil, err
	}
	return kek.Open(keyURI)
}

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
