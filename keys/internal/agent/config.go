package agent

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/spiffe"
)

// Config is what an agent is told.
type Config struct {
	Keysets string // the folder of encrypted keysets
	KeyURI  string // of the key-encryption key

	Socket         string   // path of the Unix socket to serve on
	AllowUIDs      []uint32 // users who are answered; none: the agent's own
	MetricsAddress string   // HOST:PORT for metrics and probes; "": only the socket
	MemoryLocked   bool     // what Harden told
	SpiffeSocket   string   // address of SPIFFE's Workload API; "": who runs here is not said

	PolicyBundle  string // the file of policies that OPA polls; "": none
	PolicyAddress string // HOST:PORT of the loopback for it

	Refresh    time.Duration // time between two scans of the folder, give or take a tenth
	KMSCheck   time.Duration // time between two openings of an unchanged keyset, give or take a tenth
	MaxOffline time.Duration // how long a keyset is served after the KMS last opened it
	MaxRefused time.Duration // the same after the KMS first said no

	TenantIdle time.Duration // how long a tenant's keysets stay open when nobody asks for them
	MaxTenants int           // how many tenants' names are open at once
}

// Defaults is what holds where nothing else is told.
func Defaults() Config {
	return Config{
		Refresh: 5 * time.Second, KMSCheck: 10 * time.Minute, MaxOffline: 24 * time.Hour, MaxRefused: 5 * time.Minute,
		TenantIdle: 15 * time.Minute, MaxTenants: 1000,
	}
}

// The limits of what can be asked for.
const (
	// MinRefresh keeps a slip of the pen from becoming a load on disk and KMS.
	MinRefresh = 100 * time.Millisecond
	// MostTenants keeps what is served within the names that a worker reads.
	MostTenants = maxAnswerNames - keystore.MaxKeysets
)

// Check refuses settings that could not work.
func (c *Config) Check() error {
	switch {
	case (c.PolicyBundle == "") != (c.PolicyAddress == ""):
		return fault.Input("--policy-bundle and --policy-address", "one without the other", "give both, or neither")
	case c.Refresh < MinRefresh:
		return tooShort("--refresh", c.Refresh, MinRefresh, "")
	case c.KMSCheck < c.Refresh:
		return tooShort("--kms-check", c.KMSCheck, c.Refresh, "--refresh ")
	case c.MaxOffline < 2*c.KMSCheck:
		return tooShort("--max-offline", c.MaxOffline, 2*c.KMSCheck, "twice --kms-check ")
	case c.MaxRefused < 0:
		return tooShort("--max-refused", c.MaxRefused, 0, "")
	case c.TenantIdle < 2*c.Refresh:
		return tooShort("--tenant-idle", c.TenantIdle, 2*c.Refresh, "twice --refresh ")
	case c.MaxTenants < 0 || c.MaxTenants > MostTenants:
		return fault.Input("--max-tenants "+strconv.Itoa(c.MaxTenants), "out of range", "use 0 to "+strconv.Itoa(MostTenants))
	}
	return spiffe.CheckSocket(c.SpiffeSocket)
}

func tooShort(flag string, given, least time.Duration, what string) error {
	return fault.Input(flag+" "+given.String(), "too short", fmt.Sprintf("use at least %s(%s)", what, least))
}

func (c *Config) allowedUIDs() []uint32 {
	if len(c.AllowUIDs) > 0 {
		return c.AllowUIDs
	}
	return []uint32{uint32(os.Geteuid())}
}

// unreachableUIDs are allowed and yet can not connect: the socket's mode lets
// in its owner, and root because root passes every mode.
func (c *Config) unreachableUIDs() []uint32 {
	own := uint32(os.Geteuid())
	return slices.DeleteFunc(slices.Clone(c.allowedUIDs()), func(uid uint32) bool { return uid == own || uid == 0 })
}
