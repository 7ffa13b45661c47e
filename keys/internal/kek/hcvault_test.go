package kek

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/vault/api"
)

func TestVaultOpensWhatItWrappedWithTheLeastPolicy(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	t.Setenv(api.EnvVaultToken, vault.token(t, keyURI, nil))
	wrapped := wrap(t, opened(t, keyURI))
	unwraps(t, opened(t, keyURI), wrapped)
	unwraps(t, opened(t, strings.Replace(keyURI, vault.address, "", 1)), wrapped)
	if _, err := opened(t, keyURI).Decrypt(wrapped, []byte("other")); err == nil {
		t.Error("associated data is not looked at")
	}
}

func TestVaultSaysNoToAnotherKeysCiphertext(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	t.Setenv(api.EnvVaultToken, vaultRootToken)
	first := vault.key(t)
	vault.write(t, "transit/keys/second", nil)
	second := opened(t, vaultPrefix+vault.address+"/transit/keys/second")
	wrapped := wrap(t, opened(t, first))
	for _, ciphertext := range [][]byte{wrapped, []byte("vault:v1:AAAA"), []byte("no ciphertext")} {
		_, err := second.Decrypt(ciphertext, []byte{})
		saysNo(t, err, "the KMS refuses", wrongKEK)
	}
}

func TestVaultSaysNoWithAWithdrawnOrDeletedKey(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	t.Setenv(api.EnvVaultToken, vaultRootToken)
	keyURI := vault.key(t)
	path := "transit" + keyURI[strings.Index(keyURI, "/keys/"):]
	key := opened(t, keyURI)
	wrapped := wrap(t, key)
	vault.write(t, path+"/rotate", nil)
	vault.write(t, path+"/config", map[string]any{"min_decryption_version": 2})
	_, err := key.Decrypt(wrapped, []byte{})
	saysNo(t, err, "lower min_decryption_version")
	vault.write(t, path+"/config", map[string]any{"min_decryption_version": 1, "deletion_allowed": true})
	unwraps(t, key, wrapped)
	if _, err := vault.root.Logical().Delete(path); err != nil {
		t.Fatal(err)
	}
	_, err = key.Decrypt(wrapped, []byte{})
	saysNo(t, err, "encryption key not found")
}

func TestVaultKeyOfAMistypedNameIsNotMade(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	t.Setenv(api.EnvVaultToken, vaultRootToken)
	for _, path := range []string{"transit/keys/mistyped", "no-such-mount/keys/mistyped"} {
		_, err := opened(t, vaultPrefix+vault.address+"/"+path).Encrypt([]byte(keysetText), []byte{})
		saysNo(t, err, "vault write -f "+path, "is mounted at")
	}
	if key, err := vault.root.Logical().Read("transit/keys/mistyped"); err != nil || key != nil {
		t.Errorf("the key was made, or: %v", err)
	}
}

func TestVaultKeysThatCanNotWrapAreRefused(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	t.Setenv(api.EnvVaultToken, vaultRootToken)
	for remedy, data := range map[string]map[string]any{
		"of a type that encrypts": {"type": "ed25519"},
		"without derived=true":    {"type": "aes256-gcm96", "derived": true},
	} {
		name := data["type"].(string)
		vault.write(t, "transit/keys/unfit-"+name, data)
		_, err := opened(t, vaultPrefix+vault.address+"/transit/keys/unfit-"+name).Encrypt([]byte(keysetText), []byte{})
		saysNo(t, err, remedy)
	}
}

func TestVaultSaysNoToATokenWithoutThePolicy(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	other := vault.token(t, vaultPrefix+vault.address+"/transit/keys/other", nil)
	t.Setenv(api.EnvVaultToken, other)
	_, err := opened(t, keyURI).Encrypt([]byte(keysetText), []byte{})
	saysNo(t, err, "permission denied", "policy allows to update transit/encrypt/")
	if strings.Contains(err.Error(), other) {
		t.Error("the token is in the error")
	}
}

func TestVaultAwayIsNoNo(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := strings.Replace(vault.key(t), vault.address, "", 1)
	t.Setenv(api.EnvVaultToken, vaultRootToken)
	t.Setenv(api.EnvVaultMaxRetries, "0")
	wrapped := wrap(t, opened(t, keyURI))

	t.Run("nothing listens", func(t *testing.T) {
		t.Setenv(api.EnvVaultAddress, "https://"+freeAddress(t))
		_, err := opened(t, keyURI).Decrypt(wrapped, []byte{})
		isAway(t, err, "connection refused")
	})
	t.Run("no answer", func(t *testing.T) {
		t.Setenv(api.EnvVaultAddress, "https://"+silentAddress(t))
		t.Setenv(api.EnvVaultClientTimeout, "1")
		key := opened(t, keyURI)
		for _, call := range []func([]byte, []byte) ([]byte, error){key.Encrypt, key.Decrypt} {
			_, err := call(wrapped, []byte{})
			isAway(t, err, "no answer in time")
		}
	})
	t.Run("certificate", func(t *testing.T) {
		t.Setenv(api.EnvVaultCACert, "")
		_, err := opened(t, keyURI).Decrypt(wrapped, []byte{})
		isAway(t, err, "its certificate is not trusted")
	})
	for name, answer := range map[string]http.HandlerFunc{
		"sealed": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte(`{"errors":["Vault is sealed"]}`))
		},
		"gateway": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>Bad Gateway", http.StatusBadGateway)
		},
		"portal":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>Log in", http.StatusForbidden) },
		"rate limited": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			t.Setenv(api.EnvVaultAddress, server.URL)
			_, err := opened(t, keyURI).Decrypt(wrapped, []byte{})
			isAway(t, err, "the KMS is away")
		})
	}
}

func TestVaultAnswersThatAreNotVaultsAreAway(t *testing.T) {
	keyURI := vaultPrefix + "/transit/keys/pii"
	t.Setenv(api.EnvVaultToken, "token")
	for name, c := range map[string]struct {
		status int
		text   string
	}{
		"empty": {200, ""}, "no content": {204, ""}, "maintenance": {200, `{"status":"maintenance"}`}, "null": {200, "null"},
		"no data": {200, `{"data":null}`}, "page": {200, "<html>Log in"}, "errors of a success": {200, `{"errors":[]}`},
		"bad request": {400, `{"message":"of a gateway"}`}, "forbidden": {403, `{"message":"of a gateway"}`},
		"no route": {404, `{"message":"of a gateway"}`}, "default backend": {404, "default backend"}, "not found": {404, ""},
	} {
		for _, first := range []string{"/lookup-self", "/transit/"} {
			t.Run(name+", from "+first, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !strings.Contains(r.URL.Path, first) {
						w.Write([]byte(`{"data":{"ttl":0}}`))
						return
					}
					w.WriteHeader(c.status)
					w.Write([]byte(c.text))
				}))
				defer server.Close()
				t.Setenv(api.EnvVaultAddress, server.URL)
				key := opened(t, keyURI)
				for _, call := range []func([]byte, []byte) ([]byte, error){key.Encrypt, key.Decrypt} {
					_, err := call([]byte(keysetText), []byte{})
					isAway(t, err, "the KMS is away")
				}
			})
		}
	}
}

func TestVaultRedirectsAreNotFollowed(t *testing.T) {
	const token = "a token of Vault's"
	keyURI := vaultPrefix + "/transit/keys/pii"
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("%s %s came elsewhere, with %d bytes", r.Method, r.URL.Path, r.ContentLength)
			}))
			defer elsewhere.Close()
			gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/lookup-self") {
					w.Write([]byte(`{"data":{"ttl":0}}`))
					return
				}
				w.Header().Set("Location", elsewhere.URL+r.URL.Path)
				w.WriteHeader(status)
			}))
			defer gateway.Close()
			t.Setenv(api.EnvVaultAddress, gateway.URL)
			t.Setenv(api.EnvVaultToken, token)
			key := opened(t, keyURI)
			for _, call := range []func([]byte, []byte) ([]byte, error){key.Encrypt, key.Decrypt} {
				_, err := call([]byte(keysetText), []byte{})
				isAway(t, err, "redirects to another address")
			}
		})
	}
}

func TestVaultIsReachedInClearOnlyOnThisMachine(t *testing.T) {
	t.Setenv(api.EnvVaultToken, "token")
	keyURI := vaultPrefix + "/transit/keys/pii"
	for _, near := range []string{"http://127.0.0.1:8200", "http://localhost:8200", "http://[::1]:8200", "unix:///run/vault.sock"} {
		t.Setenv(api.EnvVaultAddress, near)
		opened(t, keyURI)
	}
	for _, far := range []string{"http://vault.example:8200", "http://192.0.2.1:8200", "http://localhost.example"} {
		t.Setenv(api.EnvVaultAddress, far)
		_, err := newClient(keyURI)
		saysNo(t, err, "in clear text", AllowHTTPVariable)
	}
	t.Setenv(AllowHTTPVariable, "true")
	opened(t, keyURI)
}

func TestVaultSettingsThatContradictAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		keyURI      string
		environment map[string]string
		words       string
	}{
		"no server":       {vaultPrefix + "/transit/keys/pii", nil, "VAULT_ADDR is not set"},
		"another server":  {vaultPrefix + "vault.example/transit/keys/pii", map[string]string{"VAULT_ADDR": "https://other.example"}, "names another server"},
		"another port":    {vaultPrefix + "vault.example:8200/transit/keys/pii", map[string]string{"VAULT_ADDR": "https://vault.example"}, "names another server"},
		"no token":        {vaultPrefix + "vault.example/transit/keys/pii", nil, "no credentials for Vault"},
		"no address":      {vaultPrefix + "/transit/keys/pii", map[string]string{"VAULT_ADDR": "vault"}, "not an address"},
		"no CA":           {vaultPrefix + "vault.example/transit/keys/pii", map[string]string{"VAULT_CACERT": "/absent"}, "environment variables"},
		"unknown method":  {vaultPrefix + "vault.example/transit/keys/pii", map[string]string{"VAULT_AUTH_METHOD": "ldap"}, "no such method"},
		"no role":         {vaultPrefix + "vault.example/transit/keys/pii", map[string]string{"VAULT_AUTH_METHOD": "kubernetes"}, "VAULT_ROLE"},
		"no role id":      {vaultPrefix + "vault.example/transit/keys/pii", map[string]string{"VAULT_AUTH_METHOD": "approle"}, "VAULT_ROLE_ID"},
		"no secret id":    {vaultPrefix + "vault.example/transit/keys/pii", map[string]string{"VAULT_AUTH_METHOD": "approle", "VAULT_ROLE_ID": "r"}, "VAULT_SECRET_ID_FILE"},
		"no keys in path": {vaultPrefix + "vault.example/transit/pii", nil, "not of the form"},
		"credentials":     {vaultPrefix + "user:word@vault.example/transit/keys/pii", nil, "not of the form"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.environment {
				t.Setenv(variable, value)
			}
			_, err := newClient(c.keyURI)
			saysNo(t, err, c.words)
			if strings.Contains(err.Error(), "user:word") {
				t.Error("credentials are in the error")
			}
		})
	}
}

func TestVaultsAgentGivesTheTokenItself(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	token := vault.token(t, keyURI, nil)
	server, err := url.Parse("https://" + vault.address)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(server)
	forward.Transport = vault.root.CloneConfig().HttpClient.Transport
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Vault-Token", token)
		forward.ServeHTTP(w, r)
	}))
	defer agent.Close()
	t.Setenv(api.EnvVaultAgentAddr, agent.URL)
	key := opened(t, keyURI)
	unwraps(t, key, wrap(t, key))
}
