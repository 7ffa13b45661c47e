package downstream

import (
	"encoding/json"
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
	told := certificate{shown.Subject.String(), nonNil(shown.DNSNames), []string{}, nonNil(shown.EmailAddresses)}
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

// nonNil has JSON write an empty list.
func nonNil(names []string) []string { return append([]string{}, names...) }
