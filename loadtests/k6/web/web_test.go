package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// serve answers at a Unix socket, and tells how many connections there were.
func serve(t *testing.T, handler http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	// t.TempDir can be too long for a socket's path.
	folder, err := os.MkdirTemp("", "fieldveil")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Int64
	server := &http.Server{Handler: handler, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return path, &connections
}

func TestOneConnectionCarriesAllRequestsWithTheirHeadersAndBodies(t *testing.T) {
	path, connections := serve(t, func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		said := request.Method + " " + request.URL.Path + " " + request.Header.Get("X-User") + " " + string(body)
		// Compression would change what is measured.
		_, _ = io.WriteString(answer, said+request.Header.Get("Accept-Encoding"))
	})
	client := Open(path, map[string]string{"x-user": "app"})
	defer client.Close()
	for range 3 {
		for body, want := range map[string]string{"": "GET /a app ", "{}": "POST /a app {}"} {
			method, sent := "GET", []byte(nil)
			if body != "" {
				method, sent = "POST", []byte(body)
			}
			got, err := client.Exchange(context.Background(), method, "/a", sent)
			if err != nil || got.Status != http.StatusOK || string(got.Body) != want {
				t.Fatalf("%d %q, %v", got.Status, got.Body, err)
			}
		}
	}
	if connections.Load() != 1 {
		t.Errorf("%d connections", connections.Load())
	}
}

func TestLongAnswersComeWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 500_000)
	path, _ := serve(t, func(answer http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/length" {
			answer.Header().Set("Content-Length", strconv.Itoa(len(long)))
		}
		_, _ = io.WriteString(answer, long)
	})
	client := Open(path, nil)
	defer client.Close()
	for _, at := range []string{"/length", "/chunks", "/length"} {
		if got, err := client.Exchange(context.Background(), "GET", at, nil); err != nil || string(got.Body) != long {
			t.Errorf("%s: %d bytes, %v", at, len(got.Body), err)
		}
	}
}

func TestAnswerThatBreaksOffIsAnError(t *testing.T) {
	path, _ := serve(t, func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(answer, "{")
	})
	client := Open(path, nil)
	defer client.Close()
	if _, err := client.Exchange(context.Background(), "GET", "/", nil); err == nil {
		t.Error("one byte of ten is taken for an answer")
	}
}

func TestRedirectionIsAnAnswer(t *testing.T) {
	path, _ := serve(t, func(answer http.ResponseWriter, request *http.Request) {
		http.Redirect(answer, request, "/elsewhere", http.StatusFound)
	})
	client := Open(path, nil)
	defer client.Close()
	if got, err := client.Exchange(context.Background(), "GET", "/", nil); err != nil || got.Status != http.StatusFound {
		t.Errorf("status %d, %v", got.Status, err)
	}
}
