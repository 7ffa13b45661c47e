package kek

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/kms/apiv1/kmspb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

const (
	gcpRing   = "projects/shop/locations/europe-west3/keyRings/fieldveil/cryptoKeys/"
	gcpKeyURI = gcpPrefix + gcpRing + "pii"
)

// gcp is the stand-in with its address, and the way to trust its certificate.
type gcp struct {
	*cloudKMS
	trust option.ClientOption
}

// startGCP has the stand-in serve with TLS, and the environment point at it with
// a service account's application default credentials.
func startGCP(t *testing.T) *gcp {
	t.Helper()
	account, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	stand := &cloudKMS{caller: &account.PublicKey, keys: map[string][]byte{}}
	for number, name := range []string{"pii", "other"} {
		stand.keys[gcpRing+name] = bytes.Repeat([]byte{byte(number)}, 32)
	}
	// httptest's certificate is for 127.0.0.1.
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&certified.TLS.Certificates[0])))
	kmspb.RegisterKeyManagementServiceServer(server, stand)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(server.Stop)

	authorities := x509.NewCertPool()
	authorities.AddCert(certified.Certificate())
	trust := option.WithGRPCDialOption(grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(authorities, "")))
	t.Setenv(gcpEndpointVariable, "https://"+listener.Addr().String()+"/")
	useServiceAccount(t, account)
	return &gcp{cloudKMS: stand, trust: trust}
}

func useServiceAccount(t *testing.T, key *rsa.PrivateKey) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "shop", "private_key_id": "1",
		"client_email": "sidecar@shop.iam.gserviceaccount.com", "token_uri": "https://" + freeAddress(t),
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "credentials.json")
	writeFile(t, file, string(text))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

func (g *gcp) opened(t *testing.T, keyURI string) *remoteKey {
	t.Helper()
	key, err := newGCPKey(keyURI, g.trust)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestGCPOpensWhatItWrapped(t *testing.T) {
	gcp := startGCP(t)
	wrapped := wrap(t, gcp.opened(t, gcpKeyURI))
	unwraps(t, gcp.opened(t, gcpKeyURI), wrapped)
	_, err := gcp.opened(t, gcpKeyURI).Decrypt(wrapped, []byte("other"))
	saysNo(t, err, wrongKEK)
	_, err = gcp.opened(t, gcpPrefix+gcpRing+"other").Decrypt(wrapped, []byte{})
	saysNo(t, err, "InvalidArgument", wrongKEK)
	_, err = gcp.opened(t, gcpPrefix+gcpRing+"absent").Encrypt([]byte(keysetText), []byte{})
	saysNo(t, err, "NotFound", "key ring and key are right")
}

func TestGCPVerdicts(t *testing.T) {
	gcp := startGCP(t)
	key := gcp.opened(t, gcpKeyURI)
	key.timeout = shortTimeout
	for code, c := range map[codes.Code]struct {
		holds func(*testing.T, error, ...string)
		words string
	}{
		codes.FailedPrecondition: {saysNo, "enable the key version"},
		codes.PermissionDenied:   {saysNo, "roles/cloudkms.cryptoKeyEncrypterDecrypter"},
		codes.Unauthenticated:    {saysNo, "application default credentials"},
		codes.Unimplemented:      {saysNo, "that of Cloud KMS"},
		codes.Unavailable:        {isAway, "the KMS is away"},
		codes.ResourceExhausted:  {isAway, "the KMS is away"},
		codes.Internal:           {isAway, "the KMS is away"},
	} {
		t.Run(code.String(), func(t *testing.T) {
			gcp.answers(status.Error(code, "of the service"))
			_, err := key.Decrypt([]byte("wrapped"), []byte{})
			c.holds(t, err, c.words)
		})
	}
}

func TestGCPAwayIsNoNo(t *testing.T) {
	gcp := startGCP(t)
	for name, address := range map[string]string{"nothing listens": freeAddress(t), "no answer": silentAddress(t)} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(gcpEndpointVariable, "https://"+address)
			key := gcp.opened(t, gcpKeyURI)
			key.timeout = shortTimeout
			_, err := key.Decrypt([]byte("wrapped"), []byte{})
			isAway(t, err, "the KMS is away")
		})
	}
	t.Run("certificate", func(t *testing.T) {
		key := opened(t, gcpKeyURI)
		key.timeout = shortTimeout
		_, err := key.Decrypt([]byte("wrapped"), []byte{})
		isAway(t, err, "the KMS is away")
	})
}

func TestGCPAnswersThatAreNotGRPCAreAway(t *testing.T) {
	account, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	useServiceAccount(t, account)
	for _, code := range []int{200, 307, 400, 401, 403, 404} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			gateway := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(code)
				w.Write([]byte("<html>of a gateway"))
			}))
			gateway.EnableHTTP2 = true
			gateway.StartTLS()
			defer gateway.Close()
			authorities := x509.NewCertPool()
			authorities.AddCert(gateway.Certificate())
			t.Setenv(gcpEndpointVariable, gateway.URL)
			key, err := newGCPKey(gcpKeyURI, option.WithGRPCDialOption(
				grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(authorities, ""))))
			if err != nil {
				t.Fatal(err)
			}
			key.timeout = shortTimeout
			_, err = key.Decrypt([]byte("wrapped"), []byte{})
			isAway(t, err, "the KMS is away", gatewayOverGRPC)
		})
	}
}

func TestGCPKnowsWhoAsks(t *testing.T) {
	gcp := startGCP(t)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	useServiceAccount(t, stranger)
	_, err = gcp.opened(t, gcpKeyURI).Encrypt([]byte(keysetText), []byte{})
	saysNo(t, err, "Unauthenticated", "application default credentials")
}

func TestGCPWithoutATokenIsSaid(t *testing.T) {
	gcp := startGCP(t)
	folder := t.TempDir()
	identity, file := filepath.Join(folder, "identity"), filepath.Join(folder, "credentials.json")
	writeFile(t, identity, "canary")
	text, err := json.Marshal(map[string]any{
		"type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
		"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": "https://" + freeAddress(t) + "/token",
		"credential_source": map[string]string{"file": identity},
	})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(text))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	key := gcp.opened(t, gcpKeyURI)
	key.timeout = shortTimeout
	_, err = key.Decrypt([]byte("wrapped"), []byte{})
	isAway(t, err, "no Google credentials")
	if strings.Contains(err.Error(), "canary") {
		t.Error("the identity is in the error")
	}
}

func TestGCPSettingsThatCanNotBeUsedAreRefused(t *testing.T) {
	for _, keyURI := range []string{
		gcpPrefix, gcpPrefix + "projects/p/locations/l/keyRings/r", gcpKeyURI + "/cryptoKeyVersions/1", gcpKeyURI + "?x=y",
	} {
		_, err := newClient(keyURI)
		saysNo(t, err, "not of the form")
	}
	for _, endpoint := range []string{"http://127.0.0.1:8085", "cloudkms.example", "https://kms.example/v1"} {
		t.Setenv(gcpEndpointVariable, endpoint)
		_, err := newClient(gcpKeyURI)
		saysNo(t, err, gcpEndpointVariable)
	}
	t.Setenv(gcpEndpointVariable, "")
	file := filepath.Join(t.TempDir(), "credentials.json")
	for _, text := range []string{"canary", `{"type":"service_account","private_key":"canary"}`} {
		writeFile(t, file, text)
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
		client, err := newClient(gcpKeyURI)
		if err == nil {
			_, err = client.(*remoteKey).Decrypt([]byte("wrapped"), []byte{})
		}
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
	}
}
