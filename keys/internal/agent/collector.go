package agent

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// collector reads the state when it is asked. Labels name keysets for all, of
// which a folder has 256 at most; those of tenants are only counted.
type collector struct{ state *state }

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

var (
	descReady      = description("ready", "1 if every configured keyset is open.")
	descConfigured = description("keysets_configured", "Names that the folder holds, tenants' aside.")
	descOpen       = description("keysets_open", "Names whose keysets are open, tenants' aside.")
	descTenants    = description("tenants_open", "Tenants' names whose keysets are open.")
	descNotTaken   = description("keyset_files_refused", "1 if a keyset's files are not taken up as they are now: they can't be read, or the KMS or a check refuses them.", "keyset")
	descTenantBad  = description("tenant_files_refused", "Tenants' names whose files are refused so.")
	descFolder     = description("folder_problem", "1 if the folder of keysets could not be read, or a look at it does not end.")
	descScanned    = description("last_look_seconds", "Time since a look at the folder last ended. It is looked at every --refresh.")
	descSince      = description("keyset_last_opened_seconds", "Time since the KMS last opened the keyset.", "keyset")
	descIdentity   = description("spiffe_id_known", "1 if the SPIFFE id of the workload is known. There with --spiffe-socket alone.")
	descRefused    = description("keyset_refused_seconds", "Time since the KMS has refused the open keyset; 0 if it has not.", "keyset")
	descAnswered   = description("kms_last_answer_seconds", "Time since the KMS last answered, whatever it said. It is asked every --kms-check.")
	descOffline    = description("kms_offline_seconds", "Time since the KMS has not answered; 0 if it answered last time.")
	descAge        = description("key_age_seconds", "Time since the key was made, where the folder says when.", "keyset", "purpose", "key_id", "primary")
	descTenantAge  = description("tenant_key_age_max_seconds", "Age of the oldest primary key among tenants' open keysets.")
)

func (c collector) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, to) }

func (c collector) Collect(to chan<- prometheus.Metric) {
	r := c.state.report()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	var configured, open, tenants, tenantsRefused, oldest float64
	for _, k := range r.keysets {
		if k.tenant {
			tenants += one(k.open)
			tenantsRefused += one(k.notTaken)
			for _, p := range k.purposes {
				oldest = max(oldest, p.age(p.primaryKeyID, r.now.Add(r.ahead)))
			}
			continue
		}
		configured++
		open += one(k.open)
		gauge(descNotTaken, one(k.notTaken), k.name)
		if !k.open {
			continue
		}
		gauge(descSince, r.now.Sub(k.lastOpened).Seconds(), k.name)
		if k.refusedSince.IsZero() {
			gauge(descRefused, 0, k.name)
		} else {
			gauge(descRefused, r.now.Sub(k.refusedSince).Seconds(), k.name)
		}
		for purpose, p := range k.purposes {
			for keyID := range p.created {
				gauge(descAge, p.age(keyID, r.now.Add(r.ahead)), k.name, string(purpose),
					strconv.FormatUint(uint64(keyID), 10), strconv.FormatBool(keyID == p.primaryKeyID))
			}
		}
	}
	gauge(descReady, one(r.ready))
	if r.asksIdentity {
		gauge(descIdentity, one(r.spiffeID != ""))
	}
	gauge(descConfigured, configured)
	gauge(descOpen, open)
	gauge(descTenants, tenants)
	gauge(descTenantBad, tenantsRefused)
	gauge(descTenantAge, oldest)
	gauge(descFolder, one(r.folder != nil))
	gauge(descScanned, r.now.Sub(r.scannedAt).Seconds())
	gauge(descOffline, r.offlineSeconds())
	if !r.answeredAt.IsZero() {
		gauge(descAnswered, r.now.Sub(r.answeredAt).Seconds())
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
