package downstream

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// maxNames bounds what is told of a client's certificate. Rules of policy are about a few names.
const maxNames = 8 << 10

// certificate is whom a client's certificate names, as rules of policy ask for it.
type certificate struct {
	Subject string   `json:"subject"`
	DNS     []string `json:"dns"`
	URI     []string `json:"uri"`
	Email   []string `json:"email"`
}

// CertificateNames is what Envoy's filter is told of a client's certificate: whom it names, as JSON. Nothing where the
// client showed none.
type CertificateNames []byte

// NamesFollow takes the names' place where Envoy is needed before the client begins TLS: then the first packet that goes
// to Envoy has them, or null.
var NamesFollow = CertificateNames("follow")

// NamesOf gives those of the certificate that the client showed. It was verified when TLS began.
func NamesOf(client net.Conn) (CertificateNames, *peer.Refusal) {
	secure, isTLS := client.(*peer.Conn)
	if !isTLS {
		return nil, nil
	}
	chains := secure.ConnectionState().VerifiedChains
	if len(chains) == 0 {
		return nil, nil
	}
	shown := chains[0][0]
	subject, err := distinguishedName(shown.RawSubject)
	if err != nil {
		return nil, peer.Refuse(peer.ClientCertificate, "the client's certificate", "its subject can not be read ("+err.Error()+")", "show another")
	}
	told := certificate{subject, nonNil(shown.DNSNames), []string{}, nonNil(shown.EmailAddresses)}
	for _, uri := range shown.URIs {
		told.URI = append(told.URI, uri.String())
	}
	names, err := json.Marshal(told)
	switch {
	case err != nil:
		return nil, peer.Refuse(peer.ClientCertificate, "the client's certificate", "its names can not be told to Envoy ("+err.Error()+")", "show another")
	case len(names) > maxNames:
		return nil, peer.Refuse(peer.ClientCertificate, "the client's certificate", fmt.Sprintf("its names take more than %d bytes", maxNames), "show one with fewer names")
	}
	return names, nil
}

// distinguishedName is a subject as RFC 2253 writes it, part by part as the certificate has them: a pkix.Name holds one CN
// alone, and has an order of its own.
func distinguishedName(raw []byte) (string, error) {
	var parts pkix.RDNSequence
	if rest, err := asn1.Unmarshal(raw, &parts); err != nil || len(rest) > 0 {
		return "", errors.New("it is no sequence of names")
	}
	return parts.String(), nil
}

// nonNil has JSON write an empty list.
func nonNil(names []string) []string { return append([]string{}, names...) }
