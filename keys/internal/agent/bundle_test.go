package agent

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestBundleIsServedAsTheFileIsNow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	server := httptest.NewServer(newBundleHandler(file, newMetrics(true)))
	defer server.Close()
	ask := func(method, path, ifNoneMatch string) (status int, etag, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("If-None-Match", ifNoneMatch)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, response.Header.Get("ETag"), string(text)
	}
	write := func(content string) {
		t.Helper()
		testfile.Write(t, file, content)
	}

	if status, _, _ := ask("GET", "/fieldveil.tar.gz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("without a file: %d", status)
	}
	write("one")
	status, first, body := ask("GET", "/fieldveil.tar.gz", "")
	if status != http.StatusOK || body != "one" || first == "" {
		t.Errorf("a file: %d, ETag %s, %q", status, first, body)
	}
	if status, _, body := ask("GET", "/fieldveil.tar.gz", first); status != http.StatusNotModified || body != "" {
		t.Errorf("unchanged: %d, %q", status, body)
	}
	write("two")
	if status, etag, body := ask("GET", "/fieldveil.tar.gz", first); status != http.StatusOK || body != "two" || etag == first {
		t.Errorf("changed: %d, ETag %s, %q", status, etag, body)
	}
	if status, _, _ := ask("GET", "/v1/keysets", ""); status != http.StatusNotFound {
		t.Errorf("keysets: %d", status)
	}
	if status, _, _ := ask("POST", "/fieldveil.tar.gz", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

func TestBundleIsServedOnTheLoopbackAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "localhost", "192.0.2.1:1", "[::]:0"} {
		if _, err := listenBundle(address); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", address, err)
		}
	}
	listener, err := listenBundle("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
}

func TestBundleAndItsAddressAreGivenTogether(t *testing.T) {
	for _, given := range [][2]string{{"bundle.tar.gz", ""}, {"", "127.0.0.1:0"}} {
		config := Defaults()
		config.PolicyBundle, config.PolicyAddress = given[0], given[1]
		if err := config.Check(); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%q: %v", given, err)
		}
	}
}
