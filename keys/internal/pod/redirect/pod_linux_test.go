package redirect

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

const (
	podIPv4, serverIPv4 = "10.77.0.1", "10.77.0.2"
	podIPv6, serverIPv6 = "[fd77::1]", "[fd77::2]"

	refused = "refused"
)

// pod is a network namespace of the test's own, with a cable to another one, where a
// server answers on two ports. The test's thread is in it, and ends with the test.
type pod struct{ *testing.T }

func newPod(t *testing.T) *pod {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no `ip` (iproute2) to lay the cable with")
	}
	p := &pod{t}
	server := make(chan int)
	laid, ready := make(chan bool), make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends with the goroutine, and is nobody else's.
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			close(server)
			return
		}
		server <- unix.Gettid()
		<-laid
		ready <- errors.Join(ip("link set lo up"), cable("db", serverIPv4, serverIPv6),
			p.serve("tcp", ":5432", "server"), p.serve("tcp", ":8080", "server"))
	}()
	runtime.LockOSThread()
	thread, made := <-server
	if !made {
		t.Skip("network namespaces can not be made here")
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(ip("link set lo up"), ip("link add pod type veth peer name db netns "+strconv.Itoa(thread)), cable("pod", podIPv4, podIPv6))
	close(laid)
	if err := errors.Join(err, <-ready); err != nil {
		t.Fatal(err)
	}
	return p
}

func cable(device, ipv4, ipv6 string) error {
	return errors.Join(ip("address add "+ipv4+"/24 dev "+device), ip("address add "+strings.Trim(ipv6, "[]")+"/64 dev "+device+" nodad"),
		ip("link set "+device+" up"))
}

func ip(words string) error {
	said, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput()
	if err != nil {
		return errors.New("ip " + words + ": " + string(said))
	}
	return nil
}

func (p *pod) listen(network, address, name string) {
	p.Helper()
	if err := p.serve(network, address, name); err != nil {
		p.Fatal(err)
	}
}

// serve answers with its name, in the thread's namespace, until the test ends.
func (p *pod) serve(network, address, name string) error {
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	p.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Write([]byte(name))
			connection.Close()
		}
	}()
	return nil
}

// wants connects as a user and compares who answers.
func (p *pod) wants(uid int, address, name string) {
	p.Helper()
	if got := ask(uid, address); got != name {
		p.Errorf("user %d to %s: %s, not %s", uid, address, got, name)
	}
}

func ask(uid int, address string) string {
	// A socket's user is the thread's for files, when it is made.
	if _, err := unix.SetfsuidRetUid(uid); err != nil {
		return err.Error()
	}
	// The first packets over a new cable may be lost.
	connection, err := net.DialTimeout("tcp", address, 10*time.Second)
	_, _ = unix.SetfsuidRetUid(0)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return refused
	}
	if err != nil {
		return err.Error()
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(10 * time.Second))
	name, err := io.ReadAll(connection)
	if err != nil {
		return err.Error()
	}
	return string(name)
}

// table is another's table, whose one rule, if any, comes before all translation.
func (p *pod) table(name string, exprs ...expr.Any) {
	p.Helper()
	connection := &nftables.Conn{}
	table := connection.AddTable(&nftables.Table{Name: name, Family: nftables.TableFamilyINet})
	chain := connection.AddChain(&nftables.Chain{
		Table: table, Name: "output", Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityRaw,
	})
	connection.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: exprs})
	if err := connection.Flush(); err != nil {
		p.Fatal(err)
	}
}
