package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
)

const (
	// How many requests are remembered, the oldest forgotten first: a million pass in one test.
	maxRequests = 4096
	// How much of a body is remembered; the rest counts in length and hash alone.
	maxBody = 1 << 20
)

// request is what came, as it came.
type request struct {
	Method   string      `json:"method"`
	Target   string      `json:"target"`
	Protocol string      `json:"protocol"`
	Host     string      `json:"host"`
	Headers  http.Header `json:"headers"`
	Trailers http.Header `json:"trailers"`
	Body     []byte      `json:"body"`
	Length   int64       `json:"length"`
	SHA256   string      `json:"sha256"`
	// As announced; -1 where nothing was.
	ContentLength int64 `json:"content_length"`
	// Whether the body came to its end: false while it comes, and for ever if it broke off.
	Complete bool `json:"complete"`
	Failed   bool `json:"failed"`
}

// requests remembers the latest ones.
type requests struct {
	mutex sync.Mutex
	kept  []*request
}

func (r *requests) add(of *http.Request) *request {
	came := &request{
		Method: of.Method, Target: of.RequestURI, Protocol: of.Proto, Host: of.Host,
		Headers: of.Header.Clone(), ContentLength: of.ContentLength,
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.kept) >= 2*maxRequests {
		r.kept = append(r.kept[:0], r.kept[maxRequests:]...)
	}
	r.kept = append(r.kept, came)
	return came
}

func (r *requests) all() []request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	copies := make([]request, len(r.kept))
	for i, kept := range r.kept {
		copies[i] = *kept
		// The bytes are appended to while a body comes.
		copies[i].Body = bytes.Clone(kept.Body)
	}
	return copies
}

func (r *requests) forget() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.kept = nil
}

// remembered is a body that leaves its trace in a request while it is read.
type remembered struct {
	io.ReadCloser
	of   *http.Request
	came *request
	in   *requests
	sum  hash.Hash
}

func (r *requests) watch(of *http.Request, came *request) {
	of.Body = &remembered{ReadCloser: of.Body, of: of, came: came, in: r, sum: sha256.New()}
}

func (b *remembered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.sum.Write(p[:n])
	b.in.mutex.Lock()
	defer b.in.mutex.Unlock()
	b.came.Length += int64(n)
	if room := maxBody - len(b.came.Body); room > 0 {
		b.came.Body = append(b.came.Body, p[:min(n, room)]...)
	}
	switch err {
	case nil:
	case io.EOF:
		b.came.Complete = true
		b.came.SHA256 = hex.EncodeToString(b.sum.Sum(nil))
		b.came.Trailers = b.of.Trailer.Clone()
	default:
		b.came.Failed = true
	}
	return n, err
}

// watched counts the bodies below a path in which a text stands.
type watched struct {
	mutex sync.Mutex
	under string
	texts []string
	found map[string]int
}

func (w *watched) set(under string, texts []string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.under, w.texts, w.found = under, texts, map[string]int{}
}

func (w *watched) look(path string, in []byte) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.under == "" || !strings.HasPrefix(path, w.under) {
		return
	}
	for _, text := range w.texts {
		if bytes.Contains(in, []byte(text)) {
			w.found[text]++
		}
	}
}

func (w *watched) counts() map[string]int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	counts := map[string]int{}
	for _, text := range w.texts {
		counts[text] = w.found[text]
	}
	return counts
}
