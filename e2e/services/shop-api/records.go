package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const jsonType = "application/json"

// records are JSON objects by id, kept byte for byte as they came.
type records struct {
	mutex sync.Mutex
	order []string
	byID  map[string]json.RawMessage
}

func newRecords() *records { return &records{byID: map[string]json.RawMessage{}} }

func (r *records) put(id string, object json.RawMessage) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, known := r.byID[id]; !known {
		r.order = append(r.order, id)
	}
	r.byID[id] = object
}

func (r *records) get(id string) (json.RawMessage, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	object, known := r.byID[id]
	return object, known
}

func (r *records) remove(id string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, known := r.byID[id]
	delete(r.byID, id)
	r.order = slices.DeleteFunc(r.order, func(one string) bool { return one == id })
	return known
}

// where gives those whose members have these texts.
func (r *records) where(members map[string]string) []json.RawMessage {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found := []json.RawMessage{}
	for _, id := range r.order {
		if has(r.byID[id], members) {
			found = append(found, r.byID[id])
		}
	}
	return found
}

func has(object json.RawMessage, members map[string]string) bool {
	parsed := map[string]json.RawMessage{}
	if json.Unmarshal(object, &parsed) != nil {
		return false
	}
	for name, text := range members {
		stands := parsed[name]
		var unquoted string
		if json.Unmarshal(stands, &unquoted) != nil {
			unquoted = string(stands)
		}
		if stands == nil || unquoted != text {
			return false
		}
	}
	return true
}

func idOf(object []byte) string {
	var parsed struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(object, &parsed) != nil {
		return ""
	}
	return strings.Trim(string(parsed.ID), `"`)
}

// routes adds GET, POST, PUT and DELETE of these records under a prefix.
func (r *records) routes(mux *http.ServeMux, prefix string) {
	mux.HandleFunc("POST "+prefix, r.create)
	mux.HandleFunc("GET "+prefix, r.search)
	mux.HandleFunc("GET "+prefix+"/{id}", r.read)
	mux.HandleFunc("PUT "+prefix+"/{id}", r.replace)
	mux.HandleFunc("DELETE "+prefix+"/{id}", r.delete)
}

func (r *records) create(w http.ResponseWriter, of *http.Request) {
	object, err := io.ReadAll(of.Body)
	if err != nil {
		return
	}
	id := idOf(object)
	if id == "" {
		http.Error(w, "an object with an id, please", http.StatusBadRequest)
		return
	}
	r.put(id, object)
	w.Header().Set("Location", of.URL.Path+"/"+id)
	write(w, http.StatusCreated, object)
}

// search takes members by name from the query, and ssn from a header too.
func (r *records) search(w http.ResponseWriter, of *http.Request) {
	members := map[string]string{}
	for name, values := range of.URL.Query() {
		members[name] = values[0]
	}
	if ssn := of.Header.Get("X-Ssn"); ssn != "" {
		members["ssn"] = ssn
	}
	found, _ := json.Marshal(r.where(members))
	write(w, http.StatusOK, found)
}

func (r *records) read(w http.ResponseWriter, of *http.Request) {
	object, known := r.get(of.PathValue("id"))
	if !known {
		http.NotFound(w, of)
		return
	}
	tag := etag(object)
	w.Header().Set("ETag", tag)
	if of.Header.Get("If-None-Match") != "" && strings.Contains(of.Header.Get("If-None-Match"), strings.Trim(tag, `"`)) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	write(w, http.StatusOK, object)
}

// replace compares If-Match strongly, as RFC 9110 has it: a weak tag matches nothing.
func (r *records) replace(w http.ResponseWriter, of *http.Request) {
	object, err := io.ReadAll(of.Body)
	if err != nil {
		return
	}
	id := of.PathValue("id")
	if wanted := of.Header.Get("If-Match"); wanted != "" {
		if now, known := r.get(id); !known || etag(now) != wanted {
			http.Error(w, "somebody else changed it", http.StatusPreconditionFailed)
			return
		}
	}
	r.put(id, object)
	w.Header().Set("ETag", etag(object))
	write(w, http.StatusOK, object)
}

func (r *records) delete(w http.ResponseWriter, of *http.Request) {
	if !r.remove(of.PathValue("id")) {
		http.NotFound(w, of)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func etag(object []byte) string {
	sum := sha256.Sum256(object)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

func write(w http.ResponseWriter, status int, object []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(object)
}
