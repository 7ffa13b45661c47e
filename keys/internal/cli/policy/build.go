package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy"
)

// What deploy/opa/opa.yaml expects.
const (
	policyKeyID = "policy"
	policyScope = "fieldveil"
)

// buildFlags say what bundle is made, and how it is signed.
type buildFlags struct {
	out, revision, signingKey, keyID, scope string
	unsigned                                bool
}

func newBuild() *cobra.Command {
	var read readFlags
	var build buildFlags
	var output command.OutputFlag
	c := &cobra.Command{
		Use:   "build PATH… --out FILE --signing-key FILE",
		Short: "Check policies and pack them into a signed bundle for OPA",
		Long: "Read policies as fieldveil policy check does and, if nothing is wrong with them, pack them with the\n" +
			"library into a bundle (.tar.gz) and sign it. OPA polls it from any HTTP server that gives an ETag.\n" +
			"Tests and contract files are left out. The bundle takes the place of FILE in one step, so that no\n" +
			"server gives out half of one. The same policies, revision and key give the same bytes.\n\n" +
			"Exit status 2: there are problems, or what was named can not be used; FILE is as it was.",
		Example: "  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out policy.pem\n" +
			"  openssl pkey -in policy.pem -pubout -out policy.pub.pem\n" +
			"  fieldveil policy build my-policies --out fieldveil.tar.gz --signing-key policy.pem --revision \"$(git rev-parse HEAD)\"",
		Args: paths,
		RunE: func(c *cobra.Command, arguments []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			signature, err := build.signature()
			if err != nil {
				return err
			}
			if err := replaceable(build.out, build.signingKey, read.options.VerificationKey); err != nil {
				return err
			}
			place := strings.Join(arguments, ", ")
			p, err := policy.Load(arguments, read.options)
			if err != nil {
				return err
			}
			report, err := p.Check(c.Context(), place, time.Now())
			if err != nil {
				return err
			}
			if len(report.Problems) > 0 {
				return report.Problems
			}
			for _, warning := range report.Warnings {
				printer.Error(warning.Warning())
			}
			built, err := p.Build(place, build.revision, signature)
			if err != nil {
				return err
			}
			if err := build.write(built); err != nil {
				return err
			}
			return printer.Done(build.said(built, report, signature), build.document(built, report, signature))
		},
	}
	read.add(c)
	build.add(c)
	output.Add(c)
	return c
}

func (f *buildFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "`FILE` to write, in the place of an earlier bundle")
	flags.StringVar(&f.revision, "revision", "", "`NAME` of what is shipped, which stands in plans, audit lines and decision logs (default: a hash of the content)")
	flags.StringVar(&f.signingKey, "signing-key", "", "`FILE` of the private key, in PEM: RSA or an elliptic curve")
	flags.StringVar(&f.keyID, "key-id", policyKeyID, "`NAME` of the key in OPA's configuration")
	flags.StringVar(&f.scope, "scope", policyScope, "`SCOPE` that OPA's configuration wants of the signature")
	flags.BoolVar(&f.unsigned, "unsigned", false, "sign nothing: whoever can write to the server decides who sees what")
}

func (f *buildFlags) signature() (*policy.Signature, error) {
	switch {
	case f.out == "":
		return nil, fault.Input("--out", "not given", "name the bundle to write, such as fieldveil.tar.gz")
	case f.unsigned && f.signingKey != "":
		return nil, fault.Input("--unsigned", "a signing key is given as well", "leave one of them out")
	case f.unsigned:
		return nil, nil
	case f.signingKey == "":
		return nil, fault.Input("--signing-key", "not given", "name a private key in PEM, or say --unsigned")
	case f.keyID == "":
		return nil, fault.Input("--key-id", "empty", "name the key as OPA's configuration does")
	}
	key, err := policy.ReadSigningKey(f.signingKey)
	if err != nil {
		return nil, err
	}
	return &policy.Signature{Key: key, KeyID: f.keyID, Scope: f.scope}, nil
}

func (f *buildFlags) write(built *policy.Built) error {
	atomicfile.Sweep(f.out)
	staged, err := atomicfile.Stage(f.out, built.Content)
	if err == nil {
		defer staged.Discard()
		if err = staged.Share(); err == nil {
			err = staged.Replace()
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.NoFolder(f.out)
	case err != nil:
		return fault.Unwritable(f.out, err)
	}
	return nil
}

func (f *buildFlags) said(built *policy.Built, report *policy.Report, signature *policy.Signature) string {
	n := report.Counts
	how := "not signed"
	if signature != nil {
		how = fmt.Sprintf("signed with %s, key %s, scope %s", signature.Key.Algorithm, fault.OneLine(signature.KeyID), fault.OneLine(signature.Scope))
	}
	return fmt.Sprintf("%s: revision %s, %s\n%s: %s, %s, %s, %s\n", fault.OneLine(f.out), built.Revision, how, fault.OneLine(f.out),
		command.Plural(n.Catalogs, "catalog", "catalogs"), command.Plural(n.Labels, "label", "labels"), command.Plural(n.Columns, "column", "columns"), command.Plural(n.Rules, "rule", "rules"))
}

func (f *buildFlags) document(built *policy.Built, report *policy.Report, signature *policy.Signature) map[string]any {
	document := map[string]any{
		"bundle": f.out, "revision": built.Revision, "bytes": len(built.Content), "counts": report.Counts, "warnings": report.Warnings, "signed": signature != nil,
	}
	if signature != nil {
		document["algorithm"], document["key_id"], document["scope"] = signature.Key.Algorithm, signature.KeyID, signature.Scope
	}
	return document
}
