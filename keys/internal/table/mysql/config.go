package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"os"

	driver "github.com/go-sql-driver/mysql"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

// maxCABytes has room for all authorities that there are.
const maxCABytes = 4 << 20

// Config parses a URL, or reads MYSQL_PWD where it has no password. Its parameters: socket, the path of a Unix socket;
// tls, which is true for a server that is verified, or skip-verify; ca, a file of authorities in the place of the
// system's.
func Config(flag, text string) (*driver.Config, error) {
	said, err := url.Parse(text)
	if err != nil || (said.Scheme != "mysql" && said.Scheme != "mariadb") || said.User.Username() == "" {
		// The parser's text may quote a password.
		return nil, fault.Input(flag, "not a connection URL", "write mysql://USER@HOST:PORT/DATABASE, or mysql://USER@/DATABASE?socket=PATH")
	}
	config := driver.NewConfig()
	config.User, config.Passwd = said.User.Username(), os.Getenv("MYSQL_PWD")
	if password, given := said.User.Password(); given {
		config.Passwd = password
	}
	if len(said.Path) > 1 {
		config.DBName = said.Path[1:]
	}
	config.Net, config.Addr = "tcp", said.Host
	if said.Port() == "" {
		config.Addr = said.Host + ":3306"
	}
	for name, values := range said.Query() {
		switch value := values[0]; name {
		case "socket":
			config.Net, config.Addr = "unix", value
		case "tls":
			if value != "true" && value != "skip-verify" {
				return nil, fault.Input(flag, "its parameter tls is neither true nor skip-verify", "name one of them, or leave it out for plain text")
			}
			config.TLSConfig = value
		case "ca":
			if config.TLS, err = trusting(flag, value, said.Hostname()); err != nil {
				return nil, err
			}
		default:
			return nil, fault.Input(flag, "the URL has a parameter that is not known", "socket, tls and ca are")
		}
	}
	return config, nil
}

// trusting verifies the server by the authorities in a file.
func trusting(flag, path, host string) (*tls.Config, error) {
	place := flag + ", ca=" + path
	text, err := regularfile.Read(path, maxCABytes)
	if err != nil {
		return nil, fault.Unreadable(place, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fault.Input(place, "it holds no certificate in PEM", "name the file of the authority that signed the server's")
	}
	return &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}, nil
}
