package agent

import (
	"log/slog"
	"strings"
	"sync"
)

// changeLogger logs what has changed, once: a lasting problem is one line and not one
// a refresh.
type changeLogger struct {
	state  *state
	folder string
	logger *slog.Logger

	mutex    sync.Mutex
	revision string
	problems map[string]string // by place
	files    string            // those that were ignored
}

func (t *changeLogger) log() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	dropped := t.state.takeDropped()
	r := t.state.report()
	for _, d := range dropped {
		if d.why != whyIdle {
			t.logger.Warn("keyset no longer served", "keyset", d.name, "why", d.why)
		}
	}
	if r.servable && r.revision != t.revision {
		t.revision = r.revision
		t.logger.Info("keysets served", "revision", r.revision, "names", strings.Join(r.openNames(), ", "))
		if len(r.keysets) == 0 {
			t.logger.Warn("no keyset found: no file is named NAME.PURPOSE.json or NAME.TENANT.PURPOSE.json", "folder", t.folder)
		}
	}

	problems := map[string]string{}
	for _, p := range r.problems() {
		if before := problems[p.place]; before != "" {
			problems[p.place] = before + " | " + p.err.Error()
		} else {
			problems[p.place] = p.err.Error()
		}
	}
	for _, p := range r.problems() {
		if text := problems[p.place]; t.problems[p.place] != text {
			t.logger.Error("problem", "of", p.place, "reason", text, "consequence", r.consequence(p.place))
			t.problems[p.place] = text
		}
	}
	for place := range t.problems {
		if _, still := problems[place]; !still {
			t.logger.Info("problem gone", "of", place)
			delete(t.problems, place)
		}
	}
}

// logIgnored logs once which files have names that are not understood.
func (t *changeLogger) logIgnored(files []string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if text := strings.Join(files, ", "); text != t.files {
		t.files = text
		if text != "" {
			t.logger.Warn("files ignored: their names are neither NAME.PURPOSE.json nor NAME.TENANT.PURPOSE.json", "folder", t.folder, "files", text)
		}
	}
}

func (r *report) openNames() (names []string) {
	for _, k := range r.keysets {
		if k.open && !k.tenant {
			names = append(names, k.name)
		}
	}
	return names
}

// consequence is what a problem means for who uses the keys.
func (r *report) consequence(place string) string {
	for _, k := range r.keysets {
		if k.name != place {
			continue
		}
		switch {
		case !k.open:
			return "not served"
		case !k.refusedSince.IsZero():
			return "served until " + k.end.Add(r.ahead).UTC().Format(timeFormat) + ", unless the KMS opens it again"
		default:
			return "served as it was before its files changed"
		}
	}
	if place == placeIdentity {
		if r.spiffeID == "" {
			return "filters that are to ask for it let nobody in"
		}
		return "the last one is said as long as its SVID is valid"
	}
	if place == placeAnswer {
		return "not served: " + strings.Join(r.leftOut, ", ")
	}
	if len(r.openNames()) == 0 {
		return "nothing is served"
	}
	return "what is open is served on, each keyset for --max-offline after the KMS last opened it"
}

const timeFormat = "2006-01-02T15:04:05Z07:00"
