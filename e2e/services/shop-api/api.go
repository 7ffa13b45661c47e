package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Up to here an echo is read whole and answered with its length; what is longer goes back while it comes.
const wholeEcho = 256 << 10

// api is what clients of the shop see.
func (s *shop) api() http.Handler {
	mux := http.NewServeMux()
	s.customers.routes(mux, "/customers")
	s.orders.routes(mux, "/orders")
	s.documents.routes(mux)
	mux.HandleFunc("GET /people/{ssn}", s.person)
	mux.HandleFunc("POST /graphql", s.graphql)
	mux.HandleFunc("/echo", s.echo)
	mux.HandleFunc("/echo/", s.echo)
	mux.HandleFunc("/count", s.count)
	mux.HandleFunc("/socket", socket)
	mux.HandleFunc("/socket/", socket)
	return http.HandlerFunc(func(w http.ResponseWriter, of *http.Request) {
		s.requests.watch(of, s.requests.add(of))
		if answer := s.answers.of(of); answer != nil {
			s.answers.give(w, of, answer)
			return
		}
		if !strings.HasPrefix(of.URL.Path, "/echo") && !strings.HasPrefix(of.URL.Path, "/socket") {
			mux.ServeHTTP(w, of)
			return
		}
		// Past the multiplexer, which would redirect a path that is spelt in another way.
		if strings.HasPrefix(of.URL.Path, "/echo") {
			s.echo(w, of)
		} else {
			socket(w, of)
		}
	})
}

// person finds by a segment of the path.
func (s *shop) person(w http.ResponseWriter, of *http.Request) {
	found := s.customers.where(map[string]string{"ssn": of.PathValue("ssn")})
	if len(found) == 0 {
		http.NotFound(w, of)
		return
	}
	write(w, http.StatusOK, found[0])
}

// echo gives the body back under its own media type.
func (s *shop) echo(w http.ResponseWriter, of *http.Request) {
	kind := of.Header.Get("Content-Type")
	if kind == "" {
		kind = jsonType
	}
	w.Header().Set("Content-Type", kind)
	if of.ContentLength >= 0 && of.ContentLength <= wholeEcho {
		body, err := io.ReadAll(of.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		s.watched.look(of.URL.Path, body)
		_, _ = w.Write(body)
		return
	}
	turn := http.NewResponseController(w)
	_ = turn.EnableFullDuplex()
	stream(w, turn, of.Body)
	for name, values := range of.Trailer {
		for _, value := range values {
			w.Header().Add(http.TrailerPrefix+name, value)
		}
	}
}

func stream(w io.Writer, turn *http.ResponseController, body io.Reader) {
	piece := make([]byte, 64<<10)
	for {
		n, err := body.Read(piece)
		if n > 0 {
			if _, failed := w.Write(piece[:n]); failed != nil {
				panic(http.ErrAbortHandler)
			}
			_ = turn.Flush()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// count takes a body of any length, and says how long it was.
func (s *shop) count(w http.ResponseWriter, of *http.Request) {
	length, err := io.Copy(io.Discard, of.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	answer, _ := json.Marshal(map[string]int64{"length": length})
	write(w, http.StatusOK, answer)
}

// graphql knows two operations, and tells them apart by their variables.
func (s *shop) graphql(w http.ResponseWriter, of *http.Request) {
	var asked struct {
		Variables struct {
			Input json.RawMessage `json:"input"`
			SSN   json.RawMessage `json:"ssn"`
		} `json:"variables"`
	}
	if json.NewDecoder(of.Body).Decode(&asked) != nil {
		http.Error(w, "no GraphQL", http.StatusBadRequest)
		return
	}
	_, _ = io.Copy(io.Discard, of.Body)
	data := map[string]any{}
	if asked.Variables.Input != nil {
		s.customers.put(idOf(asked.Variables.Input), asked.Variables.Input)
		data["createCustomer"] = asked.Variables.Input
	} else {
		var ssn string
		_ = json.Unmarshal(asked.Variables.SSN, &ssn)
		data["customers"] = s.customers.where(map[string]string{"ssn": ssn})
	}
	answer, _ := json.Marshal(map[string]any{"data": data})
	write(w, http.StatusOK, answer)
}

// documents are JSON texts with a strong ETag, of which ranges can be asked for.
type documents struct {
	mutex  sync.Mutex
	byName map[string][]byte
}

func newDocuments() *documents { return &documents{byName: map[string][]byte{}} }

func (d *documents) routes(mux *http.ServeMux) {
	mux.HandleFunc("PUT /documents/{name}", d.put)
	mux.HandleFunc("GET /documents/{name}", d.get)
}

func (d *documents) put(w http.ResponseWriter, of *http.Request) {
	text, err := io.ReadAll(of.Body)
	if err != nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.byName[of.PathValue("name")] = text
	w.WriteHeader(http.StatusNoContent)
}

// get answers Range, If-Range, If-None-Match and If-Match as Go's own file server does.
func (d *documents) get(w http.ResponseWriter, of *http.Request) {
	d.mutex.Lock()
	text, known := d.byName[of.PathValue("name")]
	d.mutex.Unlock()
	if !known {
		http.NotFound(w, of)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("ETag", etag(text))
	http.ServeContent(w, of, "", time.Time{}, bytes.NewReader(text))
}
