package downstream

import (
	"net"
	"testing"
)

func TestProxyHeaderTellsBothEndsInTheirFamilyAndNothingOfAUnixSocket(t *testing.T) {
	tcp := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	for name, c := range map[string]struct {
		client, listener net.Addr
		names            CertificateNames
		want             string
	}{
		"IPv4": {tcp("192.0.2.7", 0x1234), tcp("192.0.2.1", 5432), nil,
			"\x21\x11\x00\x0c" + "\xc0\x00\x02\x07\xc0\x00\x02\x01" + "\x12\x34\x15\x38"},
		"IPv4 within IPv6": {tcp("::ffff:192.0.2.7", 1), tcp("::ffff:192.0.2.1", 2), nil,
			"\x21\x11\x00\x0c" + "\xc0\x00\x02\x07\xc0\x00\x02\x01" + "\x00\x01\x00\x02"},
		"IPv6": {tcp("2001:db8::7", 1), tcp("2001:db8::1", 2), nil,
			"\x21\x21\x00\x24" + "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07" +
				"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x01\x00\x02"},
		"a Unix socket": {&net.UnixAddr{}, &net.UnixAddr{Name: "/run/s"}, nil, "\x20\x00\x00\x00"},
		"IPv4 with a certificate": {tcp("192.0.2.7", 1), tcp("192.0.2.1", 2), CertificateNames("{}"),
			"\x21\x11\x00\x11" + "\xc0\x00\x02\x07\xc0\x00\x02\x01" + "\x00\x01\x00\x02" + "\xe0\x00\x02{}"},
		"a Unix socket with a certificate": {&net.UnixAddr{}, &net.UnixAddr{Name: "/run/s"}, CertificateNames("{}"),
			"\x20\x00\x00\x05" + "\xe0\x00\x02{}"},
	} {
		if got := string(proxyHeader(c.client, c.listener, c.names)); got != "\r\n\r\n\x00\r\nQUIT\n"+c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
