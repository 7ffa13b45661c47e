package fieldveil

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/grafana/sobek"

	"github.com/fieldveil/fieldveil/loadtests/k6/database"
	"github.com/fieldveil/fieldveil/loadtests/k6/web"
)

// An answer that is no longer is handed to the script as text too.
const textual = 4096

// files are those that are sent, each read once for all clients.
type files struct {
	mutex sync.Mutex
	held  map[string][]byte
}

func (files *files) read(path string) ([]byte, error) {
	files.mutex.Lock()
	defer files.mutex.Unlock()
	if body, is := files.held[path]; is {
		return body, nil
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("a body's file: %w", err)
	}
	if files.held == nil {
		files.held = map[string][]byte{}
	}
	files.held[path] = body
	return body, nil
}

// http gives a client of the work's service: exchange(method, path, file) sends a request, with a file as its body where
// one is named, and gives {status, bytes, digest, text}. What is timed ends with the answer's last byte.
func (module *module) http(document sobek.Value) (*sobek.Object, error) {
	work, err := read(document)
	if err != nil {
		return nil, err
	}
	client := web.Open(work.Socket, work.Headers)
	object := module.vu.Runtime().NewObject()
	methods := map[string]func(sobek.FunctionCall) sobek.Value{
		"exchange": func(call sobek.FunctionCall) sobek.Value { return module.exchange(client, call) },
		"close": func(sobek.FunctionCall) sobek.Value {
			client.Close()
			return sobek.Undefined()
		},
	}
	for name, method := range methods {
		if err := object.Set(name, method); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (module *module) exchange(client *web.Client, call sobek.FunctionCall) sobek.Value {
	var body []byte
	if said := call.Argument(2); !sobek.IsUndefined(said) && !sobek.IsNull(said) {
		read, err := module.root.files.read(said.String())
		if err != nil {
			module.throw(err)
		}
		body = read
	}
	began := time.Now()
	answer, err := client.Exchange(module.vu.Context(), call.Argument(0).String(), call.Argument(1).String(), body)
	module.timed(module.metrics.requestDuration, began, 0)
	if err != nil {
		module.throw(fmt.Errorf("a request: %s", database.Redact(err.Error())))
	}
	digest := sha256.Sum256(answer.Body)
	found := map[string]any{
		"status": answer.Status,
		"bytes":  len(answer.Body),
		"digest": hex.EncodeToString(digest[:]),
	}
	if len(answer.Body) <= textual {
		found["text"] = string(answer.Body)
	}
	return module.object(found)
}
