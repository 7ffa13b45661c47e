// Command vault serves Vault's own API from its own core, with what the tests use of it: tokens and policies, the
// transit engine, and the login methods AppRole and Kubernetes. It starts unsealed, keeps all in memory, and prints the key
// that unseals it again.
//
// The stock server has all other engines and methods compiled in, and the clients of a dozen clouds: five times as
// much. Those that the core itself imports are replaced by what lies in absent/, which refuses to do anything.
// Vault is under the Business Source License: this is a tool beside the tests, and is never shipped.
package main

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/armon/go-metrics"
	"github.com/hashicorp/go-hclog"
	kubernetes "github.com/hashicorp/vault-plugin-auth-kubernetes"
	"github.com/hashicorp/vault/builtin/credential/approle"
	"github.com/hashicorp/vault/builtin/logical/transit"
	"github.com/hashicorp/vault/command/server"
	"github.com/hashicorp/vault/helper/metricsutil"
	"github.com/hashicorp/vault/helper/namespace"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8200", "`address` to listen on, with TLS")
	certificate := flag.String("cert", "", "`file` of the certificate chain, in PEM")
	key := flag.String("key", "", "`file` of its private key, in PEM")
	token := flag.String("root-token", "", "the root `token`")
	flag.Parse()
	if *certificate == "" || *key == "" || *token == "" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*address, *certificate, *key, *token); err != nil {
		fmt.Fprintln(os.Stderr, "vault:", err)
		os.Exit(1)
	}
}

func run(address, certificate, key, token string) error {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	logger := hclog.New(&hclog.LoggerOptions{Name: "vault", Level: hclog.Info})
	core, err := newCore(logger)
	if err != nil {
		return fmt.Errorf("make the core: %w", err)
	}
	unsealKey, err := initialize(core, token)
	if err != nil {
		return fmt.Errorf("initialize the core: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("Unseal Key:", base64.StdEncoding.EncodeToString(unsealKey))
	web := &http.Server{
		Handler: vaulthttp.Handler.Handler(&vault.HandlerProperties{
			Core:           core,
			ListenerConfig: &configutil.Listener{Type: "tcp", Address: address},
		}),
		ErrorLog:  logger.StandardLogger(nil),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
	}
	return web.ServeTLS(listener, "", "")
}

func newCore(logger hclog.Logger) (*vault.Core, error) {
	storage, err := inmem.NewInmem(nil, logger)
	if err != nil {
		return nil, err
	}
	sink := metrics.NewInmemSink(10*time.Second, time.Minute)
	return vault.NewCore(&vault.CoreConfig{
		Physical:           storage,
		Logger:             logger,
		DisableMlock:       true,
		RawConfig:          &server.Config{SharedConfig: &configutil.SharedConfig{}},
		BuiltinRegistry:    builtins{},
		LogicalBackends:    map[string]logical.Factory{"transit": transit.Factory},
		CredentialBackends: map[string]logical.Factory{"approle": approle.Factory, "kubernetes": kubernetes.Factory},
		MetricSink:         metricsutil.NewClusterMetricSink("tests", sink),
		MetricsHelper:      metricsutil.NewMetricsHelper(sink, false),
	})
}

// initialize does what the stock server does in its development mode: one unseal key, and a root token that is known.
func initialize(core *vault.Core, token string) (unsealKey []byte, err error) {
	ctx := namespace.RootContext(context.Background())
	made, err := core.Initialize(ctx, &vault.InitParams{
		BarrierConfig: &vault.SealConfig{SecretShares: 1, SecretThreshold: 1},
	})
	if err != nil {
		return nil, err
	}
	unsealKey = made.SecretShares[0]
	// It is wiped where it is used.
	if unsealed, err := core.Unseal(append([]byte(nil), unsealKey...)); err != nil || !unsealed {
		return nil, fmt.Errorf("unseal: %w", err)
	}
	create := &logical.Request{
		ID:          "create-root-token",
		Operation:   logical.UpdateOperation,
		ClientToken: made.RootToken,
		Path:        "auth/token/create",
		Data: map[string]any{
			"id": token, "policies": []string{"root"}, "no_parent": true, "no_default_policy": true,
		},
	}
	response, err := core.HandleRequest(ctx, create)
	if err == nil && (response == nil || response.Auth == nil) {
		err = errors.New("there is no root token")
	}
	return unsealKey, err
}
