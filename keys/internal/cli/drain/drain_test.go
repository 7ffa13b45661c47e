package drain

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestDrainAsksTheAdminInterfaceAndSaysWhetherItDid(t *testing.T) {
	folder := testfile.Folder(t)
	socket := filepath.Join(folder, "admin.sock")
	drain := func(flags ...string) int {
		status, _, _ := commandtest.Of(New)(t, append([]string{"drain"}, flags...)...)
		return status
	}

	if status := drain("--admin", socket); status != 1 {
		t.Errorf("without Envoy: exit status %d", status)
	}
	if status := drain(); status != 2 {
		t.Errorf("without a socket's name: exit status %d", status)
	}

	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	asked, answer := "", http.StatusOK
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path
		w.WriteHeader(answer)
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()

	if status := drain("--admin", socket); status != 0 || asked != "POST /healthcheck/fail" {
		t.Errorf("exit status %d after %q", status, asked)
	}
	answer = http.StatusBadRequest
	if status := drain("--admin", socket); status != 1 {
		t.Errorf("refused: exit status %d", status)
	}

	// As Envoy does, it leaves the socket behind.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	server.Close()
	if status := drain("--admin", socket); status != 0 {
		t.Errorf("after Envoy's end: exit status %d", status)
	}
}
