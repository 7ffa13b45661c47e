package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// started is both sockets over TCP, and a client of each.
type started struct {
	*testing.T
	api, control *httptest.Server
}

func start(t *testing.T) *started {
	t.Helper()
	shop := newShop()
	s := &started{T: t, api: httptest.NewServer(shop.api()), control: httptest.NewServer(shop.control())}
	t.Cleanup(s.api.Close)
	t.Cleanup(s.control.Close)
	return s
}

func (s *started) do(server *httptest.Server, method, path, body string, headers ...string) (*http.Response, string) {
	s.Helper()
	of, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		of.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(of)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	return answer, string(text)
}

func (s *started) requests() []request {
	s.Helper()
	_, text := s.do(s.control, "GET", "/requests", "")
	var all []request
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		s.Fatal(err)
	}
	return all
}

func (s *started) expect(got, wanted any) {
	s.Helper()
	if got != wanted {
		s.Fatalf("%v, not %v", got, wanted)
	}
}

func TestCustomersAreKeptByteForByteAndFoundByTheirMembers(t *testing.T) {
	s := start(t)
	object := `{"ssn" : "one",  "id": 7, "big": 1.000000000000000000001}`
	answer, text := s.do(s.api, "POST", "/customers", object)
	s.expect(answer.StatusCode, 201)
	s.expect(text, object)
	_, text = s.do(s.api, "GET", "/customers/7", "")
	s.expect(text, object)
	for _, found := range []string{"/customers?ssn=one", "/customers?id=7"} {
		_, text = s.do(s.api, "GET", found, "")
		s.expect(strings.Contains(text, `"id":7`), true)
	}
	_, text = s.do(s.api, "GET", "/customers", "", "X-Ssn", "two")
	s.expect(text, "[]")
	answer, _ = s.do(s.api, "GET", "/people/one", "")
	s.expect(answer.StatusCode, 200)
	answer, _ = s.do(s.api, "DELETE", "/customers/7", "")
	s.expect(answer.StatusCode, 204)
	answer, _ = s.do(s.api, "GET", "/customers/7", "")
	s.expect(answer.StatusCode, 404)
}

func TestReplacingComparesStrongTags(t *testing.T) {
	s := start(t)
	s.do(s.api, "POST", "/customers", `{"id": 1}`)
	answer, _ := s.do(s.api, "GET", "/customers/1", "")
	tag := answer.Header.Get("ETag")
	answer, _ = s.do(s.api, "PUT", "/customers/1", `{"id": 1, "a": 1}`, "If-Match", "W/"+tag)
	s.expect(answer.StatusCode, 412)
	answer, _ = s.do(s.api, "PUT", "/customers/1", `{"id": 1, "a": 1}`, "If-Match", tag)
	s.expect(answer.StatusCode, 200)
	answer, _ = s.do(s.api, "GET", "/customers/1", "", "If-None-Match", answer.Header.Get("ETag"))
	s.expect(answer.StatusCode, 304)
}

func TestRequestsAreRememberedAsTheyCame(t *testing.T) {
	s := start(t)
	s.do(s.api, "POST", "/echo//a/./b?x=%20", "body", "X-Team", "billing")
	came := s.requests()[0]
	s.expect(came.Target, "/echo//a/./b?x=%20")
	s.expect(string(came.Body), "body")
	s.expect(came.Complete, true)
	s.expect(came.Headers.Get("X-Team"), "billing")
	s.do(s.control, "DELETE", "/requests", "")
	s.expect(len(s.requests()), 0)
}

func TestLongEchoComesBackWhileItIsSent(t *testing.T) {
	s := start(t)
	read, write := io.Pipe()
	// The head of the answer comes with the first piece.
	go func() { _, _ = write.Write([]byte("piece")) }()
	answer, err := http.Post(s.api.URL+"/echo", "text/plain", read)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	piece := make([]byte, 5)
	for range 3 {
		if _, err := io.ReadFull(answer.Body, piece); err != nil {
			t.Fatal(err)
		}
		s.expect(string(piece), "piece")
		_, _ = write.Write([]byte("piece"))
	}
	_, _ = io.ReadFull(answer.Body, piece)
	_ = write.Close()
	rest, _ := io.ReadAll(answer.Body)
	s.expect(len(rest), 0)
}

func TestAnswerWaitsForItsGateAndBreaks(t *testing.T) {
	s := start(t)
	s.do(s.control, "PUT", "/answers", `{"path": "/x", "status": 202, "headers": [["X-A", "1"], ["X-A", "2"]],
		"steps": [{"text": "ab"}, {"wait": "go", "repeat": "cd", "times": 100000, "open": "gone"}, {"reset": true}]}`)
	answer, err := http.Get(s.api.URL + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	s.expect(answer.StatusCode, 202)
	s.expect(len(answer.Header.Values("X-A")), 2)
	first := make([]byte, 2)
	_, _ = io.ReadFull(answer.Body, first)
	s.expect(string(first), "ab")
	s.do(s.control, "PUT", "/gates/go", "")
	rest, err := io.ReadAll(answer.Body)
	s.expect(errors.Is(err, io.ErrUnexpectedEOF), true)
	s.expect(string(rest), strings.Repeat("cd", 100000))
	s.do(s.control, "GET", "/gates/gone", "")
}

func TestWatchedTextsAreCounted(t *testing.T) {
	s := start(t)
	s.do(s.control, "PUT", "/watched", `{"under": "/echo/a", "texts": ["canary", "other"]}`)
	s.do(s.api, "POST", "/echo/a/b", `{"a": "a canary"}`)
	s.do(s.api, "POST", "/echo/b", `{"a": "a canary"}`)
	_, text := s.do(s.control, "GET", "/watched", "")
	s.expect(text, `{"canary":1,"other":0}`)
}

func TestShopSpeaksBothProtocolsOnAUnixSocket(t *testing.T) {
	// t.TempDir can be too long for a socket's path.
	folder, err := os.MkdirTemp("", "fieldveil")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "s")
	listener, err := open("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	serving := server(newShop().api())
	go func() { _ = serving.Serve(listener) }()
	defer func() { _ = serving.Close() }()
	for _, http2 := range []bool{false, true} {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(!http2)
		protocols.SetUnencryptedHTTP2(http2)
		transport := &http.Transport{Protocols: protocols}
		transport.Dial = func(string, string) (net.Conn, error) { return net.Dial("unix", path) }
		answer, err := (&http.Client{Transport: transport}).Post("http://shop/echo", "text/plain", bytes.NewBufferString("x"))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.ProtoMajor == 2 != http2 {
			t.Fatal(answer.Proto)
		}
	}
}
