package agent

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// stranger is a user that no test runs as.
const stranger = 65533

func TestPeerThatIsNotAllowedIsClosedUnreadAndTold(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.config.AllowUIDs = []uint32{stranger}
	f.config.MetricsAddress = freeAddress(t)
	a := f.startUnready()
	for range 3 {
		if _, err := a.client.Get("http://agent/v1/keysets"); err == nil {
			t.Error("answered")
		}
	}
	if n := strings.Count(a.log.String(), "peer refused"); n == 0 {
		t.Errorf("not a log line:\n%s", a.log)
	}
	if !strings.Contains(a.log.String(), "does not let connect") {
		t.Errorf("no warning of a user who can never connect:\n%s", a.log)
	}
	a.base = "http://" + f.config.MetricsAddress
	if refused := a.metric("peers_refused_total"); refused != "3" {
		t.Errorf("%s refusals are counted", refused)
	}
}

// Even with a socket that anybody may open, the kernel's word of who connects counts.
func TestAnotherUserIsRefusedWhoeverTheSocketLetsIn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	f := newFixture(t)
	f.create("pii")
	f.config.AllowUIDs = []uint32{0, stranger - 1}
	a := f.start()
	if err := as(stranger, f.config.Socket); err != unix.EACCES {
		t.Errorf("past mode 0600: %v", err)
	}
	for _, path := range []string{f.config.Socket, f.config.Keysets + "/.."} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := as(stranger, f.config.Socket); err != unix.ECONNRESET {
		t.Errorf("a stranger's request: %v", err)
	}
	a.until("/metrics", func(answer) bool { return a.metric("peers_refused_total") == "1" })
	if !strings.Contains(a.log.String(), `"uid":65533`) {
		t.Errorf("the log does not tell who:\n%s", a.log)
	}
	if err := as(stranger-1, f.config.Socket); err != nil {
		t.Errorf("an allowed user's request: %v", err)
	}
}

// as asks for the keysets as another user. A thread of its own changes its user,
// and ends with that.
func as(uid uintptr, socket string) error {
	said := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if _, _, err := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); err != 0 {
			said <- err
			return
		}
		said <- ask(socket)
	}()
	return <-said
}

// ask gives the error of the system call that failed, or ECONNRESET if nothing is
// answered.
func ask(socket string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte("GET /v1/keysets HTTP/1.0\r\n\r\n")); err == unix.EPIPE {
		return unix.ECONNRESET
	} else if err != nil {
		return err
	}
	answer := make([]byte, 12)
	n, err := unix.Read(fd, answer)
	if err == nil && string(answer[:n]) != "HTTP/1.0 200" {
		return unix.ECONNRESET
	}
	return err
}

func TestKeysetsAreNeverServedOverTCP(t *testing.T) {
	f := newFixture(t)
	f.create("pii")
	f.config.MetricsAddress = freeAddress(t)
	a := f.start()
	a.base = "http://" + f.config.MetricsAddress
	for path, status := range map[string]int{"/livez": 200, "/readyz": 200, "/metrics": 200, "/v1/keysets": 404, "/": 404} {
		if got := a.get(path, ""); got.status != status || strings.Contains(got.body, "keyData") {
			t.Errorf("%s: status %d", path, got.status)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
