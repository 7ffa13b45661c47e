package bridge

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/bridgetest"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestVerifyCAComparesNoNameAndStillVerifiesTheAuthority(t *testing.T) {
	for name, authority := range map[string]*bridgetest.Authority{"known": nil, "unknown": bridgetest.NewAuthority(t)} {
		f := newFixture(t)
		f.config.Verification = upstream.VerifyCA
		if authority == nil {
			authority = f.authority
		}
		f.serve(granting(authority.Server("other.shop.test"), echo))
		f.startPostgres()
		client := f.connect()
		write(t, client, startup())
		if name == "unknown" {
			wantFatal(t, readAll(client), "08001", "none of the trusted authorities")
		} else if got := read(t, client, 1); string(got) != "R" {
			t.Errorf("%q", got)
		}
	}
}

func TestRenewedFilesCountFromTheNextConnectionOnAndBrokenOnesDoNot(t *testing.T) {
	f := newFixture(t)
	stranger := bridgetest.NewAuthority(t)
	folder := filepath.Dir(f.config.Listen)
	f.config.Files.Certificate, f.config.Files.Key = filepath.Join(folder, "client.pem"), filepath.Join(folder, "client.key")
	show := func(a *bridgetest.Authority) {
		certificate, key := a.Issue("sidecar", time.Now().Add(time.Hour))
		testfile.Write(t, f.config.Files.Certificate, certificate)
		testfile.Write(t, f.config.Files.Key, key)
	}
	show(stranger)
	config := f.authority.Server(serverName)
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, f.authority.Pool()
	f.serve(granting(config, echo))
	f.startPostgres()
	works := func() bool {
		client := f.connect()
		write(t, client, startup())
		return string(read(t, client, 1)) == "R"
	}
	if works() {
		t.Error("a certificate of an unknown authority")
	}
	show(f.authority)
	if !works() {
		t.Errorf("the renewed certificate is not shown:\n%s", f.log.String())
	}
	// Half of a renewal: the former pair stays.
	certificate, _ := f.authority.Issue("sidecar", time.Now().Add(time.Hour))
	testfile.Write(t, f.config.Files.Certificate, certificate)
	if !works() || !strings.Contains(f.log.String(), "the former content stays in use") {
		t.Errorf("half of a renewal:\n%s", f.log.String())
	}
	// An authority that is trusted no more.
	testfile.Write(t, f.config.Files.CA, stranger.PEM)
	show(f.authority)
	if works() {
		t.Error("the former authority is still trusted")
	}
}

func TestDrainLetsConnectionsEndAndClosesThoseThatDoNotInTime(t *testing.T) {
	for _, ends := range []bool{true, false} {
		f := newFixture(t)
		f.config.DrainTimeout = patience
		if !ends {
			f.config.DrainTimeout = 200 * time.Millisecond
		}
		f.serve(granting(f.authority.Server(serverName), echo))
		f.startPostgres()
		client := f.connect()
		write(t, client, startup())
		read(t, client, 1)
		f.stop()
		f.logged(`"draining","connections":1`)
		if _, err := net.Dial("unix", f.config.Listen); err == nil {
			t.Error("it still accepts")
		}
		if ends {
			write(t, client, "x")
			if got := read(t, client, 1); string(got) != "x" {
				t.Errorf("while it drains: %q", got)
			}
			client.Close()
		}
		select {
		case err := <-f.ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience / 2):
			t.Error("it does not end")
		}
		if got := readAll(client); got != "" {
			t.Errorf("%q", got)
		}
	}
}

func TestServerThatDoesNotReadHoldsTheClientUp(t *testing.T) {
	f := newFixture(t)
	f.serve(granting(f.authority.Server(serverName), func(secure *tls.Conn) {
		read(t, secure, len(startup()))
		write(t, secure, "R")
		<-t.Context().Done()
	}))
	f.startPostgres()
	client := f.connect()
	write(t, client, startup())
	read(t, client, 1)
	_ = client.SetWriteDeadline(time.Now().Add(time.Second))
	// More than the kernel's buffers hold on their own.
	if n, err := client.Write(make([]byte, 64<<20)); err == nil {
		t.Errorf("%d bytes were taken that nobody reads", n)
	}
}

func TestBytesOfAnyNumberPassWithoutWaitingForMore(t *testing.T) {
	f := newFixture(t)
	f.serve(granting(f.authority.Server(serverName), echo))
	f.startPostgres()
	client := f.connect()
	write(t, client, startup())
	read(t, client, 1)
	// About a direction's buffers and the records of TLS.
	for _, edge := range []int{2, 512, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 65 << 10, 1 << 20} {
		for _, count := range []int{edge - 1, edge, edge + 1, edge + 512} {
			sent := strings.Repeat("0123456789abcde", count/15+1)[:count]
			go func() { _, _ = client.Write([]byte(sent)) }()
			if got := read(t, client, count); string(got) != sent {
				t.Errorf("%d bytes came back as others", count)
			}
		}
	}
}

func TestConnectionThatWaitsHoldsNoBufferWhateverCameLast(t *testing.T) {
	const sessions = 30
	for _, size := range []int{511, 512, 513, 1024} {
		f := newFixture(t)
		f.serve(granting(f.authority.Server(serverName), echo))
		f.startPostgres()
		var clients []net.Conn
		for range sessions {
			client := f.connect()
			write(t, client, startup())
			read(t, client, 1)
			clients = append(clients, client)
		}
		before := heap()
		for _, client := range clients {
			write(t, client, strings.Repeat("x", size))
			read(t, client, size)
		}
		// Buffers that were given back go with the second collection.
		if grown := (heap() - before) / sessions; grown > 32<<10 {
			t.Errorf("after %d bytes each connection holds %d more", size, grown)
		}
	}
}

func heap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestProcessThatServesIsHardened(t *testing.T) {
	newFixture(t).startPostgres()
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable %d, %v", dumpable, err)
	}
}

func TestSocketIsForItsOwnerAlone(t *testing.T) {
	f := newFixture(t)
	f.startPostgres()
	info, err := os.Lstat(f.config.Listen)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// freeAddress is one of the loopback that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// measured waits for lines of the metrics at an address.
func (f *fixture) measured(address string, lines ...string) {
	f.t.Helper()
	for _, line := range lines {
		f.until(line, func() bool {
			response, err := http.Get("http://" + address + "/metrics")
			if err != nil {
				f.t.Fatal(err)
			}
			defer response.Body.Close()
			return strings.Contains(readAll(response.Body), line)
		})
	}
}

func TestMetricsCountHandshakesAndFailures(t *testing.T) {
	f := newFixture(t)
	f.config.MetricsAddress = freeAddress(t)
	f.serve(granting(f.authority.Server(serverName), echo))
	f.startPostgres()
	client := f.connect()
	write(t, client, startup())
	read(t, client, 1)
	bad := f.connect()
	write(t, bad, "\x16\x03\x01\x02\x00\x01\x00\x01")
	readAll(bad)
	f.measured(f.config.MetricsAddress, "fieldveil_bridge_handshakes_total 1\n", `fieldveil_bridge_failures_total{reason="bad_client"} 1`,
		`{reason="no_tls"} 0`, "fieldveil_bridge_credential_files_refused 0\n", "fieldveil_bridge_server_certificate_expiry_timestamp_seconds 1.")
}

func TestSettingsThatCanNotWorkAreBadInput(t *testing.T) {
	for reason, change := range map[string]func(*Config){
		"--listen: not given":                    func(c *Config) { c.Listen = "" },
		"neither an absolute path":               func(c *Config) { c.Listen = "0.0.0.0:5432" },
		"nobody knows which user":                func(c *Config) { c.Listen, c.AllowUIDs = "127.0.0.1:0", []uint32{1} },
		"--server: not given":                    func(c *Config) { c.Server = "" },
		"not HOST:PORT":                          func(c *Config) { c.Server = "db.example.com" },
		"no such mode":                           func(c *Config) { c.Verification = "require" },
		"one without the other":                  func(c *Config) { c.Files.Key = "key.pem" },
		"--connect-timeout 0s: out of range":     func(c *Config) { c.ConnectTimeout = 0 },
		"--max-connections 0: out of range":      func(c *Config) { c.MaxConnections = 0 },
		"it holds no certificate":                func(c *Config) { testfile.Write(t, c.Files.CA, "nothing") },
		"empty.pem: it holds no certificate":     func(c *Config) { c.Files.CA += "empty.pem"; testfile.Write(t, c.Files.CA, "") },
		"it can not be listened on":              func(c *Config) { c.MetricsAddress = "nowhere" },
		"they are no certificate with its key (": func(c *Config) { c.Files.Certificate, c.Files.Key = c.Files.CA, c.Files.CA },
	} {
		f := newFixture(t)
		change(&f.config)
		err := Run(t.Context(), f.config, postgres.Protocol{}, nil, discard())
		if fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
