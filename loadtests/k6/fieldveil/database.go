package fieldveil

import (
	"fmt"
	"time"

	"github.com/grafana/sobek"

	"github.com/fieldveil/fieldveil/loadtests/k6/database"
)

// The greatest integer that a JavaScript number holds with all before it.
const maxSafeInteger = 1<<53 - 1

// open connects, and gives the connection's methods. They take what sobek hands over as it is: conversion by
// reflection would cost more than the statement does here.
func (module *module) open(document sobek.Value) (*sobek.Object, error) {
	work, err := read(document)
	if err != nil {
		return nil, err
	}
	db, err := database.Open(module.vu.Context(), work.Driver, work.Mode, work.DSN)
	if err != nil {
		module.throw(fmt.Errorf("connect: %w", err))
	}
	runtime := module.vu.Runtime()
	object := runtime.NewObject()
	methods := map[string]func(sobek.FunctionCall) sobek.Value{
		"query":   func(call sobek.FunctionCall) sobek.Value { return module.query(db, call) },
		"exec":    func(call sobek.FunctionCall) sobek.Value { return module.exec(db, call) },
		"digest":  func(call sobek.FunctionCall) sobek.Value { return module.digest(db, call) },
		"copyOut": func(call sobek.FunctionCall) sobek.Value { return module.copyOut(db, call) },
		"copyIn":  func(call sobek.FunctionCall) sobek.Value { return module.copyIn(db, call) },
		"close": func(sobek.FunctionCall) sobek.Value {
			if err := db.Close(); err != nil {
				module.throw(err)
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

func (module *module) query(db *database.Database, call sobek.FunctionCall) sobek.Value {
	statement, arguments := module.statement(call, 1)
	began := time.Now()
	rows, err := db.Query(module.vu.Context(), statement, arguments)
	module.timed(module.metrics.sqlDuration, began, int64(len(rows.Cells)))
	if err != nil {
		module.throw(err)
	}
	runtime := module.vu.Runtime()
	found := make([]any, len(rows.Cells))
	for i, cells := range rows.Cells {
		row := runtime.NewObject()
		for j, cell := range cells {
			if number, is := cell.(int64); is && (number > maxSafeInteger || number < -maxSafeInteger) {
				cell = fmt.Sprint(number)
			}
			_ = row.Set(rows.Columns[j], cell)
		}
		found[i] = row
	}
	return runtime.NewArray(found...)
}

func (module *module) exec(db *database.Database, call sobek.FunctionCall) sobek.Value {
	statement, arguments := module.statement(call, 1)
	began := time.Now()
	changed, err := db.Exec(module.vu.Context(), statement, arguments)
	module.timed(module.metrics.sqlDuration, began, changed)
	if err != nil {
		module.throw(err)
	}
	return module.vu.Runtime().ToValue(changed)
}

func (module *module) digest(db *database.Database, call sobek.FunctionCall) sobek.Value {
	statement, arguments := module.statement(call, 2)
	var columns []string
	if err := module.vu.Runtime().ExportTo(call.Argument(1), &columns); err != nil {
		module.throw(fmt.Errorf("digest's second argument: the names of columns, or null for all"))
	}
	began := time.Now()
	rows, digest, err := db.Digest(module.vu.Context(), statement, columns, arguments)
	module.timed(module.metrics.sqlDuration, began, rows)
	if err != nil {
		module.throw(err)
	}
	return module.object(map[string]any{"rows": rows, "digest": digest})
}

func (module *module) copyOut(db *database.Database, call sobek.FunctionCall) sobek.Value {
	path := ""
	if said := call.Argument(1); !sobek.IsUndefined(said) {
		path = said.String()
	}
	began := time.Now()
	done, err := db.CopyOut(module.vu.Context(), call.Argument(0).String(), path)
	module.timed(module.metrics.sqlDuration, began, done.Rows)
	if err != nil {
		module.throw(err)
	}
	return module.object(map[string]any{"rows": done.Rows, "bytes": done.Bytes, "digest": done.Digest})
}

func (module *module) copyIn(db *database.Database, call sobek.FunctionCall) sobek.Value {
	began := time.Now()
	done, err := db.CopyIn(module.vu.Context(), call.Argument(0).String(), call.Argument(1).String())
	module.timed(module.metrics.sqlDuration, began, done.Rows)
	if err != nil {
		module.throw(err)
	}
	return module.object(map[string]any{"rows": done.Rows, "bytes": done.Bytes})
}

func (module *module) object(fields map[string]any) sobek.Value {
	object := module.vu.Runtime().NewObject()
	for name, value := range fields {
		_ = object.Set(name, value)
	}
	return object
}

// statement is a call's SQL, and its arguments from a position on.
func (module *module) statement(call sobek.FunctionCall, first int) (string, []any) {
	if len(call.Arguments) <= first {
		return call.Argument(0).String(), nil
	}
	arguments := make([]any, len(call.Arguments)-first)
	for i, value := range call.Arguments[first:] {
		switch exported := value.Export().(type) {
		case nil, bool, int64, float64, string, []byte:
			arguments[i] = exported
		case sobek.ArrayBuffer:
			arguments[i] = exported.Bytes()
		default:
			module.throw(fmt.Errorf("argument %d of a statement is of another type than null, boolean, number, text, bytes", i+1))
		}
	}
	return call.Argument(0).String(), arguments
}
