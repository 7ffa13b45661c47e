// Command envelope-tool seals and opens one envelope with stock tink-go. It is a
// test tool: the end-to-end tests open with it what the filter stored, and have
// the filter open what it sealed.
//
//	envelope-tool open --keysets DIR --keyset NAME --kek-uri URI --label LABEL [--tenant TENANT] < envelope > plaintext
//	envelope-tool seal ... [--protection randomized|deterministic|indexed] [--form armored|hex|raw]      < plaintext > envelope
//
// An envelope may come armored (fv1.…), in PostgreSQL's hex form of bytea
// (\x…) or raw. Plaintext is taken and given byte for byte: no line end is cut
// or added.
package main

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/envelope"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

const usage = "see the head of cmd/envelope-tool/main.go"

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "envelope-tool: "+err.Error())
		os.Exit(fault.ExitStatus(err))
	}
}

type options struct {
	folder, keyset, kekURI string
	field                  envelope.Field
	protection, form       string
}

func run(arguments []string, stdin io.Reader, stdout io.Writer) error {
	if len(arguments) == 0 || (arguments[0] != "open" && arguments[0] != "seal") {
		return fault.Input("envelope-tool", "the first argument is neither open nor seal", usage)
	}
	verb := arguments[0]
	o, err := parse(verb, arguments[1:])
	if err != nil {
		return err
	}
	keysets, err := openKeysets(o)
	if err != nil {
		return err
	}
	input, err := io.ReadAll(stdin)
	if err != nil {
		return fault.Failure("standard input", err.Error(), "try again")
	}
	var output []byte
	if verb == "open" {
		output, err = open(keysets, o, input)
	} else {
		output, err = seal(keysets, o, input)
	}
	if err != nil {
		return err
	}
	_, err = stdout.Write(output)
	return err
}

func parse(verb string, arguments []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("envelope-tool "+verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.folder, "keysets", "", "")
	flags.StringVar(&o.keyset, "keyset", "", "")
	flags.StringVar(&o.kekURI, "kek-uri", "", "")
	flags.StringVar(&o.field.Label, "label", "", "")
	flags.StringVar(&o.field.Tenant, "tenant", "", "")
	if verb == "seal" {
		flags.StringVar(&o.protection, "protection", "randomized", "")
		flags.StringVar(&o.form, "form", "armored", "")
	}
	if err := flags.Parse(arguments); err != nil {
		return nil, fault.Input("envelope-tool "+verb, err.Error(), usage)
	}
	if flags.NArg() > 0 {
		return nil, fault.Input("envelope-tool "+verb, "unexpected argument "+flags.Arg(0), usage)
	}
	for name, value := range map[string]string{
		"--keysets": o.folder, "--keyset": o.keyset, "--kek-uri": o.kekURI, "--label": o.field.Label,
	} {
		if value == "" {
			return nil, fault.Input(name, "not given", usage)
		}
	}
	return o, keystore.CheckName(o.keyset)
}

func openKeysets(o *options) (envelope.Keysets, error) {
	var keysets envelope.Keysets
	primitive, err := kek.Open(o.kekURI)
	if err != nil {
		return keysets, err
	}
	store, err := keystore.Open(o.folder)
	if err != nil {
		return keysets, err
	}
	if keysets.AEAD, err = openFile(store, o.keyset, keystore.AEAD, primitive); err != nil {
		return keysets, err
	}
	if keysets.Deterministic, err = openFile(store, o.keyset, keystore.Deterministic, primitive); err != nil {
		return keysets, err
	}
	keysets.PRF, err = openFile(store, o.keyset, keystore.PRF, primitive)
	return keysets, err
}

func openFile(store *keystore.Store, name string, purpose keystore.Purpose, kek tink.AEAD) (*keyset.Handle, error) {
	file, err := store.Read(name, purpose)
	if err != nil {
		return nil, err
	}
	return file.Open(kek)
}

func open(keysets envelope.Keysets, o *options, input []byte) ([]byte, error) {
	stored := input
	// Text forms come from psql and the shell, which end them with a line.
	text := bytes.TrimRight(input, "\r\n")
	if digits, isHex := bytes.CutPrefix(text, []byte(`\x`)); isHex {
		raw, err := hex.DecodeString(string(digits))
		if err != nil {
			return nil, fault.Input("standard input", `what follows \x is not hexadecimal`, "give an envelope")
		}
		stored = raw
	} else if bytes.HasPrefix(text, []byte("fv1.")) {
		stored = text
	}
	plaintext, err := keysets.Open(o.field, stored)
	if err != nil {
		return nil, fault.Input("standard input", err.Error(), "check label, tenant and keyset")
	}
	return plaintext, nil
}

func seal(keysets envelope.Keysets, o *options, plaintext []byte) ([]byte, error) {
	sealers := map[string]func(envelope.Field, []byte) ([]byte, error){
		"randomized": keysets.SealRandomized, "deterministic": keysets.SealDeterministic, "indexed": keysets.SealIndexed,
	}
	forms := map[string]func([]byte) []byte{
		"armored": func(raw []byte) []byte { return []byte(envelope.Armor(raw)) },
		"hex":     func(raw []byte) []byte { return []byte(`\x` + hex.EncodeToString(raw)) },
		"raw":     func(raw []byte) []byte { return raw },
	}
	sealer, known := sealers[o.protection]
	if !known {
		return nil, fault.Input("--protection "+o.protection, "not known here", "use randomized, deterministic or indexed")
	}
	form, known := forms[o.form]
	if !known {
		return nil, fault.Input("--form "+o.form, "not known here", "use armored, hex or raw")
	}
	raw, err := sealer(o.field, plaintext)
	if err != nil {
		return nil, fault.Failure("keyset "+o.keyset, err.Error(), "check the keyset")
	}
	return form(raw), nil
}
