// Package spiffetest is a Workload API for tests.
package spiffetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// API is a Workload API over a Unix socket, which hands out SVIDs of an
// authority of its own.
type API struct {
	workload.UnimplementedSpiffeWorkloadAPIServer
	testing.TB
	Socket    string
	Authority *x509.Certificate
	DNSNames  []string // of the SVIDs, beside their ids
	key       *ecdsa.PrivateKey

	mutex   sync.Mutex
	answer  *workload.X509SVIDResponse // nil: no identity
	changed chan struct{}
	server  *grpc.Server
}

// New makes one that has no identity yet, and does not answer before Start.
func New(t testing.TB) *API {
	t.Helper()
	folder := testfile.Folder(t)
	w := &API{TB: t, Socket: filepath.Join(folder, "spire.sock"), changed: make(chan struct{})}
	var err error
	if w.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "SPIRE"}, URIs: []*url.URL{{Scheme: "spiffe", Host: "example.org"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	w.Authority = w.sign(template, template, w.key)
	return w
}

func (w *API) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	w.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, w.key)
	if err != nil {
		w.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		w.Fatal(err)
	}
	return certificate
}

// Start has it answer.
func (w *API) Start() {
	w.Helper()
	listener, err := net.Listen("unix", w.Socket)
	if err != nil {
		w.Fatal(err)
	}
	w.server = grpc.NewServer()
	workload.RegisterSpiffeWorkloadAPIServer(w.server, w)
	server := w.server
	go server.Serve(listener)
	w.Cleanup(server.Stop)
}

// Stop has it answer no more.
func (w *API) Stop() { w.server.Stop() }

// Key is that of the first SVID.
func (w *API) Key() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return string(w.answer.Svids[0].X509SvidKey)
}

// Says hands these out from now on, each valid for so long.
func (w *API) Says(lasts time.Duration, ids ...string) {
	w.Helper()
	answer := &workload.X509SVIDResponse{}
	for _, id := range ids {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			w.Fatal(err)
		}
		parsed, err := url.Parse(id)
		if err != nil {
			w.Fatal(err)
		}
		svid := w.sign(&x509.Certificate{
			SerialNumber: big.NewInt(2), URIs: []*url.URL{parsed}, DNSNames: w.DNSNames, KeyUsage: x509.KeyUsageDigitalSignature,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lasts),
		}, w.Authority, key)
		pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			w.Fatal(err)
		}
		answer.Svids = append(answer.Svids, &workload.X509SVID{SpiffeId: id, X509Svid: svid.Raw, X509SvidKey: pkcs8, Bundle: w.Authority.Raw})
	}
	if len(ids) == 0 {
		answer = nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.answer = answer
	close(w.changed)
	w.changed = make(chan struct{})
}

// FetchX509SVID answers as SPIRE's agent does: again at each change, and with an
// error where there is no identity.
func (w *API) FetchX509SVID(_ *workload.X509SVIDRequest, stream grpc.ServerStreamingServer[workload.X509SVIDResponse]) error {
	if header, _ := metadata.FromIncomingContext(stream.Context()); len(header.Get("workload.spiffe.io")) == 0 {
		return status.Error(codes.InvalidArgument, "security header missing from request")
	}
	for {
		w.mutex.Lock()
		answer, changed := w.answer, w.changed
		w.mutex.Unlock()
		if answer == nil {
			return status.Error(codes.PermissionDenied, "no identity issued")
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}
