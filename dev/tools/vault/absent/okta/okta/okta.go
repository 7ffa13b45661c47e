// Package okta has no client of Okta: its second factor is refused.
package okta

import (
	"context"
	"errors"
)

var errAbsent = errors.New("this build has no client of Okta")

type (
	Configuration struct{ Context context.Context }
	Setter        func(*Configuration)
	APIClient     struct {
		UserAPI       users
		UserFactorAPI factors
	}
	users   struct{}
	factors struct{}
)

func NewConfiguration(...Setter) (*Configuration, error) { return nil, errAbsent }

func NewAPIClient(*Configuration) *APIClient { return &APIClient{} }

func WithToken(string) Setter { return nil }

func WithOrgUrl(string) Setter { return nil }

func WithCache(bool) Setter { return nil }

func (*APIClient) GetConfig() *Configuration { return &Configuration{Context: context.Background()} }

type call[T any] struct{}

func (c call[T]) Filter(string) call[T] { return c }

func (call[T]) Execute() (result T, response any, err error) { return result, nil, errAbsent }

type (
	User             struct{}
	UserFactorPush   struct{}
	Factor           struct{ UserFactorPush *UserFactorPush }
	VerifyUserFactor struct{ Links any }
	FactorStatus     struct {
		UserFactorPushTransactionWaiting  *struct{}
		UserFactorPushTransaction         *struct{}
		UserFactorPushTransactionRejected *struct{}
		UserFactorPushTransactionTimeout  *struct{}
	}
)

func (User) GetId() string { return "" }

func (*UserFactorPush) GetId() string { return "" }

func (VerifyUserFactor) GetFactorResult() string { return "" }

func (users) ListUsers(context.Context) (c call[[]User]) { return c }

func (factors) ListFactors(context.Context, string) (c call[[]Factor]) { return c }

func (factors) VerifyFactor(context.Context, string, string) (c call[VerifyUserFactor]) { return c }

func (factors) GetFactorTransactionStatus(context.Context, string, string, string) (c call[FactorStatus]) {
	return c
}
