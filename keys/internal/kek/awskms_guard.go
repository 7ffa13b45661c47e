package kek

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// awsGuarded are the services that keysets and credentials are sent to. Those
// that a machine or a container has of its own speak no TLS.
var awsGuarded = map[string]bool{kms.ServiceID: true, sts.ServiceID: true, "SSO": true, "SSO OIDC": true, "Signin": true}

var errNoAWSCredentials = errors.New("the token service's answer holds no credentials")

// guardAWS looks at the address of each request, as environment and shared files
// have many names for one. And it has an answer without credentials be an error:
// the SDK takes them to be there, and would end the process.
func guardAWS(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("guardAWS", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
		request, isHTTP := in.Request.(*smithyhttp.Request)
		if service := middleware.GetServiceID(ctx); isHTTP && awsGuarded[service] {
			if err := checkEndpoint("the AWS endpoint of "+service, request.URL.Scheme+"://"+request.URL.Host); err != nil {
				return out, metadata, err
			}
		}
		out, metadata, err = next.HandleDeserialize(ctx, in)
		if err == nil && !hasAWSCredentials(out.Result) {
			err = errNoAWSCredentials
		}
		return out, metadata, err
	}), middleware.Before)
}

// hasAWSCredentials is true of answers that need hold none.
func hasAWSCredentials(result any) bool {
	var given *types.Credentials
	switch answer := result.(type) {
	case *sts.AssumeRoleWithWebIdentityOutput:
		given = answer.Credentials
	case *sts.AssumeRoleOutput:
		given = answer.Credentials
	default:
		return true
	}
	return given != nil && given.AccessKeyId != nil && given.SecretAccessKey != nil &&
		given.SessionToken != nil && given.Expiration != nil
}
