// Package cloudsqlconn has no way to Google's databases.
package cloudsqlconn

type (
	Option     struct{}
	DialOption struct{}
)

func WithIAMAuthN() Option { return Option{} }

func WithCredentialsJSON([]byte) Option { return Option{} }

func WithDefaultDialOptions(...DialOption) Option { return Option{} }

func WithPrivateIP() DialOption { return DialOption{} }

func WithPSC() DialOption { return DialOption{} }
