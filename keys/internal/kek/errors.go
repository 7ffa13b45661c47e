package kek

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// AllowHTTPVariable names the environment variable that allows to reach a KMS
// on another machine without TLS: where a service mesh encrypts.
const AllowHTTPVariable = "FIELDVEIL_KMS_ALLOW_HTTP"

// maxReason bounds, in characters, what is passed on of a KMS's own words.
const maxReason = 300

const wrongKEK = "give the key-encryption key that it was made with"

// away says that the KMS gives no answer that could be relied on.
func away(keyURI string, err error) *fault.Fault {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return fault.Failure("key URI "+keyURI, "the KMS is away (its certificate is not trusted: "+shortened(untrusted.Err.Error())+")",
			"give the authority that issued it as this KMS's clients take it")
	}
	return awayBecause(keyURI, transportReason(err))
}

func awayBecause(keyURI, reason string) *fault.Fault {
	return fault.Failure("key URI "+keyURI, "the KMS is away ("+shortened(reason)+")",
		"see that it runs and can be reached from here, and try again")
}

// refused says that the KMS has answered, and the answer is no.
func refused(keyURI, reason, remedy string) *fault.Fault {
	return fault.Input("key URI "+keyURI, "the KMS refuses ("+shortened(reason)+")", remedy)
}

func malformed(keyURI, form string) *fault.Fault {
	return fault.Input("key URI "+keyURI, "not of the form "+form, "write it so")
}

// transportReason is why a call had no answer, without the address of the call,
// which would repeat the key URI.
func transportReason(err error) string {
	var request *url.Error
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "no answer in time"
	case errors.As(err, &request):
		return request.Err.Error()
	}
	return err.Error()
}

// checkEndpoint refuses to send keysets and credentials over a network in clear.
func checkEndpoint(place, address string) error {
	endpoint, err := url.Parse(address)
	switch {
	case err != nil || endpoint.Scheme != "https" && endpoint.Scheme != "http" || endpoint.Host == "":
		return fault.Input(place, "not an address", "write https://HOST[:PORT]")
	case endpoint.Scheme == "https", isLoopback(endpoint.Hostname()), os.Getenv(AllowHTTPVariable) == "true":
		return nil
	}
	return fault.Input(place, "keysets or credentials would go to "+endpoint.Host+" in clear text",
		"use https; or, where something else encrypts the way there, set "+AllowHTTPVariable+"=true")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// shortened is a KMS's own words on one line, bounded.
func shortened(reason string) string {
	reason = strings.Join(strings.Fields(strings.ToValidUTF8(reason, "?")), " ")
	if runes := []rune(reason); len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return reason
}
