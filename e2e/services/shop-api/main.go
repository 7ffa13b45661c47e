// Command shop-api is a small web shop's API: customers, orders and documents in JSON, in memory.
//
// It is what stands behind the sidecar in tests. It remembers what it got, and a second socket, which no client of the
// shop can reach, tells that, and says what to answer where a test needs an answer of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// shop is all that both sockets share.
type shop struct {
	requests  *requests
	customers *records
	orders    *records
	documents *documents
	answers   *answers
	watched   *watched
}

func newShop() *shop {
	return &shop{
		requests:  &requests{},
		customers: newRecords(),
		orders:    newRecords(),
		documents: newDocuments(),
		answers:   newAnswers(),
		watched:   &watched{},
	}
}

func main() {
	listen := flag.String("listen", "", "where the shop listens: ADDRESS:PORT, or unix:PATH")
	control := flag.String("control", "", "where its tests speak to it, likewise")
	flag.Parse()
	if err := run(*listen, *control); err != nil {
		log.Fatal(err)
	}
}

func run(listen, control string) error {
	shop := newShop()
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	failed := make(chan error, 2)
	for at, handler := range map[string]http.Handler{listen: shop.api(), control: shop.control()} {
		listener, err := open(at)
		if err != nil {
			return fmt.Errorf("can't listen: %w", err)
		}
		go func() { failed <- server(handler).Serve(listener) }()
	}
	select {
	case err := <-failed:
		return err
	case <-stop.Done():
		return nil
	}
}

func open(at string) (net.Listener, error) {
	if path, is := strings.CutPrefix(at, "unix:"); is {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return net.Listen("unix", path)
	}
	return net.Listen("tcp", at)
}

// server speaks HTTP/1.1 and, to who begins with it, HTTP/2, both in clear.
func server(handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		ReadHeaderTimeout: time.Minute,
		// A broken connection is what tests are about; it is no news.
		ErrorLog: log.New(new(silent), "", 0),
	}
}

type silent struct{}

func (*silent) Write(p []byte) (int, error) { return len(p), nil }
