package kek

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/approle"
	"github.com/hashicorp/vault/api/auth/kubernetes"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// The environment variables of a login. VAULT_TOKEN is the API client's own;
// it has none for the others.
const (
	vaultTokenFile    = "VAULT_TOKEN_FILE"
	vaultAuthMethod   = "VAULT_AUTH_METHOD" // token, kubernetes or approle
	vaultAuthMount    = "VAULT_AUTH_MOUNT"
	vaultRole         = "VAULT_ROLE"
	vaultJWTFile      = "VAULT_JWT_FILE"
	vaultRoleID       = "VAULT_ROLE_ID"
	vaultSecretIDFile = "VAULT_SECRET_ID_FILE"
)

const serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// vaultLogin gives the API client a token, and says how long it lives.
type vaultLogin struct {
	login          func(context.Context) (*api.SecretAuth, error)
	source         string // of the credentials, for a person
	givesNewTokens bool
}

func chooseVaultLogin(client *api.Client) (vaultLogin, error) {
	mount, method := os.Getenv(vaultAuthMount), os.Getenv(vaultAuthMethod)
	switch method {
	case "", "token":
		return chooseVaultToken(client)
	case "kubernetes":
		role, err := required(vaultRole, method)
		if err != nil {
			return vaultLogin{}, err
		}
		file := cmp.Or(os.Getenv(vaultJWTFile), serviceAccountToken)
		options := []kubernetes.LoginOption{
			kubernetes.WithMountPath(cmp.Or(mount, "kubernetes")), kubernetes.WithServiceAccountTokenPath(file),
		}
		return vaultLogin{source: "service account token in " + file, givesNewTokens: true,
			login: func(ctx context.Context) (*api.SecretAuth, error) {
				// It reads the file when it is made, and Kubernetes replaces the file.
				auth, err := kubernetes.NewKubernetesAuth(role, options...)
				return logIn(ctx, client, auth, file, err)
			}}, nil
	case "approle":
		roleID, err := required(vaultRoleID, method)
		if err != nil {
			return vaultLogin{}, err
		}
		file, err := required(vaultSecretIDFile, method)
		if err != nil {
			return vaultLogin{}, err
		}
		option := approle.WithMountPath(cmp.Or(mount, "approle"))
		return vaultLogin{source: "secret id in " + file, givesNewTokens: true,
			login: func(ctx context.Context) (*api.SecretAuth, error) {
				auth, err := approle.NewAppRoleAuth(roleID, &approle.SecretID{FromFile: file}, option)
				return logIn(ctx, client, auth, file, err)
			}}, nil
	}
	return vaultLogin{}, fault.Input(vaultAuthMethod+"=\""+method+"\"", "no such method", "use token, kubernetes or approle")
}

// logIn has the API client log in. Errors name the file and never its text.
func logIn(ctx context.Context, client *api.Client, auth api.AuthMethod, file string, err error) (*api.SecretAuth, error) {
	var secret *api.Secret
	if err == nil {
		secret, err = client.Auth().Login(ctx, auth)
	}
	var unreadable *fs.PathError
	var answer *api.ResponseError
	switch {
	case errors.As(err, &unreadable):
		return nil, errNoVaultFile(file, err, "the credentials of the login to Vault")
	case errors.As(err, &answer) && !isVaultAway(answer):
		return nil, fault.Input("login to Vault", "refused ("+shortened(strings.Join(answer.Errors, ", "))+")",
			"see that the mount, the role and the credentials in "+file+" are right and still valid")
	case err != nil:
		return nil, err
	}
	return secret.Auth, nil
}

// chooseVaultToken uses a token that was given. A file is read at each login: an
// agent of Vault's may replace it.
func chooseVaultToken(client *api.Client) (vaultLogin, error) {
	file := os.Getenv(vaultTokenFile)
	switch {
	case file != "":
		return vaultLogin{source: vaultTokenFile, givesNewTokens: true,
			login: func(ctx context.Context) (*api.SecretAuth, error) {
				text, err := os.ReadFile(file)
				if err != nil {
					return nil, errNoVaultFile(file, err, "a token for Vault")
				}
				client.SetToken(strings.TrimSpace(string(text)))
				return lookUpToken(ctx, client)
			}}, nil
	case client.Token() != "":
		return vaultLogin{source: api.EnvVaultToken,
			login: func(ctx context.Context) (*api.SecretAuth, error) { return lookUpToken(ctx, client) }}, nil
	case os.Getenv(api.EnvVaultAgentAddr) != "":
		// Vault's own agent, or its proxy, adds a token to what passes through it.
		return vaultLogin{source: api.EnvVaultAgentAddr,
			login: func(context.Context) (*api.SecretAuth, error) { return &api.SecretAuth{}, nil }}, nil
	}
	return vaultLogin{}, fault.Input(api.EnvVaultToken, "no credentials for Vault are given",
		"set it, or "+vaultTokenFile+", or "+vaultAuthMethod+" to kubernetes or approle")
}

var errNoTokenLifetime = errors.New("its answer does not tell how long the token lives")

// lookUpToken tells how long a token lives. One that may not ask is used as it is.
func lookUpToken(ctx context.Context, client *api.Client) (*api.SecretAuth, error) {
	token := &api.SecretAuth{ClientToken: client.Token()}
	found, err := client.Auth().Token().LookupSelfWithContext(ctx)
	switch {
	case hasVaultStatus(err, http.StatusForbidden):
		return token, nil
	case err != nil:
		return nil, err
	case found == nil || found.Data["ttl"] == nil:
		return nil, errNoTokenLifetime
	}
	lifetime, err := found.TokenTTL()
	if err != nil {
		return token, nil
	}
	token.LeaseDuration = int(lifetime.Seconds())
	token.Renewable, _ = found.TokenIsRenewable()
	return token, nil
}

// errNoVaultFile is no no: who puts the file there may be late, or replacing it.
func errNoVaultFile(file string, err error, what string) error {
	return fault.Failure(file, fault.Cause(err), "put "+what+" there")
}

func required(variable, method string) (string, error) {
	if value := os.Getenv(variable); value != "" {
		return value, nil
	}
	return "", fault.Input(variable, "not set, and "+vaultAuthMethod+" is "+method, "set it")
}
