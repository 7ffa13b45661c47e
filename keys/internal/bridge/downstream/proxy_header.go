package downstream

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// What a header of the PROXY protocol, version 2, consists of
// (https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt, section 2.2).
const (
	proxySignature = "\r\n\r\n\x00\r\nQUIT\n"
	proxyLocal     = 0x20 // version 2, LOCAL: no address is told
	proxyProxied   = 0x21 // version 2, PROXY
	proxyTCP4      = 0x11
	proxyTCP6      = 0x21
)

// proxyHeader tells the client's address and the one that it connected to. A Unix socket has none: then Envoy keeps what
// it knows of the connection itself.
func proxyHeader(client, listener net.Addr) []byte {
	header := []byte(proxySignature)
	from, to, ok := addresses(client, listener)
	if !ok {
		return append(header, proxyLocal, 0, 0, 0)
	}
	family := byte(proxyTCP6)
	if from.Addr().Is4() {
		family = proxyTCP4
	}
	header = append(header, proxyProxied, family)
	header = binary.BigEndian.AppendUint16(header, uint16(len(from.Addr().AsSlice())*2+4))
	header = append(append(header, from.Addr().AsSlice()...), to.Addr().AsSlice()...)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(header, from.Port()), to.Port())
}

// addresses gives both ends of a TCP connection, in one family.
func addresses(client, listener net.Addr) (from, to netip.AddrPort, ok bool) {
	tcpFrom, isTCP := client.(*net.TCPAddr)
	if !isTCP {
		return from, to, false
	}
	from, to = tcpFrom.AddrPort(), listener.(*net.TCPAddr).AddrPort()
	// A listener of both families gives IPv4 within IPv6.
	from, to = netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	return from, to, true
}
