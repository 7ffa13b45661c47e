package agent

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const namespace = "fieldveil_agent"

// metrics counts what happens. What is now, the collector reads from the state.
type metrics struct {
	handler      http.Handler
	registry     *prometheus.Registry
	kmsCalls     *prometheus.HistogramVec
	requests     *prometheus.CounterVec
	tenants      *prometheus.CounterVec
	peersRefused prometheus.Counter
}

func newMetrics(memoryLocked bool) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		kmsCalls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "kms_call_duration_seconds",
			Help:    "Calls to the KMS by outcome: ok, refused (it said no), unavailable (it did not answer).",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"outcome"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_total", Help: "Requests answered, by path and status code.",
		}, []string{"path", "code"}),
		tenants: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "tenant_requests_total",
			Help: "Tenants' keysets asked for: open, absent, closed (there, and not open), too_many (--max-tenants), no_room (the answer is full).",
		}, []string{"outcome"}),
		peersRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "peers_refused_total", Help: "Connections to the socket by users that are not allowed.",
		}),
	}
	// What has not happened yet is a zero and no gap.
	for _, o := range []outcome{answered, refused, unavailable} {
		m.kmsCalls.WithLabelValues(string(o))
	}
	for _, o := range []tenantOutcome{tenantOpen, tenantAbsent, tenantClosed, tenantTooMany, tenantNoRoom} {
		m.tenants.WithLabelValues(string(o))
	}
	locked := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "memory_locked", Help: "1 if all memory of the process is locked, 0 if only open keysets may be.",
	})
	if memoryLocked {
		locked.Set(1)
	}
	unlocked := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "keyset_unlocked_bytes", Help: "Bytes of open keysets in pages that the kernel did not lock.",
	}, func() float64 { return float64(unlockedBytes.Load()) })
	m.registry.MustRegister(m.kmsCalls, m.requests, m.tenants, m.peersRefused, locked, unlocked,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) observeKMS(o outcome, took time.Duration) {
	m.kmsCalls.WithLabelValues(string(o)).Observe(took.Seconds())
}

func (m *metrics) countTenants(counts map[tenantOutcome]int) {
	for o, count := range counts {
		m.tenants.WithLabelValues(string(o)).Add(float64(count))
	}
}

// counted counts the answers of one path; a path that is none of ours is no label.
func (m *metrics) counted(path string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		coded := &codedWriter{ResponseWriter: w, code: http.StatusOK}
		next(coded, r)
		m.requests.WithLabelValues(path, strconv.Itoa(coded.code)).Inc()
	}
}

type codedWriter struct {
	http.ResponseWriter
	code int
}

func (w *codedWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}
