package keys

import (
	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

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

func errTemplateWithoutAEAD() error {
	return fault.Input("--aead-template", "only aead keys have a choice of algorithm", "leave it out")
}
