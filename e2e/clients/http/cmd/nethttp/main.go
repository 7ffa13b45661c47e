// Command nethttp is Go's HTTP client: a request a line on standard input, its answer a line on standard output.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
)

type request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"`
}

type answer struct {
	Status   int         `json:"status"`
	Protocol string      `json:"protocol"`
	Headers  [][2]string `json:"headers"`
	Trailers [][2]string `json:"trailers"`
	Body     []byte      `json:"body"`
	// Where no whole answer came.
	Error string `json:"error"`
}

func main() {
	http2 := flag.Bool("http2", false, "speak HTTP/2 from the first byte")
	flag.Parse()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!*http2)
	protocols.SetUnencryptedHTTP2(*http2)
	client := &http.Client{
		Transport:     &http.Transport{Protocols: protocols},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	lines, told := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var next request
		if lines.Decode(&next) != nil {
			return
		}
		if err := told.Encode(ask(client, next)); err != nil {
			return
		}
	}
}

func ask(client *http.Client, what request) answer {
	var body io.Reader
	if what.Body != nil {
		body = bytes.NewReader(what.Body)
	}
	of, err := http.NewRequest(what.Method, what.URL, body)
	if err != nil {
		return answer{Error: err.Error()}
	}
	for name, value := range what.Headers {
		of.Header.Set(name, value)
	}
	came, err := client.Do(of)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer func() { _ = came.Body.Close() }()
	text, err := io.ReadAll(came.Body)
	result := answer{
		Status: came.StatusCode, Protocol: came.Proto, Headers: pairs(came.Header), Trailers: pairs(came.Trailer), Body: text,
	}
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

func pairs(headers http.Header) [][2]string {
	all := [][2]string{}
	for name, values := range headers {
		for _, value := range values {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}
