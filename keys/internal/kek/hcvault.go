package kek

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

const (
	vaultPrefix = "hcvault://"
	vaultForm   = vaultPrefix + "HOST[:PORT]/MOUNT/keys/NAME"
)

// vaultPath is what follows the server: the mount's path, "keys", the key's name.
var vaultPath = regexp.MustCompile(`^((?:/[A-Za-z0-9_.-]+)+)/keys/([A-Za-z0-9_.-]+)$`)

// vaultKMS is the transit secrets engine of Vault and of OpenBao.
var vaultKMS = provider{prefix: vaultPrefix, form: vaultForm, newClient: newVaultClient}

func newVaultClient(keyURI string) (registry.KMSClient, error) {
	uri, err := url.Parse(keyURI)
	if err != nil || uri.User != nil || uri.RawQuery != "" || uri.Fragment != "" {
		return nil, malformed(vaultPrefix+"…", vaultForm)
	}
	path := vaultPath.FindStringSubmatch(uri.EscapedPath())
	if path == nil {
		return nil, malformed(keyURI, vaultForm)
	}
	client, err := newVaultAPIClient(keyURI, uri)
	if err != nil {
		return nil, err
	}
	session, err := newVaultSession(client)
	if err != nil {
		return nil, err
	}
	transit, err := hcvault.NewAEAD(uri.EscapedPath(), client.Logical())
	if err != nil {
		return nil, malformed(keyURI, vaultForm)
	}
	key := &vaultKey{session: session, transit: transit, mount: path[1][1:], name: path[2]}
	return &remoteKey{keyURI: keyURI, aead: key, timeout: client.ClientTimeout(), explain: key.explain}, nil
}

// newVaultAPIClient takes its settings from the VAULT_… variables, as Vault's
// own tools do. The server is the key URI's, or VAULT_ADDR's if it names none.
func newVaultAPIClient(keyURI string, uri *url.URL) (*api.Client, error) {
	config := api.DefaultConfig()
	if config.Error != nil {
		return nil, errVaultSettings(config.Error)
	}
	if os.Getenv(api.EnvVaultClientTimeout) == "" {
		config.Timeout = callTimeout
	}
	// Only this address is looked at, below: where another server sends token and
	// keyset, they would go unseen, in clear text too.
	config.DisableRedirects = true
	config.CheckRetry = refuseRedirects
	address := os.Getenv(api.EnvVaultAddress)
	switch {
	case uri.Host == "" && address == "" && config.AgentAddress == "":
		return nil, fault.Input("key URI "+keyURI, "it names no server, and VAULT_ADDR is not set",
			"write "+vaultForm+", or set VAULT_ADDR")
	case uri.Host != "" && address == "":
		config.Address = "https://" + uri.Host
	case uri.Host != "" && !namesServer(address, uri):
		return nil, fault.Input("key URI "+keyURI, "VAULT_ADDR names another server",
			"set it to the same one, or leave the server out of the key URI: "+vaultPrefix+uri.Path)
	}
	client, err := api.NewClient(config)
	if err != nil {
		return nil, errVaultSettings(err)
	}
	return client, checkEndpoint("the address of Vault", client.Address())
}

var errVaultRedirects = errors.New("it redirects to another address, which is not followed")

// refuseRedirects has a redirect be no answer: one that is not followed passes
// for an answer without a word in it.
func refuseRedirects(ctx context.Context, answer *http.Response, err error) (bool, error) {
	if err == nil && answer.StatusCode >= http.StatusMultipleChoices && answer.StatusCode < http.StatusBadRequest {
		answer.Body.Close()
		return false, errVaultRedirects
	}
	return api.DefaultRetryPolicy(ctx, answer, err)
}

func errVaultSettings(err error) error {
	return fault.Input("the VAULT_… environment variables", err.Error(), "correct them")
}

// namesServer compares names, and ports if the key URI has one: VAULT_ADDR tells
// the rest.
func namesServer(address string, uri *url.URL) bool {
	server, err := url.Parse(address)
	if err != nil || !strings.EqualFold(server.Hostname(), uri.Hostname()) {
		return false
	}
	port := server.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[server.Scheme]
	}
	return uri.Port() == "" || uri.Port() == port
}

// vaultKey is a transit key, with a token that Vault accepts.
type vaultKey struct {
	session     *vaultSession
	transit     tink.AEAD // without a context: the API client's own timeout bounds it
	mount, name string
}

func (k *vaultKey) EncryptWithContext(ctx context.Context, plaintext, associatedData []byte) ([]byte, error) {
	return k.session.do(ctx, func() ([]byte, error) {
		// A token that may create keys would make a new one of a mistyped name.
		if err := k.checkExists(ctx); err != nil {
			return nil, err
		}
		return k.transit.Encrypt(plaintext, associatedData)
	})
}

func (k *vaultKey) DecryptWithContext(ctx context.Context, ciphertext, associatedData []byte) ([]byte, error) {
	return k.session.do(ctx, func() ([]byte, error) { return k.transit.Decrypt(ciphertext, associatedData) })
}

var errNoVaultKey = errors.New("encryption key not found")

// checkExists needs a permission that neither encrypting nor decrypting does;
// without it, it says nothing.
func (k *vaultKey) checkExists(ctx context.Context) error {
	answer, err := k.session.client.Logical().ReadRawWithContext(ctx, k.mount+"/keys/"+k.name)
	if answer != nil {
		answer.Body.Close()
	}
	switch {
	case hasVaultStatus(err, http.StatusForbidden):
		return nil
	case hasVaultStatus(err, http.StatusNotFound):
		return errNoVaultKey
	}
	return err
}

// vaultRemedies are what to do about an answer that holds the words.
var vaultRemedies = []struct{ words, remedy string }{
	{"message authentication failed", wrongKEK},
	{"invalid ciphertext", wrongKEK},
	{"disallowed by policy", "lower min_decryption_version of the key to the version that wrapped the keyset"},
	{"key derivation", "use a key that was made without derived=true"},
	{"not supported for key type", "use a key of a type that encrypts, such as aes256-gcm96"},
}

func (k *vaultKey) explain(keyURI string, err error) *fault.Fault {
	var known *fault.Fault
	var answer *api.ResponseError
	makeKey := "see that the transit secrets engine is mounted at " + k.mount +
		", and make the key with: vault write -f " + k.mount + "/keys/" + k.name
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errNoVaultKey):
		return refused(keyURI, err.Error(), makeKey)
	case errors.Is(err, errDeadToken):
		return refused(keyURI, err.Error(), "give a new one ("+k.session.source+")")
	case !errors.As(err, &answer):
		return away(keyURI, err)
	}

	reason := strings.Join(answer.Errors, ", ")
	switch status := answer.StatusCode; {
	case isVaultAway(answer):
		return awayBecause(keyURI, cmp.Or(http.StatusText(status), strconv.Itoa(status))+": "+reason)
	case status == http.StatusForbidden:
		return refused(keyURI, reason, "see that the key exists, and that the token's policy allows to update "+
			k.mount+"/encrypt/"+k.name+" and "+k.mount+"/decrypt/"+k.name)
	case status == http.StatusNotFound, strings.Contains(reason, errNoVaultKey.Error()):
		return refused(keyURI, reason, makeKey)
	}
	for _, known := range vaultRemedies {
		if strings.Contains(reason, known.words) {
			return refused(keyURI, reason, known.remedy)
		}
	}
	return refused(keyURI, reason, "see the key with: vault read "+k.mount+"/keys/"+k.name)
}

// isVaultAway tells the answers that say nothing about key and token: those that
// are not Vault's own, such as a gateway's, of a server in trouble or sealed, of
// a standby, and of one that limits its callers.
func isVaultAway(answer *api.ResponseError) bool {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusPreconditionFailed, http.StatusRequestTimeout, 472, 473:
		return true
	}
	return !isVaults(answer) || answer.StatusCode >= http.StatusInternalServerError
}

// isVaults tells Vault's own answers from a gateway's before it: Vault's name
// the errors, be there none.
func isVaults(answer *api.ResponseError) bool { return !answer.RawError && answer.Errors != nil }

// hasVaultStatus is of Vault's own answers.
func hasVaultStatus(err error, status int) bool {
	var answer *api.ResponseError
	return errors.As(err, &answer) && answer.StatusCode == status && isVaults(answer)
}
