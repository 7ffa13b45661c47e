package downstream

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
)

func TestSubjectIsWrittenPartByPartAsTheCertificateHasThem(t *testing.T) {
	part := func(value string, oid ...int) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: oid, Value: value}}
	}
	commonName := func(value string) pkix.RelativeDistinguishedNameSET { return part(value, 2, 5, 4, 3) }
	organization, unit := part("shop", 2, 5, 4, 10), func(value string) pkix.RelativeDistinguishedNameSET { return part(value, 2, 5, 4, 11) }
	for want, parts := range map[string]pkix.RDNSequence{
		"CN=settle,O=shop":                    {organization, commonName("settle")},
		"O=shop,CN=settle":                    {commonName("settle"), organization},
		"CN=settle,O=shop,CN=attacker":        {commonName("attacker"), organization, commonName("settle")},
		"CN=settle,OU=b,OU=a":                 {unit("a"), unit("b"), commonName("settle")},
		"OU=a+OU=b":                           {append(unit("b"), unit("a")...)},
		`CN=settle\,O=shop`:                   {commonName("settle,O=shop")},
		"0.9.2342.19200300.100.1.1=#13027531": {part("u1", 0, 9, 2342, 19200300, 100, 1, 1)},
		"":                                    {},
	} {
		raw, err := asn1.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := distinguishedName(raw); err != nil || got != want {
			t.Errorf("%q, %v, not %q", got, err, want)
		}
	}
	if got, err := distinguishedName([]byte("CN=settle")); err == nil {
		t.Errorf("%q", got)
	}
}
