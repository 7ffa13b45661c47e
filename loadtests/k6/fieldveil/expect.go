package fieldveil

import "github.com/grafana/sobek"

// expect counts answers: expect(ok, what), and expect.equal(got, want, what), which looks into arrays and objects. The
// text says what was looked at; the value never stands in what is told.
func (module *module) expect() *sobek.Object {
	runtime := module.vu.Runtime()
	count := func(right bool, what sobek.Value) sobek.Value {
		if joined := module.root.joined(); joined != nil {
			if right {
				joined.Tally.Answer()
			} else {
				joined.Tally.Wrong(what.String())
			}
		}
		return runtime.ToValue(right)
	}
	expect := runtime.ToValue(func(call sobek.FunctionCall) sobek.Value {
		return count(call.Argument(0).ToBoolean(), call.Argument(1))
	}).ToObject(runtime)
	_ = expect.Set("equal", func(call sobek.FunctionCall) sobek.Value {
		return count(equal(call.Argument(0), call.Argument(1)), call.Argument(2))
	})
	return expect
}

func equal(got, want sobek.Value) bool {
	if got.StrictEquals(want) {
		return true
	}
	first, isObject := got.(*sobek.Object)
	second, wantsObject := want.(*sobek.Object)
	if !isObject || !wantsObject || first.ClassName() != second.ClassName() {
		return false
	}
	names := first.Keys()
	if len(names) != len(second.Keys()) {
		return false
	}
	for _, name := range names {
		value := second.Get(name)
		if value == nil || !equal(first.Get(name), value) {
			return false
		}
	}
	return true
}
