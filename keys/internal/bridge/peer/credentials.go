package peer

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

// maxFileBytes is some times the size of a system's bundle of all public authorities (about 250 KB).
const maxFileBytes = 4 << 20

// Files are the PEM files that the bridge verifies its peer with and shows itself by.
type Files struct {
	CA          string // authorities to trust; "": none are named
	Certificate string // the bridge's own certificate, with its chain; "": none
	Key         string // its private key
}

// Credentials are what the files held when they last fitted together. The files are read anew for each handshake, and
// parsed where they changed. A change that can not be used leaves the former content in use.
type Credentials struct {
	files  Files
	own    Own
	logger *slog.Logger

	mutex   sync.Mutex
	loaded  bool // the files were usable once
	read    [3][]byte
	current Material
	problem error
}

// Material is what one handshake uses.
type Material struct {
	Authorities *x509.CertPool // nil: no file was named
	Certificate *tls.Certificate
}

// Own gives the bridge's own certificate with its key, where no files have it.
type Own func() (*tls.Certificate, error)

// OpenCredentials reads the files for the first time, when they have to be usable.
func OpenCredentials(files Files, own Own, logger *slog.Logger) (*Credentials, error) {
	c := &Credentials{files: files, own: own, logger: logger}
	if _, err := c.take(); err != nil {
		return nil, err
	}
	c.material()
	return c, c.problem
}

// Expiry is when the bridge's own certificate expires; none has the zero time.
func (c *Credentials) Expiry() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	shown := c.material().Certificate
	if shown == nil {
		return time.Time{}
	}
	return shown.Leaf.NotAfter
}

// HasAuthorities says whether the peer's certificate is verified by authorities of a file.
func (c *Credentials) HasAuthorities() bool { return c.files.CA != "" }

// Problem says why the files as they are now can not be used; nil if they are in use.
func (c *Credentials) Problem() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.problem
}

// Latest gives what the next handshake uses.
func (c *Credentials) Latest() Material {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	before := c.problem
	changed, err := c.take()
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		c.logger.Error("the changed files can not be used; the former content stays in use", "error", err.Error())
	case err == nil && (changed || before != nil):
		c.logger.Info("certificates read anew", "ca", c.files.CA, "certificate", c.files.Certificate)
	}
	c.problem = err
	return c.material()
}

func (c *Credentials) material() Material {
	if c.own == nil {
		return c.current
	}
	shown, err := c.own()
	if err != nil {
		c.problem = err // the last one stays in use
		return c.current
	}
	c.current.Certificate = shown
	return c.current
}

// take reads the files, and uses them if they changed and fit together.
func (c *Credentials) take() (changed bool, err error) {
	var read [3][]byte
	changed = !c.loaded // an empty file is no change, and has to be refused
	for i, path := range []string{c.files.CA, c.files.Certificate, c.files.Key} {
		if path == "" {
			continue
		}
		if read[i], err = regularfile.Read(path, maxFileBytes); err != nil {
			return false, fault.Unreadable(path, err)
		}
		changed = changed || !bytes.Equal(read[i], c.read[i])
	}
	if !changed {
		return false, nil
	}
	parsed, err := c.parse(read)
	if err != nil {
		return false, err
	}
	if c.own != nil {
		parsed.Certificate = c.current.Certificate
	}
	c.loaded, c.read, c.current = true, read, parsed
	return true, nil
}

func (c *Credentials) parse(read [3][]byte) (Material, error) {
	var m Material
	if c.files.CA != "" {
		var err error
		if m.Authorities, err = authorities(read[0]); err != nil {
			return m, fault.Input(c.files.CA, err.Error(), "use a file with whole PEM blocks of the type CERTIFICATE")
		}
	}
	if c.files.Certificate == "" {
		return m, nil
	}
	pair, err := tls.X509KeyPair(read[1], read[2])
	if err != nil {
		// The text names PEM types and what does not fit, and nothing of the key.
		return m, fault.Input(c.files.Certificate+" and "+c.files.Key, "they are no certificate with its key ("+err.Error()+")",
			"use a certificate with its chain and the private key that belongs to it, both as PEM")
	}
	m.Certificate = &pair
	return m, nil
}

// authorities reads all of a file: one of which a part can not be read may be half-written.
func authorities(file []byte) (*x509.CertPool, error) {
	pool, read := x509.NewCertPool(), 0
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("a certificate of an authority in it can not be read")
		}
		pool.AddCert(certificate)
		read++
	}
	switch begun := bytes.Count(file, []byte("-----BEGIN CERTIFICATE-----")); {
	case begun != read:
		return nil, errors.New("a certificate of an authority in it is not whole")
	case read == 0:
		return nil, errors.New("it holds no certificate of an authority")
	}
	return pool, nil
}
