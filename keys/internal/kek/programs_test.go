package kek

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The real servers of these tests are among the project's tools.
const tools = "../../../.tools"

const (
	readyWithin  = time.Minute
	shortTimeout = 300 * time.Millisecond // of a call that nobody answers
)

// leash runs a program for as long as its own input is open, so that the program
// ends with these tests, however they end.
const leash = `"$@" & read -r _; kill -9 $!; wait $!`

// program is a server that runs until the tests of this package are over.
type program struct {
	input io.Closer
	shell *exec.Cmd
}

var programs struct {
	sync.Mutex
	running []*program
	folder  string
}

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	forgetSettings()
	folder, err := os.MkdirTemp("", "fieldveil-kek-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	programs.folder = folder
	defer func() {
		for _, p := range programs.running {
			p.input.Close()
			p.shell.Wait()
		}
	}()
	return m.Run()
}

// start runs a program until the tests are over, with its log in the folder.
func start(t *testing.T, name string, environment []string, command ...string) {
	t.Helper()
	if _, err := os.Stat(command[0]); err != nil {
		t.Fatalf("%s is missing: run make setup", command[0])
	}
	log, err := os.Create(filepath.Join(programs.folder, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	shell := exec.Command("sh", append([]string{"-c", leash, "sh"}, command...)...)
	shell.Env = append(os.Environ(), environment...)
	shell.Stdout, shell.Stderr = log, log
	input, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	programs.Lock()
	defer programs.Unlock()
	programs.running = append(programs.running, &program{input: input, shell: shell})
}

func waitUntil(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(readyWithin); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", readyWithin, what)
		}
	}
}

// freeAddress is one of this machine that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// silentAddress is one that takes connections and never answers.
func silentAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// forgetSettings keeps the settings of whoever runs the tests out of them.
func forgetSettings() {
	families := []string{"VAULT", "AWS", "GOOGLE", "CLOUDSDK", "FIELDVEIL"}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if family, _, _ := strings.Cut(name, "_"); slices.Contains(families, family) {
			os.Unsetenv(name)
		}
	}
	// Nobody's shared files, and no machine's role.
	os.Setenv("AWS_CONFIG_FILE", "/dev/null")
	os.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	os.Setenv("NO_PROXY", "127.0.0.1,localhost")
}
