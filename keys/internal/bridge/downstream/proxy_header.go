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
	// The type of the value that tells whom the client's certificate names, of those that everybody may use
	// (PP2_TYPE_MIN_CUSTOM).
	proxyCertificate = 0xe0
)

// proxyHeader tells the client's address, the one that it connected to, and whom its certificate names, if it showed one.
// A Unix socket has no address: then Envoy keeps what it knows of the connection itself.
func proxyHeader(client, listener net.Addr, names CertificateNames) []byte {
	header := []byte(proxySignature)
	from, to, ok := addresses(client, listener)
	if !ok {
		return append(append(header, proxyLocal, 0), lengthened(tlv(names))...)
	}
	family := byte(proxyTCP6)
	if from.Addr().Is4() {
		family = proxyTCP4
	}
	ends := append(from.Addr().AsSlice(), to.Addr().AsSlice()...)
	ends = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(ends, from.Port()), to.Port())
	return append(append(header, proxyProxied, family), lengthened(append(ends, tlv(names)...))...)
}

// tlv is the value that tells the names, if there are any.
func tlv(names CertificateNames) []byte {
	if names == nil {
		return nil
	}
	return append([]byte{proxyCertificate}, lengthened(names)...)
}

// lengthened has its length before it. The names are bounded, so that two bytes hold it.
func lengthened(content []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(content))), content...)
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
