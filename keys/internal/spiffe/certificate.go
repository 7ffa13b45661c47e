package spiffe

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"github.com/spiffe/go-spiffe/v2/workloadapi"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// patience is how long the Workload API may take to say who runs here.
const patience = time.Minute

// Certificate gives the workload's default X.509-SVID with its key, as the Workload API said it last: it is followed until
// stop. It waits for the first one.
func Certificate(ctx context.Context, address string) (own func() (*tls.Certificate, error), stop func(), err error) {
	first, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	source, err := workloadapi.NewX509Source(first, workloadapi.WithClientOptions(workloadapi.WithAddr(address)))
	if err != nil {
		return nil, nil, fault.Failure("--spiffe-socket", "the Workload API gave no certificate ("+fault.OneLine(err.Error())+")",
			"see that SPIRE's agent runs, that its socket is mounted here, and that this workload is registered")
	}
	get := tlsconfig.GetCertificate(source)
	return func() (*tls.Certificate, error) { return get(nil) }, func() { source.Close() }, nil
}
