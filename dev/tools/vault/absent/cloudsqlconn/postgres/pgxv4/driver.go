// Package pgxv4 has no way to Google's databases.
package pgxv4

import (
	"errors"

	"cloud.google.com/go/cloudsqlconn"
)

func RegisterDriver(string, ...cloudsqlconn.Option) (func() error, error) {
	return nil, errors.New("this build has no way to Google's databases")
}
