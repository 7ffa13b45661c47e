package kek

import (
	"context"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/tink-crypto/tink-go-gcpkms/v2/integration/gcpkms"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

const (
	gcpPrefix = "gcp-kms://"
	gcpForm   = gcpPrefix + "projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/NAME"
)

// gcpEndpointVariable is how the gcloud command line is told of another endpoint;
// Google's libraries have no variable for it.
const gcpEndpointVariable = "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS"

var gcpKeyName = regexp.MustCompile(`^projects/[^/?#]+/locations/[^/?#]+/keyRings/[^/?#]+/cryptoKeys/[^/?#]+$`)

var gcpKMS = provider{prefix: gcpPrefix, form: gcpForm, newClient: newGCPClient}

// newGCPClient uses application default credentials.
func newGCPClient(keyURI string) (registry.KMSClient, error) {
	return newGCPKey(keyURI)
}

func newGCPKey(keyURI string, options ...option.ClientOption) (*remoteKey, error) {
	if !gcpKeyName.MatchString(strings.TrimPrefix(keyURI, gcpPrefix)) {
		return nil, malformed(keyURI, gcpForm)
	}
	if custom := os.Getenv(gcpEndpointVariable); custom != "" {
		endpoint, err := url.Parse(custom)
		if err != nil || endpoint.Scheme != "https" || endpoint.Host == "" || strings.Trim(endpoint.Path, "/") != "" {
			return nil, fault.Input(gcpEndpointVariable, "not an https address", "write https://HOST[:PORT]/")
		}
		port := endpoint.Port()
		if port == "" {
			port = "443"
		}
		options = append(options, option.WithEndpoint(net.JoinHostPort(endpoint.Hostname(), port)))
	}
	// The client keeps this context to fetch tokens with, so it has no end; calls have their own.
	aead, err := gcpkms.GetAEADWithContext(context.Background(), keyURI, gcpkms.WithGoogleAPIClientOptions(options...))
	if err != nil {
		return nil, fault.Input("Google's application default credentials", err.Error(),
			"set GOOGLE_APPLICATION_CREDENTIALS, or run where a service account is attached")
	}
	return &remoteKey{keyURI: keyURI, aead: aead, timeout: callTimeout, explain: explainGCP}, nil
}

var gcpRemedies = map[codes.Code]string{
	codes.NotFound:           "see that project, location, key ring and key are right",
	codes.PermissionDenied:   "give the service account roles/cloudkms.cryptoKeyEncrypterDecrypter on the key",
	codes.InvalidArgument:    wrongKEK,
	codes.FailedPrecondition: "enable the key version that wrapped the keyset",
	codes.Unauthenticated:    "see which application default credentials are used here, and that they are valid",
	codes.Unimplemented:      "see that the endpoint is that of Cloud KMS",
}

// gatewayOverGRPC is in what the library makes of an answer that is not gRPC. It
// gives it a code of the KMS's, by the HTTP status.
const gatewayOverGRPC = "unexpected HTTP status code"

func explainGCP(keyURI string, err error) *fault.Fault {
	answer, _ := status.FromError(err)
	// The library's own verdict before the KMS is called: it does not tell a
	// credential that is refused from a token service that is away.
	if answer.Code() == codes.Unauthenticated && strings.Contains(answer.Message(), "per-RPC creds failed") {
		return fault.Failure("key URI "+keyURI, "no Google credentials ("+shortened(answer.Message())+")", gcpRemedies[codes.Unauthenticated])
	}
	if strings.Contains(answer.Message(), gatewayOverGRPC) {
		return away(keyURI, err)
	}
	if remedy, isRefusal := gcpRemedies[answer.Code()]; isRefusal {
		return refused(keyURI, answer.Code().String()+": "+answer.Message(), remedy)
	}
	return away(keyURI, err)
}
