package kek

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/hashicorp/vault/api"
)

// vaultSession keeps a token that Vault accepts: it logs in at the first call,
// lets the API client's LifetimeWatcher renew the token, and logs in again when
// the token's life is over.
type vaultSession struct {
	client *api.Client
	vaultLogin

	mutex   sync.Mutex
	present *vaultToken
}

type vaultToken struct {
	value   string
	watcher *api.LifetimeWatcher // if it has a lifetime
}

// String keeps the token out of logs, whatever prints it.
func (*vaultToken) String() string { return "vaultToken(redacted)" }

// GoString does the same for %#v.
func (t *vaultToken) GoString() string { return t.String() }

// newVaultSession has the login that the environment asks for. It calls no one.
func newVaultSession(client *api.Client) (*vaultSession, error) {
	login, err := chooseVaultLogin(client)
	if err != nil {
		return nil, err
	}
	return &vaultSession{client: client, vaultLogin: login}, nil
}

var errDeadToken = errors.New("the token is not valid: it has expired or was revoked")

// do calls with a token, and once more with a new one if Vault no longer knows
// the first: tokens can be revoked.
func (s *vaultSession) do(ctx context.Context, call func() ([]byte, error)) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		token, err := s.begin(ctx)
		if err != nil {
			return nil, err
		}
		output, err := call()
		if !hasVaultStatus(err, http.StatusForbidden) || !s.isDead(ctx, token) {
			return output, err
		}
		s.end(token)
		if !s.givesNewTokens || attempt == 2 {
			return nil, errDeadToken
		}
	}
}

// begin gives the present token, after a login if there is none.
func (s *vaultSession) begin(ctx context.Context) (*vaultToken, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.present != nil {
		return s.present, nil
	}
	auth, err := s.login(ctx)
	if err != nil {
		return nil, err
	}
	token := &vaultToken{value: auth.ClientToken}
	if auth.LeaseDuration > 0 { // otherwise it lives for ever, or Vault does not tell
		token.watcher, err = s.client.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: &api.Secret{Auth: auth}})
		if err != nil {
			return nil, err
		}
		go token.watcher.Start()
		go func() {
			<-token.watcher.DoneCh()
			s.end(token)
		}()
	}
	s.present = token
	return token, nil
}

// end has the next call log in, if the token is still the present one.
func (s *vaultSession) end(token *vaultToken) {
	if token.watcher != nil {
		token.watcher.Stop()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.present == token {
		s.present = nil
	}
}

// isDead tells a token that Vault does not know from one whose policy does not
// allow what was asked. A token that another call has put aside is dead too.
func (s *vaultSession) isDead(ctx context.Context, token *vaultToken) bool {
	if s.client.Token() != token.value {
		return true
	}
	_, err := s.client.Auth().Token().LookupSelfWithContext(ctx)
	return hasVaultStatus(err, http.StatusForbidden)
}
