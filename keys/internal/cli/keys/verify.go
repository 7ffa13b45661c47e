package keys

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newVerify() *cobra.Command {
	var keysets keyflag.Keysets
	var kek keyflag.KEK
	var output command.OutputFlag
	c := &cobra.Command{
		Use:   "verify [NAME]...",
		Short: "Open keysets through the KMS and prove that every enabled key works",
		Long: "Open every keyset of the names, or of the whole folder, through the KMS, and use each of its\n" +
			"enabled keys once: what it seals must open again. Fails on what does not open, duplicate key\n" +
			"ids, key types that the filter does not know, a file that states other keys than it holds,\n" +
			"and notes beside the keysets that can't be read. Warns when a name lacks a purpose, or two of\n" +
			"its keysets have a key of one id. It changes nothing.",
		Example: "  fieldveil keys verify --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii",
		RunE: func(c *cobra.Command, names []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := keystore.CheckName(name); err != nil {
					return err
				}
			}
			if err := keysets.Check(); err != nil {
				return err
			}
			aead, err := kek.Open()
			if err != nil {
				return err
			}
			store, err := keystore.Open(keysets.Folder)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				if names, err = allNames(store, keysets.Folder, printer); err != nil {
					return err
				}
			}
			v := &verification{Keysets: []verified{}, Warnings: []string{}, store: store, aead: aead}
			for i, name := range names {
				if v.verify(name); v.isAway {
					if left := len(names) - i - 1; left > 0 {
						v.warn(keysets.Folder, fmt.Sprintf("%d more names were not tried", left), "run the command again when the KMS answers")
					}
					break
				}
			}
			return v.report(printer)
		},
	}
	keysets.Add(c)
	kek.Add(c)
	output.Add(c)
	return c
}

// verification is what was found.
type verification struct {
	OK       bool       `json:"ok"`
	Keysets  []verified `json:"keysets"`
	Warnings []string   `json:"warnings"`

	store    *keystore.Store
	aead     tink.AEAD
	problems []error
	isAway   bool // the KMS, and each further call would wait as long
}

type verified struct {
	Name    string           `json:"name"`
	Purpose keystore.Purpose `json:"purpose"`
	OK      bool             `json:"ok"`
	Keys    int              `json:"keys"`
	Problem *string          `json:"problem"`
}

func (v *verification) verify(name string) {
	purposes, err := v.store.PurposesOf(name)
	if err == nil && len(purposes) == 0 {
		_, err = v.store.ReadAll(name)
	}
	if err == nil {
		err = v.store.VerifyMeta(name)
	}
	if err != nil {
		v.problems = append(v.problems, err)
	}
	owner := map[uint32]keystore.Purpose{}
	for _, purpose := range purposes {
		one := verified{Name: name, Purpose: purpose}
		file, err := v.store.Read(name, purpose)
		if err == nil {
			err = file.Verify(v.aead)
			v.isAway = fault.ExitStatus(err) == fault.ExitFailure
		}
		if err != nil {
			problem := err.Error()
			one.Problem = &problem
			v.problems = append(v.problems, err)
		} else {
			one.OK, one.Keys = true, len(file.Info().GetKeyInfo())
			for _, key := range file.Info().GetKeyInfo() {
				if other, taken := owner[key.GetKeyId()]; taken {
					v.warn(name, fmt.Sprintf("key %d is in its %s and in its %s keyset", key.GetKeyId(), other, purpose), "name it with --purpose as well")
				}
				owner[key.GetKeyId()] = purpose
			}
		}
		v.Keysets = append(v.Keysets, one)
		if v.isAway {
			return
		}
	}
	if lacking := keystore.Lacking(purposes); len(purposes) > 0 && len(lacking) > 0 {
		v.warn(name, fmt.Sprintf("it has no %s keyset", lacking[0]), fmt.Sprintf("make it with: fieldveil keys create %s --purpose %s", name, lacking[0]))
	}
}

func (v *verification) warn(place, reason, remedy string) {
	v.Warnings = append(v.Warnings, fault.Input(place, reason, remedy).Error())
}

// report tells everything; the last problem is the error that the command ends
// with. It is one of the machine or a peer, if there is one.
func (v *verification) report(printer *command.Printer) error {
	v.OK = len(v.problems) == 0
	var text strings.Builder
	for _, one := range v.Keysets {
		if one.OK {
			fmt.Fprintf(&text, "%s %s: opens, and its enabled keys work (keys: %d)\n", one.Name, one.Purpose, one.Keys)
		}
	}
	for _, warning := range v.Warnings {
		printer.Error(errors.New(warning))
	}
	if err := printer.Show(text.String(), v); err != nil {
		return err
	}
	if v.OK {
		return nil
	}
	slices.SortStableFunc(v.problems, func(a, b error) int { return fault.ExitStatus(b) - fault.ExitStatus(a) })
	last := len(v.problems) - 1
	for _, problem := range v.problems[:last] {
		printer.Error(problem)
	}
	return v.problems[last]
}
