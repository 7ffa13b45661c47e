// Package web is one client of an HTTP service: one connection, kept alive, over a Unix socket.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Longer answers than that are no bodies of a load test.
const longest = 1 << 30

// Client asks one request after the other.
type Client struct {
	http    *http.Client
	headers map[string]string
	// Taken anew by each answer.
	room bytes.Buffer
}

// Answer is what came. Its body is valid until the client's next request.
type Answer struct {
	Status int
	Body   []byte
}

// Open is a client of the service at a Unix socket, which says these headers with each request.
func Open(socket string, headers map[string]string) *Client {
	dialer := net.Dialer{}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
		MaxConnsPerHost: 1,
		// What comes is looked at as it came.
		DisableCompression: true,
		ReadBufferSize:     64 << 10,
		WriteBufferSize:    64 << 10,
	}
	client := &http.Client{
		Transport: transport,
		// A redirection is an answer too.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Client{http: client, headers: headers}
}

// Close ends the connection.
func (client *Client) Close() {
	client.http.CloseIdleConnections()
}

// Exchange sends a request and reads its answer to the end. A body is sent as JSON; none where it is nil.
func (client *Client) Exchange(ctx context.Context, method, path string, body []byte) (Answer, error) {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://service"+path, sent)
	if err != nil {
		return Answer{}, fmt.Errorf("a request that can't be made: its method or path is wrong")
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range client.headers {
		request.Header.Set(name, value)
	}
	response, err := client.http.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	client.room.Reset()
	if length := response.ContentLength; length > 0 && length <= longest {
		// With what bytes.Buffer wants beyond, so that it does not grow.
		client.room.Grow(int(length) + bytes.MinRead)
	}
	read, err := client.room.ReadFrom(io.LimitReader(response.Body, longest+1))
	if err == nil && read > longest {
		err = errors.New("an answer longer than a load test has")
	}
	if err != nil {
		return Answer{}, fmt.Errorf("an answer that broke off: %w", err)
	}
	return Answer{response.StatusCode, client.room.Bytes()}, nil
}
