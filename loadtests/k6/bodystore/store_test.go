package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func ask(t *testing.T, server *httptest.Server, method, path string, body io.Reader) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func started(t *testing.T) *httptest.Server {
	server := httptest.NewServer(newStore().handler())
	t.Cleanup(server.Close)
	return server
}

func TestBodyComesBackAsItWasSentWithOrWithoutItsLength(t *testing.T) {
	server := started(t)
	for _, body := range []string{"{}", strings.Repeat(`{"a":"CLEAR-1"}`, 100_000)} {
		for name, reader := range map[string]io.Reader{
			"with": strings.NewReader(body),
			// Of another type net/http does not know the length.
			"without": io.MultiReader(strings.NewReader(body)),
		} {
			status, said := ask(t, server, "POST", "/guarded/"+name, reader)
			want, _ := json.Marshal(look([]byte(body)))
			if status != http.StatusOK || said != string(want) {
				t.Errorf("%s: status %d, %s", name, status, said)
			}
			if _, found := ask(t, server, "GET", "/guarded/"+name, nil); found != body {
				t.Errorf("%s: %d bytes came back of %d", name, len(found), len(body))
			}
			if _, seen := ask(t, server, "GET", "/looks/guarded/"+name, nil); seen != said {
				t.Errorf("%s: a look says %s, it was answered %s", name, seen, said)
			}
		}
	}
}

func TestWritesAreCountedUntilTheyAreForgotten(t *testing.T) {
	server := started(t)
	for range 3 {
		ask(t, server, "POST", "/clear/one", strings.NewReader("{}"))
	}
	if _, counts := ask(t, server, "GET", "/counts", nil); counts != `{"clear/one":3}` {
		t.Error(counts)
	}
	ask(t, server, "DELETE", "/counts", nil)
	if _, counts := ask(t, server, "GET", "/counts", nil); counts != `{}` {
		t.Error(counts)
	}
	if status, _ := ask(t, server, "GET", "/clear/one", nil); status != http.StatusOK {
		t.Error("the body is forgotten too")
	}
}

func TestBodyThatIsNotThereIsNotFound(t *testing.T) {
	server := started(t)
	for _, path := range []string{"/clear/none", "/looks/clear/none"} {
		if status, _ := ask(t, server, "GET", path, nil); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
}
