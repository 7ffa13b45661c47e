package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// fixture is a folder with a key-encryption key and keysets, and room for a socket.
type fixture struct {
	*testing.T
	config Config
	kms    *switchedKMS
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	// t.TempDir can be too long for a socket's path.
	folder := testfile.Folder(t)
	kekFile := filepath.Join(folder, "kek.json")
	if err := kek.CreateInsecureDev(kekFile); err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, config: Defaults()}
	f.config.Keysets, f.config.Socket = filepath.Join(folder, "keysets"), filepath.Join(folder, "agent.sock")
	f.config.KeyURI, f.config.Refresh, f.config.KMSCheck = kek.InsecureDevURI(kekFile), MinRefresh, MinRefresh
	f.kms = &switchedKMS{keyURI: f.config.KeyURI}
	if _, err := keystore.OpenOrMake(f.config.Keysets); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) open() (*keystore.Store, tink.AEAD) {
	f.Helper()
	store, err := keystore.Open(f.config.Keysets)
	if err != nil {
		f.Fatal(err)
	}
	aead, err := kek.Open(f.config.KeyURI)
	if err != nil {
		f.Fatal(err)
	}
	return store, aead
}

func (f *fixture) create(name string) {
	f.Helper()
	store, aead := f.open()
	if _, err := store.Create(name, keystore.DefaultAEADTemplate, aead); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) rotate(name string) {
	f.Helper()
	store, aead := f.open()
	if _, err := store.AddKey(name, keystore.AEAD, "", true, aead); err != nil {
		f.Fatal(err)
	}
}

// remove takes a name's files away.
func (f *fixture) remove(name string) {
	f.Helper()
	for _, purpose := range keystore.Purposes {
		file := strings.ReplaceAll(name, "/", ".") + "." + string(purpose) + ".json"
		testfile.Remove(f, filepath.Join(f.config.Keysets, file))
	}
}

func (f *fixture) primary(name string, purpose keystore.Purpose) uint32 {
	f.Helper()
	store, _ := f.open()
	file, err := store.Read(name, purpose)
	if err != nil {
		f.Fatal(err)
	}
	return file.Info().GetPrimaryKeyId()
}

func (f *fixture) breakFile(file string) (good string) {
	f.Helper()
	text := testfile.Read(f, filepath.Join(f.config.Keysets, file))
	f.write(file, string(text[:len(text)/2]))
	return string(text)
}

// write writes a file in one step: a scan could see it empty between two.
func (f *fixture) write(file, content string) {
	f.Helper()
	if err := atomicfile.Replace(filepath.Join(f.config.Keysets, file), []byte(content)); err != nil {
		f.Fatal(err)
	}
}

// runningAgent is an agent that serves, until the test ends.
type runningAgent struct {
	*testing.T
	client *http.Client
	base   string // "": over the Unix socket
	log    *lockedBuffer
	stop   func() error
}

// start starts an agent and waits until every keyset is open.
func (f *fixture) start() *runningAgent {
	f.Helper()
	a := f.startUnready()
	a.until("/readyz", func(got answer) bool { return got.status == 200 })
	return a
}

func (f *fixture) startUnready() *runningAgent {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	a := &runningAgent{T: f.T, log: &lockedBuffer{}}
	store, _ := f.open()
	config := f.config
	go func() {
		ended <- run(ctx, &config, store, f.kms.open, slog.New(slog.NewJSONHandler(a.log, nil)))
	}()
	a.stop = sync.OnceValue(func() error {
		a.client.CloseIdleConnections()
		cancel()
		return <-ended
	})
	a.client = clientOf(f.config.Socket)
	f.Cleanup(func() {
		if err := a.stop(); err != nil {
			f.Error(err)
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if strings.Contains(a.log.String(), `"msg":"serving"`) {
			return a
		}
		if time.Now().After(deadline) {
			f.Fatalf("it does not serve:\n%s", a.log)
		}
	}
}

func clientOf(socket string) *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
}

type answer struct {
	status int
	header http.Header
	body   string
}

// keysetsAnswer is the body of GET /v1/keysets.
type keysetsAnswer struct {
	Revision string
	Keysets  map[string]map[string]json.RawMessage
}

func (got answer) keysets(t *testing.T) keysetsAnswer {
	t.Helper()
	var parsed keysetsAnswer
	if err := json.Unmarshal([]byte(got.body), &parsed); err != nil {
		t.Errorf("status %d: %v", got.status, err)
	}
	return parsed
}

// names are those that an answer holds, sorted.
func (got answer) names(t *testing.T) string {
	t.Helper()
	return strings.Join(slices.Sorted(maps.Keys(got.keysets(t).Keysets)), " ")
}

func (a *runningAgent) get(path, ifNoneMatch string) answer {
	a.Helper()
	client, base := a.client, "http://agent"
	if a.base != "" {
		client, base = http.DefaultClient, a.base
	}
	request, err := http.NewRequest(http.MethodGet, base+path, nil)
	if err != nil {
		a.Fatal(err)
	}
	if ifNoneMatch != "" {
		request.Header.Set("If-None-Match", ifNoneMatch)
	}
	response, err := client.Do(request)
	if err != nil {
		a.Error(err)
		return answer{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		a.Error(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(body)}
}

func (a *runningAgent) until(path string, reached func(answer) bool) answer {
	a.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got := a.get(path, "")
		if reached(got) {
			return got
		}
		if time.Now().After(deadline) {
			a.Fatalf("%s: still status %d: %s\n%s", path, got.status, got.body, a.log)
		}
	}
}

// metric is the value of a metric, with its labels as Prometheus writes them.
func (a *runningAgent) metric(series string) string {
	a.Helper()
	for line := range strings.Lines(a.get("/metrics", "").body) {
		if value, found := strings.CutPrefix(line, namespace+"_"+series+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

type lockedBuffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}
