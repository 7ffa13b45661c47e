package agent

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// refresher opens the keysets anew and says what has changed, once.
type refresher struct {
	store   *keystore.Store
	openKEK func() (tink.AEAD, error)
	state   *state
	logger  *slog.Logger

	// What was said last, so that a lasting problem is one line and not one a refresh.
	saidRevision string
	saidNames    []string
	saidProblems map[string]string
	saidIgnored  string
}

func (r *refresher) run(ctx context.Context, interval time.Duration) {
	for {
		timer := time.NewTimer(jittered(interval))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			r.refresh()
		}
	}
}

func (r *refresher) refresh() {
	result := openAll(r.store, r.openKEK)
	r.state.apply(result)
	r.say(result)
}

func (r *refresher) say(result *opening) {
	if ignored := strings.Join(result.ignored, ", "); ignored != r.saidIgnored {
		r.saidIgnored = ignored
		if ignored != "" {
			r.logger.Warn("files ignored: their names are not NAME.PURPOSE.json", "folder", r.store.Folder(), "files", ignored)
		}
	}

	v := r.state.view()
	names := slices.Sorted(maps.Keys(v.keysets))
	for _, name := range r.saidNames {
		if !slices.Contains(names, name) {
			r.logger.Warn("keyset no longer served", "keyset", name)
		}
	}
	if v.revision != r.saidRevision && len(names) > 0 {
		r.logger.Info("keysets open", "revision", v.revision, "names", strings.Join(names, ", "))
	}
	r.saidRevision, r.saidNames = v.revision, names

	problems := map[string]string{}
	for name, err := range r.state.reasons() {
		problems[name] = err.Error()
		if r.saidProblems[name] != problems[name] {
			r.logger.Error("keysets not opened: " + problems[name] + r.consequence(name, v))
		}
	}
	for name := range r.saidProblems {
		if _, still := problems[name]; !still {
			r.logger.Info("problem gone", "keyset", cmp.Or(name, "all"))
		}
	}
	r.saidProblems = problems
}

func (r *refresher) consequence(name string, v *view) string {
	if _, held := v.keysets[name]; held || (name == "" && len(v.keysets) > 0) {
		return " (those opened before are served for at most " + r.state.maxStale.String() + " more)"
	}
	return ""
}
