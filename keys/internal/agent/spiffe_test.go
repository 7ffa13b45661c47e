package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/spiffe/spiffetest"
)

const (
	orders = "spiffe://example.org/shop/orders"
	jobs   = "spiffe://example.org/shop/jobs"
)

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

func asking(t *testing.T, api *spiffetest.API) *fixture {
	t.Helper()
	f := newFixture(t)
	f.create("pii")
	f.config.SpiffeSocket = "unix://" + api.Socket
	return f
}

func TestAnswerSaysWhoRunsHereAsTheWorkloadAPIDoes(t *testing.T) {
	api := spiffetest.New(t)
	api.Says(time.Hour, orders, jobs)
	api.Start()
	a := asking(t, api).start()
	first := a.get("/v1/keysets", "")
	if first.said(t) != orders || len(first.keysets(t).Keysets["pii"]) == 0 {
		t.Errorf("it says %q", first.said(t))
	}
	if metrics := a.get("/metrics", "").body; !strings.Contains(metrics, "spiffe_id_known 1") {
		t.Error("no metric says that it is known")
	}
	api.Says(time.Hour, orders)
	if again := a.get("/v1/keysets", first.header.Get("ETag")); again.status != 304 {
		t.Errorf("status %d after the SVID was renewed", again.status)
	}
	api.Says(time.Hour, jobs)
	etag := first.header.Get("ETag")
	second := a.until("/v1/keysets", func(got answer) bool { return got.header.Get("ETag") != etag })
	if second.said(t) != jobs {
		t.Errorf("it says %q", second.said(t))
	}
	if key := api.Key(); strings.Contains(second.body, key) || strings.Contains(a.log.String(), key) {
		t.Error("the SVID's key is told")
	}
}

func TestAgentIsNotReadyBeforeItKnowsWhoRunsHere(t *testing.T) {
	api := spiffetest.New(t)
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
	api.Start()
	a.until("/readyz", func(got answer) bool { return strings.Contains(got.body, "has no identity for this workload") })
	api.Says(time.Hour, orders)
	a.until("/readyz", func(got answer) bool { return got.status == 200 })
	if got := a.get("/v1/keysets", ""); got.said(t) != orders {
		t.Errorf("it says %q", got.said(t))
	}
}

func TestIdentityThatIsTakenAwayIsSaidNoMore(t *testing.T) {
	api := spiffetest.New(t)
	api.Says(time.Hour, orders)
	api.Start()
	a := asking(t, api).start()
	api.Says(0)
	gone := a.until("/v1/keysets", func(got answer) bool { return got.said(t) == "" })
	if gone.status != 200 || len(gone.keysets(t).Keysets) != 1 {
		t.Errorf("%d: %s", gone.status, gone.body)
	}
}

func TestIdentityIsKeptWhileTheWorkloadAPIIsAwayUntilItsSVIDExpires(t *testing.T) {
	api := spiffetest.New(t)
	api.Says(time.Hour, orders)
	api.Start()
	a := asking(t, api).start()
	api.Stop()
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
	api := spiffetest.New(t)
	api.Says(time.Hour, orders)
	api.Start()
	ctx, cancel := context.WithCancel(t.Context())
	known, ended := make(chan string, 1), make(chan struct{})
	i := newIdentity()
	i.changed = func(id string) { known <- id }
	go func() {
		defer close(ended)
		i.watch(ctx, "unix://"+api.Socket, nil)
	}()
	if id := <-known; id != orders {
		t.Errorf("it says %q", id)
	}
	cancel()
	<-ended
}
