package agent

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// newSocketHandler answers over the Unix socket:
//
//	GET /v1/keysets   the open keysets in clear, with a strong ETag
//
// and what newStatusHandler answers.
func newSocketHandler(s *state, store *keystore.Store, m *metrics) http.Handler {
	all := newStatusHandler(s, m)
	all["/v1/keysets"] = m.counted("/v1/keysets", readOnly(func(w http.ResponseWriter, r *http.Request) {
		serveKeysets(w, r, s, store, m)
	}))
	return all
}

// paths answers just these, as they are written, and "other" for any other:
// http.ServeMux would redirect what it takes for another way to write a path.
type paths map[string]http.HandlerFunc

func (p paths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler := p[r.URL.Path]; handler != nil {
		handler(w, r)
		return
	}
	p[other](w, r)
}

const other = "other"

// newStatusHandler answers over TCP, and so nothing that is secret:
//
//	GET /livez     that the agent works
//	GET /readyz    whether every configured keyset is open, and what is wrong
//	GET /metrics   for Prometheus
func newStatusHandler(s *state, m *metrics) paths {
	return paths{
		"/livez":   m.counted("/livez", readOnly(serveLive)),
		"/readyz":  m.counted("/readyz", readOnly(s.serveReady)),
		"/metrics": m.counted("/metrics", readOnly(m.handler.ServeHTTP)),
		other: m.counted(other, func(w http.ResponseWriter, _ *http.Request) {
			writeError(w, http.StatusNotFound, "there is no such path here")
		}),
	}
}

func readOnly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, http.StatusMethodNotAllowed, "only GET and HEAD are answered")
			return
		}
		next(w, r)
	}
}

func serveKeysets(w http.ResponseWriter, r *http.Request, s *state, store *keystore.Store, m *metrics) {
	tenants := tenantsOf(r, s.config.MaxTenants)
	if len(tenants) > 0 {
		s.request(r.Context(), store, tenants)
	}
	v := s.snapshot(tenants)
	m.countTenants(s.outcomes(tenants, v.without()))
	if v == nil {
		writeError(w, http.StatusServiceUnavailable, s.report().unready())
		return
	}
	defer v.release()
	etag := `"` + v.revision + `"`
	w.Header().Set("ETag", etag)
	if matches(r.Header.Values("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(v.length()))
	if r.Method == http.MethodHead {
		return
	}
	// A peer that is gone needs no answer.
	_ = v.write(w)
}

// tenantsOf are the tenants' keysets that a request names, each once, and no more
// than can be open. What can not be one is left out, as one that is not there.
func tenantsOf(r *http.Request, most int) (names []string) {
	seen := map[string]bool{}
	for _, name := range r.URL.Query()["tenant"] {
		if keystore.IsTenant(name) && !seen[name] && len(names) < most {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// matches tells whether one of the entity tags is ours (RFC 9110, 13.1.2). None of
// ours has a comma in it.
func matches(ifNoneMatch []string, etag string) bool {
	for _, list := range ifNoneMatch {
		for tag := range strings.SplitSeq(list, ",") {
			if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}

func writeError(w http.ResponseWriter, status int, reason string) {
	writeJSON(w, status, map[string]string{"error": reason})
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer)
}
