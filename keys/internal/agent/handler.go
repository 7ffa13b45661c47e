package agent

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// newHandler answers for the state:
//
//	GET /v1/keysets   the open keysets in clear, with a strong ETag
//	GET /healthz      names and key ids, and since when they are open
//
// Both answer 503 with {"error": "..."} when no keyset is open.
func newHandler(s *state) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/keysets", readOnly(s.serveKeysets))
	mux.HandleFunc("/healthz", readOnly(s.serveHealth))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "no such path; there are /v1/keysets and /healthz")
	})
	return mux
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

func (s *state) serveKeysets(w http.ResponseWriter, r *http.Request) {
	v := s.view()
	if len(v.keysets) == 0 {
		s.writeNoneOpen(w)
		return
	}
	// A part of the answer is of use to nobody, and ServeContent would give it.
	r.Header.Del("Range")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", `"`+v.revision+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(v.body))
}

type healthAnswer struct {
	Status   string                  `json:"status"` // ok, or degraded: some keyset did not open last time
	Revision string                  `json:"revision"`
	Keysets  map[string]healthKeyset `json:"keysets"`
	Problems []string                `json:"problems,omitempty"`
}

type healthKeyset struct {
	OpenSince  time.Time                         `json:"open_since"`
	LastOpened time.Time                         `json:"last_opened"`
	StaleAt    time.Time                         `json:"stale_at"` // refused from then on, if not opened again
	Purposes   map[keystore.Purpose]healthKeyIDs `json:"purposes"`
}

type healthKeyIDs struct {
	PrimaryKeyID uint32   `json:"primary_key_id"`
	KeyIDs       []uint32 `json:"key_ids"`
}

func (s *state) serveHealth(w http.ResponseWriter, _ *http.Request) {
	v := s.view()
	if len(v.keysets) == 0 {
		s.writeNoneOpen(w)
		return
	}
	answer := healthAnswer{Status: "ok", Revision: v.revision, Keysets: map[string]healthKeyset{}}
	for name, k := range v.keysets {
		purposes := map[keystore.Purpose]healthKeyIDs{}
		for purpose, opened := range k.purposes {
			purposes[purpose] = healthKeyIDs{PrimaryKeyID: opened.primaryKeyID, KeyIDs: opened.keyIDs}
		}
		answer.Keysets[name] = healthKeyset{
			OpenSince:  k.openSince.UTC(),
			LastOpened: k.lastOpened.UTC(),
			StaleAt:    k.lastOpened.Add(s.maxStale).UTC(),
			Purposes:   purposes,
		}
	}
	if problems := s.reasons(); len(problems) > 0 {
		answer.Status = "degraded"
		answer.Problems = []string{describe(problems)}
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *state) writeNoneOpen(w http.ResponseWriter) {
	reason := "no keyset is open"
	if problems := s.reasons(); len(problems) > 0 {
		reason += ": " + describe(problems)
	}
	writeError(w, http.StatusServiceUnavailable, reason)
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
