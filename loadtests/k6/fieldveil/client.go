package fieldveil

import (
	"github.com/grafana/sobek"

	"github.com/fieldveil/fieldveil/loadtests/k6/database"
)

// newClient makes this virtual user a client of the run: of this number among all instances' clients, in an instance
// that has so many.
func (module *module) newClient(document sobek.Value, number, here int) (*sobek.Object, error) {
	work, err := read(document)
	if err != nil {
		return nil, err
	}
	joined, err := module.root.join(work, here)
	if err != nil {
		return nil, err
	}
	client := joined.Client(number)
	module.client = client
	runtime := module.vu.Runtime()
	object := runtime.NewObject()
	methods := map[string]func(sobek.FunctionCall) sobek.Value{
		// Waits for the other clients.
		"ready": func(sobek.FunctionCall) sobek.Value {
			if err := client.Ready(module.vu.Context()); err != nil {
				module.throw(err)
			}
			return sobek.Undefined()
		},
		// The number of the next call, or -1.
		"next": func(sobek.FunctionCall) sobek.Value {
			module.counted = false
			number, more := client.Next(module.vu.Context())
			if !more {
				number = -1
			}
			return runtime.ToValue(number)
		},
		// How many operations the call did; 1 where it says nothing.
		"done": func(call sobek.FunctionCall) sobek.Value {
			operations := 1.0
			if said := call.Argument(0); !sobek.IsUndefined(said) {
				operations = said.ToFloat()
			}
			client.Done(operations)
			return sobek.Undefined()
		},
		// What the script threw.
		"failed": func(call sobek.FunctionCall) sobek.Value {
			if !module.counted {
				joined.Tally.Error("the script: " + database.Redact(call.Argument(0).String()))
			}
			return sobek.Undefined()
		},
		"end": func(sobek.FunctionCall) sobek.Value {
			module.client = nil
			module.flush()
			if result := client.End(); result != nil {
				module.tell(result)
			}
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
