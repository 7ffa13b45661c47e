module github.com/fieldveil/fieldveil/keys

go 1.25.0

require (
	github.com/spf13/cobra v1.10.2
	github.com/tink-crypto/tink-go/v2 v2.9.0
	golang.org/x/sys v0.46.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/crypto v0.53.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
