package kek

import (
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/tink-crypto/tink-go-awskms/v3/integration/awskms"
	"github.com/tink-crypto/tink-go/v2/core/registry"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

const (
	awsPrefix = "aws-kms://"
	awsForm   = awsPrefix + "arn:aws:kms:REGION:ACCOUNT:key/ID"
)

// stsEndpointVariable names another token service: a web identity is shown there.
const stsEndpointVariable = "AWS_ENDPOINT_URL_STS"

// awsARN is of a key, or of an alias.
var awsARN = regexp.MustCompile(`^arn:aws[a-z-]*:kms:([a-z0-9-]+):[0-9]{12}:(?:key|alias)/[A-Za-z0-9:/_-]+$`)

var awsKMS = provider{prefix: awsPrefix, form: awsForm, newClient: newAWSClient}

// newAWSClient takes credentials and endpoint as every AWS tool does: from the
// environment, the shared files, a web identity, or the machine's role. The
// region is the key's.
func newAWSClient(keyURI string) (registry.KMSClient, error) {
	arn := strings.TrimPrefix(keyURI, awsPrefix)
	region := awsARN.FindStringSubmatch(arn)
	if region == nil {
		return nil, malformed(keyURI, awsForm)
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	settings, err := config.LoadDefaultConfig(ctx, config.WithRegion(region[1]),
		config.WithAPIOptions([]func(*middleware.Stack) error{guardAWS}))
	if err != nil {
		return nil, fault.Input("the AWS settings", err.Error(), "correct the AWS_… environment variables, or the shared files")
	}
	client := kms.NewFromConfig(settings)
	for place, custom := range map[string]string{
		"the AWS endpoint": aws.ToString(client.Options().BaseEndpoint), stsEndpointVariable: os.Getenv(stsEndpointVariable),
	} {
		if custom == "" {
			continue
		}
		if err := checkEndpoint(place, custom); err != nil {
			return nil, err
		}
	}
	aead, err := awskms.NewAEADWithContext(ctx, arn, awskms.WithKMS(client), awskms.WithEncryptionContextName(awskms.AssociatedData))
	if err != nil {
		return nil, malformed(keyURI, awsForm)
	}
	return &remoteKey{keyURI: keyURI, aead: aead, timeout: callTimeout, explain: explainAWS}, nil
}

// awsAway are answers of AWS that say nothing about the key. The list is that of
// the operations Encrypt and Decrypt in the service's reference, and its
// throttling.
var awsAway = map[string]bool{
	"DependencyTimeoutException": true, "KeyUnavailableException": true, "KMSInternalException": true,
	"InternalFailure": true, "ServiceUnavailable": true, "RequestExpired": true,
	"LimitExceededException": true, "ThrottlingException": true, "Throttling": true, "RequestLimitExceeded": true,

	"UnknownError": true, // the SDK's own, of an answer that has no code
}

var awsRemedies = map[string]string{
	"NotFoundException":           "see that the key, its region and its account are right",
	"AccessDeniedException":       "allow kms:Encrypt and kms:Decrypt on the key to the identity that is used here",
	"InvalidCiphertextException":  wrongKEK,
	"IncorrectKeyException":       wrongKEK,
	"DisabledException":           "enable the key",
	"KMSInvalidStateException":    "see the key's state: a key that is to be deleted can be kept by cancelling the deletion",
	"InvalidKeyUsageException":    "use a symmetric key made to encrypt and decrypt",
	"ValidationException":         "use a symmetric key; a keyset of more than 4,096 bytes needs its oldest keys destroyed",
	"UnrecognizedClientException": "see which credentials are used here, and that they are right",
}

func explainAWS(keyURI string, err error) *fault.Fault {
	var misled *fault.Fault
	if errors.As(err, &misled) {
		return misled
	}
	var answer smithy.APIError
	isRefusal := errors.As(err, &answer) && !isAWSAway(answer, err)

	// Before the KMS is called, the SDK fetches credentials: of the machine's role, from the token service.
	if strings.Contains(err.Error(), "get credentials: ") {
		place, remedy := "key URI "+keyURI, "give some as for every AWS tool: environment, web identity, shared files, or the machine's role"
		if isRefusal {
			return fault.Input(place, "no AWS credentials ("+awsReason(answer)+")", remedy)
		}
		return fault.Failure(place, "no AWS credentials ("+shortened(transportReason(err))+")", remedy)
	}
	switch {
	case answer == nil:
		return away(keyURI, err)
	case !isRefusal:
		return awayBecause(keyURI, awsReason(answer))
	}
	remedy, known := awsRemedies[answer.ErrorCode()]
	if !known {
		remedy = "see which credentials are used here, that they are valid, and that the key is right"
	}
	return refused(keyURI, awsReason(answer), remedy)
}

func awsReason(answer smithy.APIError) string {
	return shortened(answer.ErrorCode() + ": " + answer.ErrorMessage())
}

// awsStoreRefuses is in the words of a key store outside AWS that says no: of its
// proxy, or about the ciphertext.
var awsStoreRefuses = regexp.MustCompile(`proxy (rejected|denied)|corrupted`)

// isAWSStoreAway tells a key store outside KMS's own, or its proxy, that gives no
// answer: the code is that of a key that is withdrawn.
func isAWSStoreAway(answer smithy.APIError) bool {
	words := strings.ToLower(answer.ErrorMessage())
	return answer.ErrorCode() == "KMSInvalidStateException" && !awsStoreRefuses.MatchString(words) &&
		(strings.Contains(words, "key store") || strings.Contains(words, "proxy"))
}

// isAWSAway tells the answers that say nothing about key and credentials, a
// gateway's among them.
func isAWSAway(answer smithy.APIError, err error) bool {
	var response *smithyhttp.ResponseError
	return awsAway[answer.ErrorCode()] || answer.ErrorFault() == smithy.FaultServer || isAWSStoreAway(answer) ||
		errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError
}
