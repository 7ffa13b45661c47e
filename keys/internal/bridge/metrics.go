package bridge

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

const namespace = "fieldveil_bridge"

type metrics struct {
	handler      http.Handler
	open         prometheus.Gauge
	handshakes   prometheus.Counter
	failures     *prometheus.CounterVec
	serverExpiry *prometheus.GaugeVec
	peersRefused prometheus.Counter
	plain        prometheus.Counter // where clients' TLS ends
	registry     *prometheus.Registry
}

// newMetrics takes what the bridge's own certificate is called.
func newMetrics(credentials *peer.Credentials, certificate string) *metrics {
	m := &metrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "connections", Help: "Clients' connections that are open.",
		}),
		handshakes: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "handshakes_total", Help: "Connections whose session began within TLS.",
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "failures_total", Help: "Connections that were refused before that, by reason.",
		}, []string{"reason"}),
		// A vector without labels: it has no value before the first handshake.
		serverExpiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Name: "server_certificate_expiry_timestamp_seconds",
			Help: "When the certificate expires that the server showed last.",
		}, nil),
		peersRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "peers_refused_total", Help: "Connections to the socket by users that are not allowed.",
		}),
	}
	for _, cause := range peer.Causes() { // what has not happened yet is a zero and no gap
		m.failures.WithLabelValues(string(cause))
	}
	unusable := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "credential_files_refused",
		Help: "1 if the files of certificates, as the last handshake found them, could not be used and the former content is.",
	}, func() float64 {
		if credentials.Problem() != nil {
			return 1
		}
		return 0
	})
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.open, m.handshakes, m.failures, m.serverExpiry, m.peersRefused, unusable,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if !credentials.Expiry().IsZero() {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: certificate + "_expiry_timestamp_seconds", Help: "When the bridge's own certificate expires.",
		}, func() float64 { return float64(credentials.Expiry().Unix()) }))
	}
	m.registry = registry
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// countPlain counts clients without TLS.
func (m *metrics) countPlain() {
	m.plain = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Name: "plain_connections_total", Help: "Connections that clients began without TLS.",
	})
	m.registry.MustRegister(m.plain)
}

func (m *metrics) establishedWithServer(connection *peer.Conn) {
	m.handshakes.Inc()
	m.serverExpiry.WithLabelValues().Set(float64(connection.ConnectionState().PeerCertificates[0].NotAfter.Unix()))
}
