package bridge

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var run = commandtest.Of(New)

func TestBadInputIsOneLineStatusTwoAndChangesNothing(t *testing.T) {
	folder := testfile.Folder(t)
	socket, missing := filepath.Join(folder, "s"), filepath.Join(folder, "none")
	testfile.Write(t, filepath.Join(folder, "empty.pem"), "")
	before := commandtest.Content(t, folder)
	good := []string{"bridge", "--protocol", "postgres", "--listen", socket, "--server", "db.example.com:5432"}
	for _, arguments := range [][]string{
		{"--protocol", ""}, {"--protocol", "oracle"}, {"--protocol", "mysql", "--direct-tls"},
		{"--listen", ""}, {"--listen", "0.0.0.0:5432"}, {"--listen", "localhost:5432"}, {"--listen", missing + "/s"},
		{"--server", ""}, {"--server", "db.example.com"}, {"--server", ":5432"}, {"--server", "db.example.com:0"}, {"--server", "db:70000"},
		{"--verify", "require"}, {"--verify", "disable"}, {"--ca", filepath.Join(folder, "empty.pem")},
		{"--client-key", missing}, {"--client-certificate", missing},
		{"--allow-uid", "root"}, {"--allow-uid", "4294967295"}, {"--listen", "127.0.0.1:0", "--allow-uid", "1"},
		{"--connect-timeout", "1"}, {"--handshake-timeout", "0s"}, {"--drain-timeout", "48h"}, {"--first-packet-timeout", "-1s"},
		{"--max-connections", "0"}, {"--metrics-address", "nowhere"}, {"more"},
	} {
		run.WantBadInput(t, "", append(slices.Clip(good), arguments...)...)
	}
	fromClients := []string{"bridge", "from-clients", "--protocol", "postgres", "--listen", socket, "--envoy", missing, "--certificate", missing, "--key", missing}
	for _, arguments := range [][]string{
		{"--protocol", ""}, {"--protocol", "oracle"}, {"--direct-tls"}, {"--protocol", "mysql", "--pass-scram"}, {"--listen", ""}, {"--envoy", ""}, {"--envoy", "10.0.0.1:5432"},
		{"--envoy", "localhost:5432"}, {"--certificate", ""}, {"--key", ""}, {"--client-certificates", "none"}, {"--max-connections", "0"}, {"more"},
	} {
		run.WantBadInput(t, "", append(slices.Clip(fromClients), arguments...)...)
	}
	if commandtest.Content(t, folder) != before {
		t.Error("something changed")
	}
}
