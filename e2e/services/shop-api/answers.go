package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"
)

// answer is what a test has the shop say to requests of one path.
type answer struct {
	Path    string      `json:"path"`
	Status  int         `json:"status"`
	Headers [][2]string `json:"headers"`
	Steps   []step      `json:"steps"`
	// After the last byte.
	Trailers [][2]string `json:"trailers"`
	// Whether the request's body is left unread.
	Unread bool `json:"unread"`
}

// step is one thing that is done, in its turn; each that writes is sent at once.
type step struct {
	Text   string `json:"text"`
	Bytes  []byte `json:"bytes"`
	Repeat string `json:"repeat"`
	Times  int    `json:"times"`
	// The gate that must be open before it goes on.
	Wait string `json:"wait"`
	// The gate that it opens: so a test knows how far the answer is.
	Open         string `json:"open"`
	Milliseconds int    `json:"milliseconds"`
	// The connection breaks here, or, with HTTP/2, the stream.
	Reset bool `json:"reset"`
}

type answers struct {
	mutex  sync.Mutex
	byPath map[string]*answer
	gates  map[string]chan struct{}
}

func newAnswers() *answers {
	return &answers{byPath: map[string]*answer{}, gates: map[string]chan struct{}{}}
}

func (a *answers) set(one *answer) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.byPath[one.Path] = one
}

func (a *answers) of(of *http.Request) *answer {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.byPath[of.URL.Path]
}

// gate is closed as a channel when it is open.
func (a *answers) gate(name string) chan struct{} {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.gates[name] == nil {
		a.gates[name] = make(chan struct{})
	}
	return a.gates[name]
}

func (a *answers) open(name string) {
	gate := a.gate(name)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

func (a *answers) give(w http.ResponseWriter, of *http.Request, one *answer) {
	turn := http.NewResponseController(w)
	if one.Unread {
		_ = turn.EnableFullDuplex()
	} else {
		if _, err := io.Copy(io.Discard, of.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	for _, header := range one.Headers {
		w.Header().Add(header[0], header[1])
	}
	if one.Status != 0 {
		w.WriteHeader(one.Status)
	}
	for _, next := range one.Steps {
		a.do(w, of, turn, next)
	}
	for _, trailer := range one.Trailers {
		w.Header().Add(http.TrailerPrefix+trailer[0], trailer[1])
	}
}

func (a *answers) do(w http.ResponseWriter, of *http.Request, turn *http.ResponseController, next step) {
	if next.Wait != "" {
		select {
		case <-a.gate(next.Wait):
		case <-of.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	time.Sleep(time.Duration(next.Milliseconds) * time.Millisecond)
	put(w, []byte(next.Text))
	put(w, next.Bytes)
	repeat(w, next.Repeat, next.Times)
	if of.Method != http.MethodHead {
		_ = turn.Flush()
	}
	if next.Open != "" {
		a.open(next.Open)
	}
	if next.Reset {
		panic(http.ErrAbortHandler)
	}
}

// repeat writes in pieces of some size, for the texts are short and many.
func repeat(w io.Writer, text string, times int) {
	if text == "" {
		return
	}
	many := max(1, (64<<10)/len(text))
	block := bytes.Repeat([]byte(text), many)
	for ; times >= many; times -= many {
		put(w, block)
	}
	put(w, block[:times*len(text)])
}

func put(w io.Writer, piece []byte) {
	if len(piece) == 0 {
		return
	}
	if _, err := w.Write(piece); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// control is what tests see.
func (s *shop) control() http.Handler {
	mux := http.NewServeMux()
	tell := func(w http.ResponseWriter, what any) {
		text, _ := json.Marshal(what)
		write(w, http.StatusOK, text)
	}
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) { tell(w, s.requests.all()) })
	mux.HandleFunc("DELETE /requests", func(http.ResponseWriter, *http.Request) { s.requests.forget() })
	mux.HandleFunc("PUT /answers", func(w http.ResponseWriter, of *http.Request) {
		var one answer
		if decode(w, of, &one) {
			s.answers.set(&one)
		}
	})
	mux.HandleFunc("PUT /gates/{name}", func(_ http.ResponseWriter, of *http.Request) { s.answers.open(of.PathValue("name")) })
	// Answered when it is open.
	mux.HandleFunc("GET /gates/{name}", func(_ http.ResponseWriter, of *http.Request) {
		select {
		case <-s.answers.gate(of.PathValue("name")):
		case <-of.Context().Done():
		}
	})
	mux.HandleFunc("GET /customers", func(w http.ResponseWriter, _ *http.Request) { tell(w, s.customers.where(nil)) })
	mux.HandleFunc("PUT /customers/{id}", func(w http.ResponseWriter, of *http.Request) {
		var object json.RawMessage
		if decode(w, of, &object) {
			s.customers.put(of.PathValue("id"), object)
		}
	})
	mux.HandleFunc("GET /watched", func(w http.ResponseWriter, _ *http.Request) { tell(w, s.watched.counts()) })
	mux.HandleFunc("PUT /watched", func(w http.ResponseWriter, of *http.Request) {
		var what struct {
			Under string   `json:"under"`
			Texts []string `json:"texts"`
		}
		if decode(w, of, &what) {
			s.watched.set(what.Under, what.Texts)
		}
	})
	return mux
}

func decode(w http.ResponseWriter, of *http.Request, into any) bool {
	err := json.NewDecoder(of.Body).Decode(into)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}
