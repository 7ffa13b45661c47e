package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Spare room, so that a body that comes without its length seldom makes its buffer grow.
const spare = 4096

// store is the service: it keeps bodies by their path as they come, and gives them back so. It knows of no sealing.
type store struct {
	mutex  sync.RWMutex
	bodies map[string][]byte
	// How often each was written since the counts were dropped.
	counts map[string]int
}

func newStore() *store {
	return &store{bodies: map[string][]byte{}, counts: map[string]int{}}
}

func (store *store) handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{space}/{name}", store.get)
	routes.HandleFunc("POST /{space}/{name}", store.put)
	routes.HandleFunc("GET /looks/{space}/{name}", store.look)
	routes.HandleFunc("GET /counts", store.told)
	routes.HandleFunc("DELETE /counts", store.forget)
	return routes
}

func key(request *http.Request) string {
	return request.PathValue("space") + "/" + request.PathValue("name")
}

func (store *store) get(answer http.ResponseWriter, request *http.Request) {
	body, is := store.body(key(request))
	if !is {
		http.NotFound(answer, request)
		return
	}
	answer.Header().Set("Content-Type", "application/json")
	answer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = answer.Write(body)
}

// put answers with a look at what it got.
func (store *store) put(answer http.ResponseWriter, request *http.Request) {
	name := key(request)
	body, err := store.read(name, request)
	if err != nil {
		// It broke off: nothing is kept of it.
		http.Error(answer, "the body broke off", http.StatusBadRequest)
		return
	}
	store.mutex.Lock()
	store.bodies[name] = body
	store.counts[name]++
	store.mutex.Unlock()
	tell(answer, look(body))
}

func (store *store) look(answer http.ResponseWriter, request *http.Request) {
	body, is := store.body(key(request))
	if !is {
		http.NotFound(answer, request)
		return
	}
	tell(answer, look(body))
}

func (store *store) told(answer http.ResponseWriter, _ *http.Request) {
	store.mutex.RLock()
	defer store.mutex.RUnlock()
	tell(answer, store.counts)
}

func (store *store) forget(answer http.ResponseWriter, _ *http.Request) {
	store.mutex.Lock()
	defer store.mutex.Unlock()
	store.counts = map[string]int{}
	answer.WriteHeader(http.StatusNoContent)
}

func (store *store) body(name string) ([]byte, bool) {
	store.mutex.RLock()
	defer store.mutex.RUnlock()
	body, is := store.bodies[name]
	return body, is
}

// read takes a body into a buffer of its length; where it comes without, of the length of the last one of that name.
func (store *store) read(name string, request *http.Request) ([]byte, error) {
	size := request.ContentLength
	if size < 0 {
		last, _ := store.body(name)
		size = int64(len(last)) + spare
	}
	body := make([]byte, 0, size+1)
	for {
		read, err := request.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+read]
		switch {
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, err
		case len(body) == cap(body):
			body = append(body, 0)[:len(body)]
		}
	}
}

func tell(answer http.ResponseWriter, said any) {
	text, err := json.Marshal(said)
	if err != nil {
		http.Error(answer, "an answer that is no JSON", http.StatusInternalServerError)
		return
	}
	answer.Header().Set("Content-Type", "application/json")
	answer.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = answer.Write(text)
}
