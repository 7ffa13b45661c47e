package bridge

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/bridgetest"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/downstream"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/spiffe/spiffetest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func itoa(number uint16) string { return strconv.Itoa(int(number)) }

// opens says whether a client's session begins: in TLS 1.3 the handshake ends before the certificate was judged.
func (f *clientsFixture) opens(config *tls.Config) bool {
	f.t.Helper()
	client, err := f.request(config)
	if err != nil {
		return false
	}
	if _, err := client.Write([]byte(startup())); err != nil {
		return false
	}
	first := make([]byte, 1)
	_, err = client.Read(first)
	return err == nil && first[0] == 'R'
}

func TestClientsCertificateIsVerifiedWhereItIsAskedFor(t *testing.T) {
	stranger := bridgetest.NewAuthority(t)
	known := bridgetest.NewAuthority(t)
	for _, mode := range []downstream.Certificates{downstream.Required, downstream.Optional} {
		f := newClientsFixture(t)
		f.config.Certificates = mode
		f.config.Files.CA = filepath.Join(testfile.Folder(t), "client-ca.pem")
		testfile.Write(t, f.config.Files.CA, known.PEM)
		f.envoy(serving)
		f.startPostgres()
		if !f.opens(f.trusting(known)) {
			t.Errorf("%s: a certificate of the authority is refused:\n%s", mode, f.log.String())
		}
		if f.opens(f.trusting(stranger)) {
			t.Errorf("%s: a certificate of another authority", mode)
		}
		f.logged("unknown authority")
		if f.opens(f.trusting(nil)) != (mode == downstream.Optional) {
			t.Errorf("%s: without a certificate", mode)
		}
		expired := f.trusting(nil)
		expired.Certificates = known.ServerUntil("app", time.Now().Add(-time.Minute)).Certificates
		if f.opens(expired) {
			t.Errorf("%s: an expired certificate", mode)
		}
		f.logged("expired")
		if mode == downstream.Required && !strings.Contains(f.log.String(), "it shows no certificate; show one") {
			t.Error(f.log.String())
		}
		f.logged(`"reason":"client_certificate"`)
	}
}

func TestEnvoyIsToldWhomTheCertificateNames(t *testing.T) {
	f := newClientsFixture(t)
	f.config.Certificates = downstream.Optional
	f.config.Files.CA = filepath.Join(testfile.Folder(t), "client-ca.pem")
	testfile.Write(t, f.config.Files.CA, f.authority.PEM)
	f.envoy(serving)
	f.startPostgres()
	if !f.opens(f.trusting(f.authority)) {
		t.Fatal("a certificate of the authority is refused")
	}
	if header := <-f.headers; !strings.HasSuffix(header, `{"subject":"CN=app","dns":["app"],"uri":[],"email":[]}`) {
		t.Errorf("%q", header)
	}
	if !f.opens(f.trusting(nil)) {
		t.Fatal("a client without a certificate is refused")
	}
	if header := <-f.headers; strings.Contains(header, "subject") {
		t.Errorf("%q", header)
	}
	many := f.trusting(nil)
	many.Certificates = f.authority.Server(strings.Repeat("a", 9<<10)).Certificates
	if f.opens(many) {
		t.Error("a certificate with names that are too long")
	}
	f.logged("its names take more than 8192 bytes; show one with fewer names")
}

// startBySPIRE starts a bridge with a certificate of the Workload API's, and gives what a client trusts.
func startBySPIRE(t *testing.T) (*clientsFixture, *spiffetest.API, *tls.Config) {
	t.Helper()
	api := spiffetest.New(t)
	api.DNSNames = []string{serverName}
	api.Says(time.Hour, "spiffe://example.org/shop/orders")
	api.Start()
	f := newClientsFixture(t)
	f.config.Files.Certificate, f.config.Files.Key, f.config.SPIFFESocket = "", "", "unix://"+api.Socket
	f.envoy(serving)
	f.startPostgres()
	trusting := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: serverName}
	trusting.RootCAs.AddCert(api.Authority)
	return f, api, trusting
}

func TestCertificateOfTheWorkloadAPIIsThereUntilTheLastConnectionHasEnded(t *testing.T) {
	f, _, trusting := startBySPIRE(t)
	client := f.connect()
	// The bridge has accepted it.
	write(t, client, gssRequest)
	if got := read(t, client, 1); string(got) != "N" {
		t.Fatalf("%q", got)
	}
	f.stop()
	f.logged("draining")
	write(t, client, sslRequest)
	read(t, client, 1)
	secure := tls.Client(client, trusting)
	wantAdmitted(t, secure)
	secure.Close()
}

func TestCertificateIsTheWorkloadAPIsAndRenewedByIt(t *testing.T) {
	f, api, trusting := startBySPIRE(t)
	first, err := f.request(trusting)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.log.String())
	}
	shown := first.ConnectionState().PeerCertificates[0]
	if id := shown.URIs[0].String(); id != "spiffe://example.org/shop/orders" {
		t.Error(id)
	}
	api.Says(time.Hour, "spiffe://example.org/shop/orders")
	for end := time.Now().Add(patience); ; {
		renewed, err := f.request(trusting)
		if err != nil {
			t.Fatal(err)
		}
		if !renewed.ConnectionState().PeerCertificates[0].Equal(shown) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the renewed certificate is not shown")
		}
	}
	if strings.Contains(f.log.String(), api.Key()) {
		t.Error("the log holds the key")
	}
}

func TestRenewedCertificateCountsFromTheNextConnectionOn(t *testing.T) {
	f := newClientsFixture(t)
	f.certify("other.shop.test")
	f.envoy(serving)
	f.startPostgres()
	if f.opens(f.trusting(nil)) {
		t.Fatal("a certificate for another name")
	}
	f.logged("it ended TLS (")
	f.certify(serverName)
	if !f.opens(f.trusting(nil)) {
		t.Errorf("the renewed certificate is not shown:\n%s", f.log.String())
	}
	// Half of a renewal: the former pair stays.
	certificate, _ := f.authority.Issue(serverName, time.Now().Add(time.Hour))
	testfile.Write(t, f.config.Files.Certificate, certificate)
	if !f.opens(f.trusting(nil)) || !strings.Contains(f.log.String(), "the former content stays in use") {
		t.Errorf("half of a renewal:\n%s", f.log.String())
	}
}

func TestHalfWrittenFileOfAuthoritiesLeavesTheFormerInUse(t *testing.T) {
	known := bridgetest.NewAuthority(t)
	f := newClientsFixture(t)
	f.config.Files.CA = filepath.Join(testfile.Folder(t), "client-ca.pem")
	testfile.Write(t, f.config.Files.CA, known.PEM)
	f.envoy(serving)
	f.startPostgres()
	other := bridgetest.NewAuthority(t)
	both := append(slices.Clone(other.PEM), known.PEM...)
	for _, half := range [][]byte{both[:len(both)-100], append(slices.Clone(both[:200]), known.PEM...)} {
		testfile.Write(t, f.config.Files.CA, half)
		if !f.opens(f.trusting(known)) || f.opens(f.trusting(other)) {
			t.Error("it is not the former authority that is trusted")
		}
		f.logged("is not whole")
		testfile.Write(t, f.config.Files.CA, both)
		if !f.opens(f.trusting(other)) {
			t.Error("the whole file is not trusted")
		}
		testfile.Write(t, f.config.Files.CA, known.PEM)
		f.opens(f.trusting(known))
	}
	if refused := strings.Count(f.log.String(), "is not whole"); refused != 2 {
		t.Errorf("%d half-written files were refused", refused)
	}
}

func TestOlderTLSOfAClientIsRefused(t *testing.T) {
	f := newClientsFixture(t)
	f.startPostgres()
	config := f.trusting(nil)
	config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := f.request(config); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Error(err)
	}
	f.logged(`"reason":"handshake_failed"`)
}

func TestClientPastTheLimitIsToldAndDrainEndsTheRest(t *testing.T) {
	f := newClientsFixture(t)
	f.config.MaxConnections, f.config.DrainTimeout = 1, 200*time.Millisecond
	f.envoy(serving)
	f.startPostgres()
	first := f.secure()
	write(t, first, startup())
	read(t, first, len(admitted))
	second := f.connect()
	write(t, second, sslRequest)
	wantFatal(t, readAll(second), "53300", "--max-connections")
	f.stop()
	select {
	case err := <-f.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience / 2):
		t.Error("it does not end")
	}
}

func TestMetricsTellOfClientsWithinTLSAndWithout(t *testing.T) {
	f := newClientsFixture(t)
	f.config.AllowPlain, f.config.MetricsAddress = true, freeAddress(t)
	f.envoy(serving)
	f.startPostgres()
	if !f.opens(f.trusting(nil)) {
		t.Fatal(f.log.String())
	}
	plain := f.connect()
	write(t, plain, startup())
	read(t, plain, len(admitted))
	f.measured(f.config.MetricsAddress, "fieldveil_bridge_handshakes_total 1\n", "fieldveil_bridge_plain_connections_total 1\n",
		"fieldveil_bridge_connections 2\n", "fieldveil_bridge_certificate_expiry_timestamp_seconds 1.", `failures_total{reason="plain_client"} 0`)
}

func TestClientsSettingsThatCanNotWorkAreBadInput(t *testing.T) {
	for reason, change := range map[string]func(*ClientsConfig){
		"--listen: not given":              func(c *ClientsConfig) { c.Listen = "" },
		"nobody knows which user":          func(c *ClientsConfig) { c.AllowUIDs = []uint32{1} },
		"--envoy: not given":               func(c *ClientsConfig) { c.Envoy = "" },
		"what goes there is not encrypted": func(c *ClientsConfig) { c.Envoy = "10.0.0.1:5432" },
		"--certificate and --key":          func(c *ClientsConfig) { c.Files.Key = "" },
		"no such mode":                     func(c *ClientsConfig) { c.Certificates = "some" },
		"out of range":                     func(c *ClientsConfig) { c.ConnectTimeout = 0 },
		"it holds no certificate":          func(c *ClientsConfig) { c.Files.CA = c.Files.Key },
		"of clients at a Unix socket":      func(c *ClientsConfig) { c.Files.CA, c.Listen = c.Files.Certificate, "/run/bridge.sock" },
		"or without the PROXY protocol":    func(c *ClientsConfig) { c.Files.CA, c.ProxyProtocol = c.Files.Certificate, false },
		"files have the certificate":       func(c *ClientsConfig) { c.SPIFFESocket = "unix:///run/spire.sock" },
		"not the address of a Unix socket": func(c *ClientsConfig) {
			c.Files.Certificate, c.Files.Key, c.SPIFFESocket = "", "", "tcp://192.0.2.1:1"
		},
	} {
		f := newClientsFixture(t)
		change(&f.config)
		err := RunFromClients(t.Context(), f.config, postgres.Clients{}, nil, discard())
		if fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
