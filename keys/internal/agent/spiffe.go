package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spiffe/go-spiffe/v2/workloadapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// identity is which workload runs here, as SPIFFE's Workload API says it: of the
// X.509-SVIDs that it hands out, the first, which is the default one, by its id
// alone. Its key is not kept.
type identity struct {
	now     func() time.Time
	changed func(id string) // called when another is known than before, or none

	mutex   sync.Mutex
	id      string
	expires time.Time // the SVID's
	problem error
}

const placeIdentity = "the workload's identity"

func newIdentity() *identity {
	return &identity{now: time.Now, changed: func(string) {}, problem: fault.Failure("--spiffe-socket", "the Workload API has not answered yet",
		"see that SPIRE's agent runs and that its socket is mounted here")}
}

// watch follows the Workload API until the context ends.
func (i *identity) watch(ctx context.Context, address string, logger *slog.Logger) {
	for ctx.Err() == nil {
		err := workloadapi.WatchX509Context(ctx, i, workloadapi.WithAddr(address))
		if ctx.Err() != nil {
			return
		}
		// It tries again by itself but where the API calls the question wrong.
		logger.Warn("the Workload API is asked anew", "reason", fault.OneLine(err.Error()))
		select {
		case <-ctx.Done():
		case <-time.After(identityPause):
		}
	}
}

// identityPause keeps an API that refuses the question from being asked all the time.
const identityPause = 10 * time.Second

// OnX509ContextUpdate takes in what the Workload API says now.
func (i *identity) OnX509ContextUpdate(said *workloadapi.X509Context) {
	if len(said.SVIDs) == 0 {
		i.set("", time.Time{}, errNoIdentity)
		return
	}
	svid := said.DefaultSVID()
	i.set(svid.ID.String(), svid.Certificates[0].NotAfter, nil)
}

// OnX509ContextWatchError takes in that it says nothing. While SPIRE's agent is
// away the id is kept, as long as its SVID is valid; once SPIRE says that there
// is none for this workload, there is none.
func (i *identity) OnX509ContextWatchError(err error) {
	if status.Code(err) == codes.Canceled {
		return
	}
	if status.Code(err) == codes.PermissionDenied {
		i.set("", time.Time{}, errNoIdentity)
		return
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.problem = fault.Failure("--spiffe-socket", "the Workload API does not answer ("+fault.OneLine(status.Convert(err).Message())+")",
		"see that SPIRE's agent runs and that its socket is mounted here")
}

var errNoIdentity = fault.Failure("--spiffe-socket", "the Workload API has no identity for this workload",
	"register it with SPIRE, by selectors that describe this container")

func (i *identity) set(id string, expires time.Time, problem error) {
	i.mutex.Lock()
	another := id != i.id
	i.id, i.expires, i.problem = id, expires, problem
	i.mutex.Unlock()
	if another {
		i.changed(id)
	}
}

// current is the id, or "" with the reason if none is known: an SVID that has
// expired says of nobody who runs here.
func (i *identity) current() (id string, problem error) {
	if i == nil {
		return "", nil
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.id != "" && !i.now().Before(i.expires) {
		return "", fault.Failure("--spiffe-socket", "the SVID has expired, and there is no newer one",
			"see that SPIRE's agent runs and that its socket is mounted here")
	}
	return i.id, i.problem
}
