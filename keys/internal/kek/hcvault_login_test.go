package kek

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestVaultTokenIsRenewedBeforeItExpires(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	const lifetime = 9
	token := vault.token(t, keyURI, map[string]any{"ttl": lifetime, "renewable": true})
	t.Setenv(api.EnvVaultToken, token)
	key := opened(t, keyURI)
	wrapped := wrap(t, key)
	// One that nobody renews, made later, is gone before the first is used again.
	other := vault.token(t, keyURI, map[string]any{"ttl": lifetime, "renewable": true})
	waitUntil(t, "the end of a token that nobody renews", func() bool { return !vault.knows(other) })
	unwraps(t, key, wrapped)
	if key.presentToken(t) != token {
		t.Error("another token is used")
	}
}

func TestVaultTokenThatIsOverIsSaid(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	token := vault.token(t, keyURI, nil)
	t.Setenv(api.EnvVaultToken, token)
	key := opened(t, keyURI)
	wrapped := wrap(t, key)
	vault.revoke(t, token)
	for range 2 {
		_, err := key.Decrypt(wrapped, []byte{})
		saysNo(t, err, "expired or was revoked", "VAULT_TOKEN")
		if strings.Contains(err.Error(), token) {
			t.Error("the token is in the error")
		}
	}
}

func TestVaultTokenFileIsReadAnew(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	first, second := vault.token(t, keyURI, nil), vault.token(t, keyURI, nil)
	file := filepath.Join(t.TempDir(), "token")
	t.Setenv(vaultTokenFile, file)
	key := opened(t, keyURI)
	_, err := key.Encrypt([]byte(keysetText), []byte{})
	isAway(t, err, file, "no such file", "put a token for Vault there")
	writeFile(t, file, first+"\n")
	wrapped := wrap(t, key)
	vault.revoke(t, first)
	_, err = key.Decrypt(wrapped, []byte{})
	saysNo(t, err, "expired or was revoked", vaultTokenFile)
	writeFile(t, file, second+"\n")
	unwraps(t, key, wrapped)
}

func TestAppRoleLogsInAnewWhenItsTokenIsOver(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	vault.mount(t, "sys/auth/machines", "approle")
	t.Cleanup(func() { vault.root.Sys().DisableAuth("machines") })
	role := "auth/machines/role/fieldveil"
	vault.write(t, role, map[string]any{"token_policies": vault.policy(t, keyURI), "token_max_ttl": 2})
	roleID, err := vault.root.Logical().Read(role + "/role-id")
	if err != nil {
		t.Fatal(err)
	}
	secretID := vault.write(t, role+"/secret-id", nil).Data["secret_id"].(string)
	file := filepath.Join(t.TempDir(), "secret-id")
	writeFile(t, file, secretID+"\n")
	t.Setenv(vaultAuthMethod, "approle")
	t.Setenv(vaultAuthMount, "machines")
	t.Setenv(vaultRoleID, roleID.Data["role_id"].(string))
	t.Setenv(vaultSecretIDFile, file)

	key := opened(t, keyURI)
	wrapped := wrap(t, key)
	first := key.presentToken(t)
	waitUntil(t, "the end of the first token", func() bool { return !vault.knows(first) })
	unwraps(t, key, wrapped)
	second := key.presentToken(t)
	if second == first {
		t.Error("no new login")
	}
	vault.revoke(t, second)
	unwraps(t, key, wrapped)

	writeFile(t, file, "not a secret id")
	vault.revoke(t, key.presentToken(t))
	_, err = key.Decrypt(wrapped, []byte{})
	saysNo(t, err, "login to Vault", file)
	if strings.Contains(err.Error(), "not a secret id") {
		t.Error("the file's text is in the error")
	}
	testfile.Remove(t, file)
	_, err = key.Decrypt(wrapped, []byte{})
	isAway(t, err, file, "no such file", "put the credentials")
}

func TestServiceAccountTokenLogsIn(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	issuer := newIssuer(t)
	reviewer := issuer.reviewer(t)
	vault.mount(t, "sys/auth/kubernetes", "kubernetes")
	t.Cleanup(func() { vault.root.Sys().DisableAuth("kubernetes") })
	vault.write(t, "auth/kubernetes/config", map[string]any{
		"kubernetes_host": reviewer.URL, "kubernetes_ca_cert": certificateOf(reviewer), "disable_local_ca_jwt": true,
		"pem_keys": issuer.publicKey(t), "issuer": issuer.name,
	})
	vault.write(t, "auth/kubernetes/role/fieldveil", map[string]any{
		"bound_service_account_names": "orders", "bound_service_account_namespaces": "shop", "audience": issuer.name,
		"token_policies": vault.policy(t, keyURI),
	})
	file := filepath.Join(t.TempDir(), "token")
	t.Setenv(vaultAuthMethod, "kubernetes")
	t.Setenv(vaultRole, "fieldveil")
	t.Setenv(vaultJWTFile, file)
	key := opened(t, keyURI)

	_, err := key.Encrypt([]byte(keysetText), []byte{})
	isAway(t, err, file, "no such file", "put the credentials")
	writeFile(t, file, issuer.token(t, "shop", "orders"))
	wrapped := wrap(t, key)
	// Kubernetes replaces the file; at the next login the new one is used.
	other := issuer.token(t, "shop", "other")
	writeFile(t, file, other)
	unwraps(t, key, wrapped)
	vault.revoke(t, key.presentToken(t))
	_, err = key.Decrypt(wrapped, []byte{})
	saysNo(t, err, "login to Vault", file)
	if strings.Contains(err.Error(), other) {
		t.Error("the service account token is in the error")
	}
	writeFile(t, file, issuer.token(t, "shop", "orders"))
	unwraps(t, key, wrapped)
}

func TestLoginAnsweredByNoVaultIsAway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret-id")
	writeFile(t, file, "a secret id")
	t.Setenv(vaultAuthMethod, "approle")
	t.Setenv(vaultRoleID, "role")
	t.Setenv(vaultSecretIDFile, file)
	t.Setenv(api.EnvVaultMaxRetries, "0")
	for name, c := range map[string]struct {
		status int
		text   string
		holds  func(*testing.T, error, ...string)
	}{
		"Vault's no": {400, `{"errors":["invalid role or secret ID"]}`, saysNo},
		"page":       {403, "<html>Forbidden", isAway}, "gateway": {403, `{"message":"of a gateway"}`, isAway}, "timeout": {408, `{"errors":[]}`, isAway},
		"behind": {412, `{"errors":[]}`, isAway}, "standby": {472, `{"errors":[]}`, isAway}, "rate limited": {429, `{"errors":[]}`, isAway},
		"sealed": {503, `{"errors":["Vault is sealed"]}`, isAway}, "empty": {200, "", isAway}, "maintenance": {200, `{"status":"maintenance"}`, isAway},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				w.Write([]byte(c.text))
			}))
			defer server.Close()
			t.Setenv(api.EnvVaultAddress, server.URL)
			_, err := opened(t, vaultPrefix+"/transit/keys/pii").Decrypt([]byte("wrapped"), []byte{})
			c.holds(t, err)
		})
	}
}

func TestOneLoginServesCallsAtTheSameTime(t *testing.T) {
	vault := startedVault(t)
	vault.use(t)
	keyURI := vault.key(t)
	file := filepath.Join(t.TempDir(), "token")
	writeFile(t, file, vault.token(t, keyURI, nil))
	t.Setenv(vaultTokenFile, file)
	key := opened(t, keyURI)
	wrapped := wrap(t, key)
	first := key.presentToken(t)
	writeFile(t, file, vault.token(t, keyURI, nil))
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 5 {
				if _, err := key.Decrypt(wrapped, []byte{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	vault.revoke(t, first)
	calls.Wait()
	unwraps(t, key, wrapped)
}

// knows tells whether a token is still good.
func (v *vaultServer) knows(token string) bool {
	_, err := v.root.Auth().Token().Lookup(token)
	return err == nil
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	beside := path + ".new"
	testfile.Write(t, beside, text)
	if err := os.Rename(beside, path); err != nil {
		t.Fatal(err)
	}
}

// issuer signs service account tokens as a cluster's API server does.
type issuer struct {
	name string
	key  *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{name: "https://kubernetes.default.svc.cluster.local", key: key}
}

func (i *issuer) publicKey(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&i.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// reviewer answers what Vault asks Kubernetes' API of each token. Vault itself has verified the signature by then.
func (i *issuer) reviewer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Spec struct{ Token string }
		}
		var claims struct {
			Sub        string
			Kubernetes struct{ ServiceAccount struct{ UID string } } `json:"kubernetes.io"`
		}
		err := json.NewDecoder(r.Body).Decode(&review)
		if parts := strings.Split(review.Spec.Token, "."); err == nil && len(parts) == 3 {
			var text []byte
			if text, err = base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
				err = json.Unmarshal(text, &claims)
			}
		}
		user := map[string]any{"username": claims.Sub, "uid": claims.Kubernetes.ServiceAccount.UID}
		json.NewEncoder(w).Encode(map[string]any{
			"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1",
			"status": map[string]any{"authenticated": err == nil, "audiences": []string{i.name}, "user": user},
		})
	}))
	t.Cleanup(server.Close)
	return server
}

func certificateOf(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

func (i *issuer) token(t *testing.T, namespace, serviceAccount string) string {
	t.Helper()
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": i.name, "aud": []string{i.name}, "sub": "system:serviceaccount:" + namespace + ":" + serviceAccount,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"kubernetes.io": map[string]any{
			"namespace": namespace, "serviceaccount": map[string]any{"name": serviceAccount, "uid": serviceAccount},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}
