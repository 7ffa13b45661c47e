package main

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
)

// What RFC 6455 appends to a client's key.
const accepted = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// socket takes a WebSocket, and sends back whatever comes, frames and all.
func socket(w http.ResponseWriter, of *http.Request) {
	if of.Header.Get("Upgrade") != "websocket" {
		http.Error(w, "a WebSocket, please", http.StatusUpgradeRequired)
		return
	}
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	sum := sha1.Sum([]byte(of.Header.Get("Sec-WebSocket-Key") + accepted))
	_, _ = fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	_, _ = io.Copy(connection, buffered)
}
