package agent

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestConnectionBeyondTheLimitWaitsForAPlace(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := limit(inner, 2)
	for range 3 {
		if _, err := net.Dial("tcp", inner.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan net.Conn)
	ended := make(chan error)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- connection
		}
	}()
	first := <-accepted
	<-accepted
	select {
	case <-accepted:
		t.Error("a third is taken")
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	first.Close() // gives one place back
	<-accepted
	listener.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ends with %v", err)
	}
}

func TestConnectionsLeaveDescriptorsToOthers(t *testing.T) {
	for _, descriptors := range []uint64{64, 256, 1024, 1 << 20, math.MaxUint64} {
		socket, status := within(descriptors)
		if socket < 1 || status < 1 || uint64(socket+status) > descriptors*5/8 && descriptors < 1<<20 {
			t.Errorf("of %d descriptors %d and %d", descriptors, socket, status)
		}
	}
	if socket, status := within(1 << 20); socket != maxConnections || status != maxStatusConnections {
		t.Errorf("at most %d and %d", socket, status)
	}
}

func TestIdleConnectionsToTheMetricsPortKeepNobodyOut(t *testing.T) {
	f := newFixture(t)
	f.config.MetricsAddress = freeAddress(t)
	f.create("pii")
	a := f.start()
	begun := time.Now()
	for range maxStatusConnections {
		connection, err := net.Dial("tcp", f.config.MetricsAddress)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprint(connection, "GET /livez HTTP/1.1\r\nHost: agent\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(connection), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.get("/v1/keysets", ""); got.status != 200 {
		t.Errorf("the socket: status %d", got.status)
	}
	response, err := (&http.Client{Timeout: 2 * statusIdleTimeout}).Get("http://" + f.config.MetricsAddress + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if waited := time.Since(begun); waited < statusIdleTimeout {
		t.Errorf("answered after %v, though all places are taken", waited)
	}
}
