package redirect

import (
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

const (
	sidecarUID = 10101
	appUID     = 1000
)

func rules(ports ...Port) *Rules { return &Rules{Ports: ports, ExceptUIDs: []uint32{sidecarUID}} }

func (p *pod) apply(rules *Rules) {
	p.Helper()
	if err := rules.Apply(); err != nil {
		p.Fatal(err)
	}
}

func TestConnectionsOfAllButTheSidecarGoToItsListener(t *testing.T) {
	p := newPod(t)
	p.listen("tcp4", "127.0.0.1:15432", "sidecar")
	p.wants(appUID, serverIPv4+":5432", "server")

	p.apply(rules(Port{5432, 15432}))
	p.wants(appUID, serverIPv4+":5432", "sidecar")
	p.wants(0, serverIPv4+":5432", "sidecar")
	p.wants(sidecarUID, serverIPv4+":5432", "server")
	p.wants(appUID, serverIPv4+":8080", "server")
}

func TestIPv6IsLedToTheListenerOrRefusedAndNeverPasses(t *testing.T) {
	p := newPod(t)
	p.listen("tcp4", "127.0.0.1:15432", "sidecar")
	p.wants(appUID, serverIPv6+":5432", "server")

	p.apply(rules(Port{5432, 15432}))
	p.wants(appUID, serverIPv6+":5432", refused)
	p.wants(sidecarUID, serverIPv6+":5432", "server")
	p.listen("tcp6", "[::1]:15432", "sidecar over IPv6")
	p.wants(appUID, serverIPv6+":5432", "sidecar over IPv6")
}

func TestNothingPassesWhileNobodyListens(t *testing.T) {
	p := newPod(t)
	p.apply(rules(Port{5432, 15432}))
	p.wants(appUID, serverIPv4+":5432", refused)
}

func TestConnectionsWithinThePodAreLeftAloneUnlessTheyAreIncluded(t *testing.T) {
	p := newPod(t)
	p.listen("tcp4", "127.0.0.1:15432", "sidecar")
	p.listen("tcp4", "127.0.0.1:5432", "own")
	p.listen("tcp4", podIPv4+":5432", "own")
	p.apply(rules(Port{5432, 15432}))
	p.wants(appUID, "127.0.0.1:5432", "own")
	p.wants(appUID, podIPv4+":5432", "own")

	all := rules(Port{5432, 15432})
	all.Loopback = true
	p.apply(all)
	p.wants(appUID, "127.0.0.1:5432", "sidecar")
	p.wants(appUID, podIPv4+":5432", "sidecar")
	p.wants(sidecarUID, "127.0.0.1:5432", "own")
	p.wants(appUID, serverIPv4+":5432", "sidecar")
}

func TestListenerMayHaveAPortThatIsRedirectedItself(t *testing.T) {
	p := newPod(t)
	p.listen("tcp4", "127.0.0.1:8080", "first")
	p.listen("tcp4", "127.0.0.1:5432", "second")
	p.apply(rules(Port{5432, 8080}, Port{8080, 5432}))
	p.wants(appUID, serverIPv4+":5432", "first")
	p.wants(appUID, serverIPv4+":8080", "second")
}

func TestRulesReplaceEarlierOnesAndTouchNoOthers(t *testing.T) {
	p := newPod(t)
	p.listen("tcp4", "127.0.0.1:15432", "sidecar")
	p.table("others")
	both, one := rules(Port{5432, 15432}, Port{8080, 15432}), rules(Port{5432, 15432})
	p.apply(both)
	p.wants(appUID, serverIPv4+":8080", "sidecar")
	p.apply(both)
	p.apply(one)
	p.wants(appUID, serverIPv4+":8080", "server")
	p.wants(appUID, serverIPv4+":5432", "sidecar")
	connection := &nftables.Conn{}
	tables, err := connection.ListTables()
	if err != nil || len(tables) != 2 || tables[0].Name != "others" {
		t.Error(tables, err)
	}
}

// What address translation never sees goes neither to the sidecar nor to the server.
func TestConnectionsThatAreNotTrackedAreRefused(t *testing.T) {
	p := newPod(t)
	p.listen("tcp4", "127.0.0.1:15432", "sidecar")
	p.apply(rules(Port{5432, 15432}))
	p.table("untracked", &expr.Notrack{})
	p.wants(appUID, serverIPv4+":5432", refused)
	p.wants(appUID, serverIPv6+":5432", refused)
	p.wants(sidecarUID, serverIPv4+":5432", "server")
}

func TestVerifyToldWhatIsNotAsItShouldBe(t *testing.T) {
	p := newPod(t)
	wanted := rules(Port{5432, 15432})
	verify := func(rules *Rules, reason string) {
		t.Helper()
		err := rules.Verify()
		if fault.ExitStatus(err) != fault.ExitFailure || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	verify(wanted, "there are no such rules")
	p.apply(wanted)
	if err := wanted.Verify(); err != nil {
		t.Error(err)
	}
	verify(rules(Port{5432, 15433}), "not those that were asked for")
	verify(rules(Port{5432, 15432}, Port{8080, 15432}), "not those that were asked for")
	verify(&Rules{Ports: wanted.Ports, ExceptUIDs: []uint32{sidecarUID, 0}}, "not those that were asked for")
	verify(&Rules{Ports: wanted.Ports, ExceptUIDs: wanted.ExceptUIDs, Loopback: true}, "not those that were asked for")

	// A rule of others in the table can let everything pass.
	connection := &nftables.Conn{}
	own := &nftables.Table{Name: Table, Family: nftables.TableFamilyINet}
	connection.InsertRule(&nftables.Rule{Table: own, Chain: &nftables.Chain{Name: "redirected", Table: own}, Exprs: []expr.Any{accept()}})
	if err := connection.Flush(); err != nil {
		t.Fatal(err)
	}
	verify(wanted, "not those that were asked for")
	connection.FlushChain(&nftables.Chain{Name: "refused", Table: own})
	connection.DelChain(&nftables.Chain{Name: "refused", Table: own})
	if err := connection.Flush(); err != nil {
		t.Fatal(err)
	}
	verify(wanted, "other chains")
	p.apply(wanted)
}

func TestWithoutTheCapabilityItSaysWhichIsMissing(t *testing.T) {
	newPod(t)
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		t.Fatal(err)
	}
	wanted := rules(Port{5432, 15432})
	for _, act := range []func() error{wanted.Apply, wanted.Verify} {
		if err := act(); fault.ExitStatus(err) != fault.ExitFailure || !strings.Contains(err.Error(), "NET_ADMIN") {
			t.Error(err)
		}
	}
}

func TestKernelWithoutATheirPartIsToldApart(t *testing.T) {
	for number, reason := range map[unix.Errno]string{
		unix.EPROTONOSUPPORT: "Linux 5.2", unix.EOPNOTSUPP: "Linux 5.2", unix.ENOENT: "Linux 5.2",
		unix.EPERM: "NET_ADMIN", unix.ENOMEM: "cannot allocate memory",
	} {
		if err := explain(number); fault.ExitStatus(err) != fault.ExitFailure || !strings.Contains(err.Error(), reason) {
			t.Error(err)
		}
	}
}
