package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/localsocket"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

const (
	// bundlePath is where OPA asks for the policies: the name that the build gives them.
	bundlePath = "/fieldveil.tar.gz"
	// maxBundleBytes is far above what a ConfigMap holds (1 MiB).
	maxBundleBytes = 32 << 20
)

// listenBundle makes the TCP socket of the policies. Only what shares the loopback is
// answered: a bundle has no secrets, and who reads it learns who sees what.
func listenBundle(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, fault.Input("--policy-address "+address, "not an address of the loopback", "use 127.0.0.1:PORT")
	}
	return localsocket.ListenTCP("--policy-address", address)
}

// newBundleHandler answers GET /fieldveil.tar.gz with the file as it is at that moment,
// and with an ETag of its content: OPA takes up a mounted file only when it starts, and
// polls a server. Whether the bundle is good is for OPA to find, by its signature.
func newBundleHandler(file string, m *metrics) paths {
	return paths{
		bundlePath: m.counted(bundlePath, readOnly(func(w http.ResponseWriter, r *http.Request) {
			serveBundle(w, r, file)
		})),
		other: m.counted(other, func(w http.ResponseWriter, _ *http.Request) {
			writeError(w, http.StatusNotFound, "there is no such path here")
		}),
	}
}

func serveBundle(w http.ResponseWriter, r *http.Request, file string) {
	content, err := regularfile.Read(file, maxBundleBytes)
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, "the bundle can not be read: "+err.Error())
		return
	}
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:]) + `"`
	w.Header().Set("ETag", etag)
	if matches(r.Header.Values("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodHead {
		return
	}
	// A peer that is gone needs no answer.
	_, _ = w.Write(content)
}
