// Package kek finds the key-encryption key that wraps keysets.
//
// A key-encryption key is named by a key URI. Each KMS is one file of this
// package that gives a constructor of Tink's own registry.KMSClient; the list
// below is the only other place that knows of it.
//
// What a KMS's key answers with is a *fault.Fault: a failure when the KMS is
// away, bad input when it says no.
package kek

import (
	"strings"
	"sync"

	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// provider makes clients for the key URIs that start with prefix.
type provider struct {
	prefix    string
	form      string // of its key URIs, as a person writes them
	newClient func(keyURI string) (registry.KMSClient, error)
}

var providers = []provider{
	vaultKMS,
	awsKMS,
	gcpKMS,
	insecureDev,
}

// clients are kept by key URI: behind one are connections and a login with its
// renewal, and who opens keysets every few seconds does not log in as often.
var clients = struct {
	sync.Mutex
	of map[string]registry.KMSClient
}{of: map[string]registry.KMSClient{}}

// Client is the KMS client for a key URI.
func Client(keyURI string) (registry.KMSClient, error) {
	clients.Lock()
	defer clients.Unlock()
	if client, made := clients.of[keyURI]; made {
		return client, nil
	}
	client, err := newClient(keyURI)
	if err != nil {
		return nil, err
	}
	clients.of[keyURI] = client
	return client, nil
}

func newClient(keyURI string) (registry.KMSClient, error) {
	for _, k := range providers {
		if strings.HasPrefix(keyURI, k.prefix) {
			return k.newClient(keyURI)
		}
	}
	return nil, fault.Input("key URI "+keyURI, "no KMS is known for it",
		"use one of "+strings.Join(Forms(), ", "))
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

// Forms are the forms of key URIs, one a KMS.
func Forms() []string {
	forms := make([]string, 0, len(providers))
	for _, k := range providers {
		forms = append(forms, k.form)
	}
	return forms
}
