// Package kek finds the key-encryption key that wraps keysets.
//
// A key-encryption key is named by a key URI. Each KMS is one file of this
// package that gives a constructor of Tink's own registry.KMSClient; the list
// below is the only other place that knows of it.
package kek

import (
	"strings"

	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// kms makes clients for the key URIs that start with prefix.
type kms struct {
	prefix    string
	form      string // of its key URIs, as a person writes them
	newClient func(keyURI string) (registry.KMSClient, error)
}

var kmses = []kms{
	insecureDev,
}

// Client chooses the KMS client for a key URI.
func Client(keyURI string) (registry.KMSClient, error) {
	for _, k := range kmses {
		if strings.HasPrefix(keyURI, k.prefix) {
			return k.newClient(keyURI)
		}
	}
	return nil, fault.Input("key URI "+keyURI, "no KMS is known for it",
		"use "+Forms())
}

// Open gives the key-encryption key that a key URI names. It is asked for anew
// each time keysets are opened, so that a key withdrawn in the KMS is noticed.
func Open(keyURI string) (tink.AEAD, error) {
	client, err := Client(keyURI)
	if err != nil {
		return nil, err
	}
	return client.GetAEAD(keyURI)
}

// Forms lists the forms of key URIs, one a KMS.
func Forms() string {
	forms := make([]string, 0, len(kmses))
	for _, k := range kmses {
		forms = append(forms, k.form)
	}
	return strings.Join(forms, ", ")
}
