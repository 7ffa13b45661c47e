package kek

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
)

const awsRegion = "eu-central-1"

// motoServer answers as AWS KMS, IAM and STS do.
type motoServer struct {
	endpoint string
	admin    *kms.Client
}

var moto struct {
	sync.Once
	server *motoServer
}

// startedMoto gives the server, which asks nobody who they are until it is told to.
func startedMoto(t *testing.T) *motoServer {
	t.Helper()
	moto.Do(func() {
		host, port, _ := strings.Cut(freeAddress(t), ":")
		start(t, "moto", nil, filepath.Join(tools, "venv", "bin", "python"), "-m", "moto.server", "-H", host, "-p", port)
		server := &motoServer{endpoint: "http://" + host + ":" + port}
		waitUntil(t, "moto's answer", func() bool {
			response, err := http.Get(server.endpoint + "/moto-api/data.json")
			if err != nil {
				return false
			}
			response.Body.Close()
			return response.StatusCode == http.StatusOK
		})
		server.admin = kms.New(kms.Options{
			Region: awsRegion, BaseEndpoint: &server.endpoint,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "admin", SecretAccessKey: "admin"}, nil
			}),
		})
		moto.server = server
	})
	if moto.server == nil {
		t.Fatal("moto did not start")
	}
	return moto.server
}

// key makes a key and gives its key URI.
func (m *motoServer) key(t *testing.T) string {
	t.Helper()
	made, err := m.admin.CreateKey(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return awsPrefix + *made.KeyMetadata.Arn
}

// use points the environment at the server, with static credentials.
func (m *motoServer) use(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", m.endpoint)
	t.Setenv("AWS_ACCESS_KEY_ID", "anyone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a secret access key")
}

// asksWho has it hold each request to IAM's policies until the test is over.
func (m *motoServer) asksWho(t *testing.T) {
	t.Helper()
	set := func(count string) {
		response, err := http.Post(m.endpoint+"/moto-api/reset-auth", "text/plain", strings.NewReader(count))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	set("0")
	t.Cleanup(func() { set("inf") })
}

// iam is a request to IAM, which has no client here.
func (m *motoServer) iam(t *testing.T, action string, parameters url.Values, answer any) {
	t.Helper()
	parameters.Set("Action", action)
	parameters.Set("Version", "2010-05-08")
	request, err := http.NewRequest(http.MethodPost, m.endpoint, strings.NewReader(parameters.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=admin/20260101/us-east-1/iam/aws4_request")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", action, response.Status)
	}
	if answer != nil {
		if err := xml.NewDecoder(response.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
}

// user makes a user that may do these actions with any key, and gives credentials.
func (m *motoServer) user(t *testing.T, name string, actions ...string) (keyID, secret string) {
	t.Helper()
	m.iam(t, "CreateUser", url.Values{"UserName": {name}}, nil)
	policy, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{
		map[string]any{"Effect": "Allow", "Action": actions, "Resource": "*"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m.iam(t, "PutUserPolicy", url.Values{"UserName": {name}, "PolicyName": {"keys"}, "PolicyDocument": {string(policy)}}, nil)
	var made struct {
		AccessKeyID string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret      string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	m.iam(t, "CreateAccessKey", url.Values{"UserName": {name}}, &made)
	return made.AccessKeyID, made.Secret
}
