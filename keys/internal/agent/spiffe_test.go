package agent

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

const (
	orders = "spiffe://example.org/shop/orders"
	jobs   = "spiffe://example.org/shop/jobs"
)

// workloadAPI is a Workload API over a Unix socket, which hands out SVIDs of an
// authority of its own.
type workloadAPI struct {
	workload.UnimplementedSpiffeWorkloadAPIServer
	*testing.T
	socket    string
	authority *x509.Certificate
	key       *ecdsa.PrivateKey

	mutex   sync.Mutex
	answer  *workload.X509SVIDResponse // nil: no identity
	changed chan struct{}
	server  *grpc.Server
}

func newWorkloadAPI(t *testing.T) *workloadAPI {
	t.Helper()
	folder := testfile.Folder(t)
	w := &workloadAPI{T: t, socket: filepath.Join(folder, "spire.sock"), changed: make(chan struct{})}
	var err error
	if w.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "SPIRE"}, URIs: []*url.URL{{Scheme: "spiffe", Host: "example.org"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	w.authority = w.sign(template, template, w.key)
	return w
}

func (w *workloadAPI) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
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

func (w *workloadAPI) start() {
	w.Helper()
	listener, err := net.Listen("unix", w.socket)
	if err != nil {
		w.Fatal(err)
	}
	w.server = grpc.NewServer()
	workload.RegisterSpiffeWorkloadAPIServer(w.server, w)
	server := w.server
	go server.Serve(listener)
	w.Cleanup(server.Stop)
}

// says hands these out from now on, each valid for so long.
func (w *workloadAPI) says(lasts time.Duration, ids ...string) {
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
			SerialNumber: big.NewInt(2), URIs: []*url.URL{parsed}, KeyUsage: x509.KeyUsageDigitalSignature,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lasts),
		}, w.authority, key)
		pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			w.Fatal(err)
		}
		answer.Svids = append(answer.Svids, &workload.X509SVID{SpiffeId: id, X509Svid: svid.Raw, X509SvidKey: pkcs8, Bundle: w.authority.Raw})
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
func (w *workloadAPI) FetchX509SVID(_ *workload.X509SVIDRequest, stream grpc.ServerStreamingServer[workload.X509SVIDResponse]) error {
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

// said is the id in the agent's answer; "": there is none.
func (got answer) said(t *testing.T) string {
	t.Helper()
	var parsed struct {
		Workload *struct {
			SPIFFEID string `json:"spiffe_id"`
		}
	}
	if err := json.Unmarshal([]byte(got.body), &parsed); err != nil {
		t.Errorf("status %d: %v", got.status, err)
	}
	if parsed.Workload == nil {
		return ""
	}
	return parsed.Workload.SPIFFEID
}

func asking(t *testing.T, api *workloadAPI) *fixture {
	t.Helper()
	f := newFixture(t)
	f.create("pii")
	f.config.SpiffeSocket = "unix://" + api.socket
	return f
}

func TestAnswerSaysWhoRunsHereAsTheWorkloadAPIDoes(t *testing.T) {
	api := newWorkloadAPI(t)
	api.says(time.Hour, orders, jobs)
	api.start()
	a := asking(t, api).start()
	first := a.get("/v1/keysets", "")
	if first.said(t) != orders || len(first.keysets(t).Keysets["pii"]) == 0 {
		t.Errorf("it says %q", first.said(t))
	}
	if metrics := a.get("/metrics", "").body; !strings.Contains(metrics, "spiffe_id_known 1") {
		t.Error("no metric says that it is known")
	}
	api.says(time.Hour, orders)
	if again := a.get("/v1/keysets", first.header.Get("ETag")); again.status != 304 {
		t.Errorf("status %d after the SVID was renewed", again.status)
	}
	api.says(time.Hour, jobs)
	etag := first.header.Get("ETag")
	second := a.until("/v1/keysets", func(got answer) bool { return got.header.Get("ETag") != etag })
	if second.said(t) != jobs {
		t.Errorf("it says %q", second.said(t))
	}
	if key := string(api.answer.Svids[0].X509SvidKey); strings.Contains(second.body, key) || strings.Contains(a.log.String(), key) {
		t.Error("the SVID's key is told")
	}
}

func TestAgentIsNotReadyBeforeItKnowsWhoRunsHere(t *testing.T) {
	api := newWorkloadAPI(t)
	f := asking(t, api)
	a := f.startUnready()
	open := a.until("/v1/keysets", func(got answer) bool { return got.status == 200 })
	if open.said(t) != "" {
		t.Errorf("it says %q", open.said(t))
	}
	unready := a.get("/readyz", "")
	if unready.status != 503 || !strings.Contains(unready.body, "who runs here is not known: --spiffe-socket") {
		t.Errorf("%d: %s", unready.status, unready.body)
	}
	if metrics := a.get("/metrics", "").body; !strings.Contains(metrics, "spiffe_id_known 0") {
		t.Error("no metric says that it is not known")
	}
	api.start()
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "has no identity for this workload") })
	api.says(time.Hour, orders)
	a.until("/readyz", func(got answer) bool { return got.status == 200 })
	if got := a.get("/v1/keysets", ""); got.said(t) != orders {
		t.Errorf("it says %q", got.said(t))
	}
}

func TestIdentityThatIsTakenAwayIsSaidNoMore(t *testing.T) {
	api := newWorkloadAPI(t)
	api.says(time.Hour, orders)
	api.start()
	a := asking(t, api).start()
	api.says(0)
	gone := a.until("/v1/keysets", func(got answer) bool { return got.said(t) == "" })
	if gone.status != 200 || len(gone.keysets(t).Keysets) != 1 {
		t.Errorf("%d: %s", gone.status, gone.body)
	}
}

func TestIdentityIsKeptWhileTheWorkloadAPIIsAwayUntilItsSVIDExpires(t *testing.T) {
	api := newWorkloadAPI(t)
	api.says(time.Hour, orders)
	api.start()
	a := asking(t, api).start()
	api.server.Stop()
	away := a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "the Workload API does not answer") })
	if got := a.get("/v1/keysets", ""); away.status != 200 || got.said(t) != orders {
		t.Errorf("%d, it says %q", away.status, got.said(t))
	}

	clock := time.Now()
	i := newIdentity()
	i.now = func() time.Time { return clock }
	i.set(orders, clock.Add(time.Minute), nil)
	if id, problem := i.current(); id != orders || problem != nil {
		t.Errorf("%q, %v", id, problem)
	}
	clock = clock.Add(time.Minute)
	if id, problem := i.current(); id != "" || problem == nil {
		t.Errorf("%q, %v", id, problem)
	}
}

func TestAgentThatIsNotToldOfAWorkloadAPISaysNothingOfIt(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	a := f.start()
	if got := a.get("/v1/keysets", ""); strings.Contains(got.body, "workload") {
		t.Error("a workload is said")
	}
	if metrics := a.get("/metrics", "").body; strings.Contains(metrics, "spiffe") {
		t.Error("a metric of what nobody asks")
	}
}

func TestWorkloadAPIOfNoUnixSocketIsRefused(t *testing.T) {
	for _, address := range []string{"/run/spire.sock", "tcp://127.0.0.1:8081", "unix://", "unix:relative", "spire"} {
		config := Defaults()
		config.SpiffeSocket = address
		if err := config.Check(); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", address, err)
		}
	}
	config := Defaults()
	config.SpiffeSocket = "unix:///run/spire/sockets/agent.sock"
	if err := config.Check(); err != nil {
		t.Error(err)
	}
}

func TestWatchOfTheWorkloadAPIEndsWithItsContext(t *testing.T) {
	api := newWorkloadAPI(t)
	api.says(time.Hour, orders)
	api.start()
	ctx, cancel := context.WithCancel(t.Context())
	known, ended := make(chan string, 1), make(chan struct{})
	i := newIdentity()
	i.changed = func(id string) { known <- id }
	go func() {
		defer close(ended)
		i.watch(ctx, "unix://"+api.socket, nil)
	}()
	if id := <-known; id != orders {
		t.Errorf("it says %q", id)
	}
	cancel()
	<-ended
}
