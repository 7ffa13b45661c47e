package kek

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"
)

const someAWSKey = awsPrefix + "arn:aws:kms:eu-central-1:123456789012:key/0c0ffee0-0000-4000-8000-000000000000"

func TestAWSOpensWhatItWrapped(t *testing.T) {
	moto := startedMoto(t)
	moto.use(t)
	keyURI := moto.key(t)
	wrapped := wrap(t, opened(t, keyURI))
	unwraps(t, opened(t, keyURI), wrapped)
	_, err := opened(t, keyURI).Decrypt(wrapped, []byte("other"))
	saysNo(t, err, "InvalidCiphertextException", wrongKEK)
}

func TestAWSAliasIsAKey(t *testing.T) {
	moto := startedMoto(t)
	moto.use(t)
	arn := strings.TrimPrefix(moto.key(t), awsPrefix)
	alias := "alias/fieldveil"
	if _, err := moto.admin.CreateAlias(t.Context(), &kms.CreateAliasInput{AliasName: &alias, TargetKeyId: &arn}); err != nil {
		t.Fatal(err)
	}
	key := opened(t, awsPrefix+arn[:strings.LastIndex(arn, ":")+1]+alias)
	unwraps(t, key, wrap(t, key))
}

func TestAWSSaysNoToAnotherKeysCiphertext(t *testing.T) {
	moto := startedMoto(t)
	moto.use(t)
	wrapped := wrap(t, opened(t, moto.key(t)))
	_, err := opened(t, moto.key(t)).Decrypt(wrapped, []byte{})
	saysNo(t, err, "the KMS refuses")
	_, err = opened(t, moto.key(t)).Decrypt([]byte("no ciphertext"), []byte{})
	saysNo(t, err, "InvalidCiphertextException", wrongKEK)
	_, err = opened(t, someAWSKey).Encrypt([]byte(keysetText), []byte{})
	saysNo(t, err, "NotFoundException", "its region and its account are right")
	_, err = opened(t, moto.key(t)).Encrypt([]byte(strings.Repeat(keysetText, 300)), []byte{})
	saysNo(t, err, "ValidationException", "4,096 bytes")
}

func TestAWSNeedsNoMorePermissionsThanTwo(t *testing.T) {
	moto := startedMoto(t)
	moto.use(t)
	keyURI := moto.key(t)
	permitted, permittedSecret := moto.user(t, "sidecar", "kms:Encrypt", "kms:Decrypt")
	denied, deniedSecret := moto.user(t, "stranger", "kms:ListKeys")
	moto.asksWho(t)

	t.Setenv("AWS_ACCESS_KEY_ID", permitted)
	t.Setenv("AWS_SECRET_ACCESS_KEY", permittedSecret)
	key := opened(t, keyURI)
	wrapped := wrap(t, key)
	unwraps(t, key, wrapped)

	t.Setenv("AWS_ACCESS_KEY_ID", denied)
	t.Setenv("AWS_SECRET_ACCESS_KEY", deniedSecret)
	_, err := opened(t, keyURI).Decrypt(wrapped, []byte{})
	holds(t, err, "403") // moto's own form, which is not AWS's
	if strings.Contains(err.Error(), deniedSecret) {
		t.Error("the secret access key is in the error")
	}
}

func TestAWSTakesAWebIdentity(t *testing.T) {
	moto := startedMoto(t)
	moto.use(t)
	keyURI := moto.key(t)
	wrapped := wrap(t, opened(t, keyURI))
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	file := filepath.Join(t.TempDir(), "token")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", file)
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/fieldveil")
	t.Setenv(stsEndpointVariable, moto.endpoint)
	key := opened(t, keyURI)
	_, err := key.Decrypt(wrapped, []byte{})
	isAway(t, err, "no AWS credentials", "no such file")
	writeFile(t, file, newIssuer(t).token(t, "shop", "orders"))
	unwraps(t, key, wrapped)
	t.Setenv(stsEndpointVariable, "http://"+freeAddress(t))
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	_, err = opened(t, keyURI).Decrypt(wrapped, []byte{})
	isAway(t, err, "no AWS credentials", "connection refused")
}

// A gateway's answer in place of the token service's; the SDK takes what it
// deserializes to hold credentials.
func TestAWSTokenServiceWithoutCredentialsIsAway(t *testing.T) {
	const whole = `<AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>`
	for name, credentials := range map[string]string{
		"none": "", "no parts": "<Credentials/>", "no end": "<Credentials>" + whole + "</Credentials>",
		"no key": "<Credentials><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>",
	} {
		for _, action := range []string{"AssumeRoleWithWebIdentity", "AssumeRole"} {
			t.Run(name+" "+action, func(t *testing.T) {
				var asked atomic.Bool
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Store(r.PostFormValue("Action") == action)
					fmt.Fprintf(w, "<%sResponse><%sResult>%s</%sResult></%sResponse>", action, action, credentials, action, action)
				}))
				defer server.Close()
				useRole(t, action == "AssumeRoleWithWebIdentity", server.URL)
				_, err := opened(t, someAWSKey).Decrypt([]byte("wrapped"), []byte{})
				isAway(t, err, "no AWS credentials", "answer holds no credentials")
				if !asked.Load() {
					t.Error("the token service was not asked")
				}
			})
		}
	}
}

func TestAWSTokenServiceIsReachedInClearOnlyOnThisMachine(t *testing.T) {
	for _, isWebIdentity := range []bool{true, false} {
		useRole(t, isWebIdentity, "http://sts.invalid")
		_, err := opened(t, someAWSKey).Decrypt([]byte("wrapped"), []byte{})
		saysNo(t, err, "sts.invalid in clear text", AllowHTTPVariable)
	}
}

// useRole has the environment name a role, and a shared file that names the
// endpoint of the token service.
func useRole(t *testing.T, isWebIdentity bool, endpoint string) {
	t.Helper()
	folder := t.TempDir()
	identity, file := filepath.Join(folder, "token"), filepath.Join(folder, "config")
	writeFile(t, identity, "a web identity")
	source := "source_profile = user"
	if isWebIdentity {
		source = "web_identity_token_file = " + identity
	}
	writeFile(t, file, "[profile role]\nservices = near\nrole_arn = arn:aws:iam::123456789012:role/fieldveil\n"+source+
		"\n[profile user]\naws_access_key_id = anyone\naws_secret_access_key = a secret access key"+
		"\n[services near]\nsts =\n  endpoint_url = "+endpoint+"\n")
	t.Setenv("AWS_ENDPOINT_URL_KMS", "http://"+freeAddress(t))
	t.Setenv("AWS_CONFIG_FILE", file)
	t.Setenv("AWS_PROFILE", "role")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
}

func TestAWSWithoutCredentialsIsSaid(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "http://"+freeAddress(t))
	_, err := opened(t, someAWSKey).Decrypt([]byte("wrapped"), []byte{})
	isAway(t, err, "no AWS credentials", "web identity")
}

// The answers are of the shapes that the service's reference gives; moto gives
// none of them.
func TestAWSVerdicts(t *testing.T) {
	says := func(code, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.1")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"__type":%q,"message":%q}`, code, message)
		}
	}
	refused := func(code string) http.HandlerFunc { return says(code, "of the service") }
	storeSays := func(message string) http.HandlerFunc { return says("KMSInvalidStateException", message) }
	trouble := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, status) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		holds  func(*testing.T, error, ...string)
		words  string
	}{
		"another key":      {refused("IncorrectKeyException"), saysNo, wrongKEK},
		"disabled":         {refused("DisabledException"), saysNo, "enable the key"},
		"to be deleted":    {refused("KMSInvalidStateException"), saysNo, "cancelling the deletion"},
		"may not":          {refused("AccessDeniedException"), saysNo, "allow kms:Encrypt and kms:Decrypt"},
		"unknown":          {refused("UnrecognizedClientException"), saysNo, "which credentials"},
		"asymmetric":       {refused("InvalidKeyUsageException"), saysNo, "a symmetric key"},
		"expired":          {refused("ExpiredTokenException"), saysNo, "which credentials"},
		"throttled":        {refused("ThrottlingException"), isAway, "ThrottlingException"},
		"key unavailable":  {refused("KeyUnavailableException"), isAway, "KeyUnavailableException"},
		"internal":         {trouble(500, `{"__type":"KMSInternalException"}`), isAway, "KMSInternalException"},
		"gateway":          {trouble(502, "<html>Bad Gateway"), isAway, "the KMS is away"},
		"gateway's no":     {trouble(403, `{"message":"forbidden"}`), isAway, "UnknownError"},
		"gateway's page":   {trouble(403, "<html>Forbidden"), isAway, "the KMS is away"},
		"redirect":         {trouble(307, ""), isAway, "the KMS is away"},
		"store away":       {storeSays("The external key store proxy did not respond in time."), isAway, "did not respond"},
		"store in trouble": {storeSays("AWS KMS cannot communicate with the external key store proxy."), isAway, "cannot communicate"},
		"store's proxy no": {storeSays("The external key store proxy rejected the request because the external key is not enabled."), saysNo, "rejected"},
		"store denies":     {storeSays("The external key store proxy denied access to the operation."), saysNo, "denied"},
		"empty":            {trouble(200, ""), isAway, "its answer is empty"},
		"empty, in JSON":   {trouble(200, "{}"), isAway, "its answer is empty"},
		"no plaintext":     {trouble(200, `{"KeyId":"`+someAWSKey+`"}`), isAway, "its answer is empty"},
		"gateway, in JSON": {trouble(503, `{"message":"no healthy upstream"}`), isAway, "the KMS is away"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			(&motoServer{endpoint: server.URL}).use(t)
			t.Setenv("AWS_MAX_ATTEMPTS", "1")
			_, err := opened(t, someAWSKey).Decrypt([]byte("wrapped"), []byte{})
			c.holds(t, err, c.words)
		})
	}
}

func TestAWSAwayIsNoNo(t *testing.T) {
	(&motoServer{endpoint: "http://" + freeAddress(t)}).use(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	_, err := opened(t, someAWSKey).Decrypt([]byte("wrapped"), []byte{})
	isAway(t, err, "connection refused")

	t.Setenv("AWS_ENDPOINT_URL", "http://"+silentAddress(t))
	key := opened(t, someAWSKey)
	key.timeout = shortTimeout
	_, err = key.Decrypt([]byte("wrapped"), []byte{})
	isAway(t, err, "no answer in time")
}

func TestAWSIsReachedInClearOnlyOnThisMachine(t *testing.T) {
	for _, variable := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_KMS", stsEndpointVariable} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "http://kms.example")
			_, err := newClient(someAWSKey)
			saysNo(t, err, "in clear text", AllowHTTPVariable)
			t.Setenv(AllowHTTPVariable, "true")
			opened(t, someAWSKey)
		})
	}
}

func TestAWSSettingsThatCanNotBeUsedAreRefused(t *testing.T) {
	for _, keyURI := range []string{
		awsPrefix, awsPrefix + "arn:aws:kms:eu-central-1:123:key/x", awsPrefix + "arn:aws:s3:::bucket",
		awsPrefix + "arn:aws:kms:eu-central-1:123456789012:key/x?y=z",
	} {
		_, err := newClient(keyURI)
		saysNo(t, err, "not of the form")
	}
	t.Setenv("AWS_PROFILE", "absent")
	_, err := newClient(someAWSKey)
	saysNo(t, err, "the AWS settings", "absent")
}
