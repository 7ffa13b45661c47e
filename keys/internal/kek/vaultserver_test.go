package kek

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/vault/api"
)

const vaultRootToken = "root"

// vaultServer is Vault's own core, API, transit engine and logins, with TLS and in memory: dev/tools/vault.
type vaultServer struct {
	address string // HOST:PORT
	ca      string
	root    *api.Client
}

var vault struct {
	sync.Once
	server *vaultServer
}

// startedVault gives the server, with a policy that allows what docs/guides/kms.md says.
func startedVault(t *testing.T) *vaultServer {
	t.Helper()
	vault.Do(func() {
		certificate, key := certificateOfLoopback(t)
		address := freeAddress(t)
		start(t, "vault", nil, filepath.Join(tools, "bin", "vault"), "-listen="+address, "-root-token="+vaultRootToken,
			"-cert="+certificate, "-key="+key)
		server := &vaultServer{address: address, ca: certificate}
		settings := api.DefaultConfig()
		settings.Address = "https://" + address
		if err := settings.ConfigureTLS(&api.TLSConfig{CACert: server.ca}); err != nil {
			t.Fatal(err)
		}
		root, err := api.NewClient(settings)
		if err != nil {
			t.Fatal(err)
		}
		root.SetToken(vaultRootToken)
		server.root = root
		waitUntil(t, "Vault's answer", func() bool { health, err := root.Sys().Health(); return err == nil && !health.Sealed })
		server.mount(t, "sys/mounts/transit", "transit")
		vault.server = server
	})
	if vault.server == nil {
		t.Fatal("Vault did not start")
	}
	return vault.server
}

// certificateOfLoopback writes the certificate and the key of Go's own test servers, and gives the files.
func certificateOfLoopback(t *testing.T) (certificate, key string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	server.Close()
	pair := server.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(programs.folder, "vault.pem"), filepath.Join(programs.folder, "vault.key")
	writeFile(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	writeFile(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return certificate, key
}

// write is a request of the administrator's.
func (v *vaultServer) write(t *testing.T, path string, data map[string]any) *api.Secret {
	t.Helper()
	answer, err := v.root.Logical().Write(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (v *vaultServer) mount(t *testing.T, path, kind string) {
	t.Helper()
	v.write(t, path, map[string]any{"type": kind})
}

// key makes a transit key and gives its key URI.
func (v *vaultServer) key(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(t.Name())
	for _, letter := range "/ _=" {
		name = strings.ReplaceAll(name, string(letter), "-")
	}
	v.write(t, "transit/keys/"+name, map[string]any{"type": "aes256-gcm96"})
	return vaultPrefix + v.address + "/transit/keys/" + name
}

// policy writes the least that the key with this key URI needs, and gives its name.
func (v *vaultServer) policy(t *testing.T, keyURI string) string {
	t.Helper()
	name := keyURI[strings.LastIndex(keyURI, "/")+1:]
	rules := ""
	for _, verb := range []string{"encrypt", "decrypt"} {
		rules += `path "transit/` + verb + `/` + name + `" { capabilities = ["update"] }` + "\n"
	}
	if err := v.root.Sys().PutPolicy(name, rules); err != nil {
		t.Fatal(err)
	}
	return name
}

// token makes a token with the least policy for the key.
func (v *vaultServer) token(t *testing.T, keyURI string, more map[string]any) string {
	t.Helper()
	request := map[string]any{"policies": []string{v.policy(t, keyURI)}}
	maps.Copy(request, more)
	return v.write(t, "auth/token/create", request).Auth.ClientToken
}

func (v *vaultServer) revoke(t *testing.T, token string) {
	t.Helper()
	v.write(t, "auth/token/revoke", map[string]any{"token": token})
}

// use points the environment at the server.
func (v *vaultServer) use(t *testing.T) {
	t.Helper()
	t.Setenv(api.EnvVaultAddress, "https://"+v.address)
	t.Setenv(api.EnvVaultCACert, v.ca)
}

func (k *remoteKey) vaultSession() *vaultSession { return k.aead.(*vaultKey).session }

// presentToken is the token that is used now.
func (k *remoteKey) presentToken(t *testing.T) string {
	t.Helper()
	token, err := k.vaultSession().begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return token.value
}
