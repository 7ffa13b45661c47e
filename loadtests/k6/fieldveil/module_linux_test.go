package fieldveil

import (
	"strings"
	"testing"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modulestest"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"

	"github.com/fieldveil/fieldveil/loadtests/k6/run"
)

const closed = `({driver: "pgx", mode: "simple", dsn: "host=/no/such/folder user=app password=hunter2",
	workload: {kind: "fixed", clients: 1, operations: 3}, processes: {client: ["self"]}})`

// script is a virtual user with the extension as `fieldveil`, and the samples that k6 gets.
type script struct {
	t       *testing.T
	root    *root
	runtime *sobek.Runtime
	samples chan metrics.SampleContainer
}

func user(t *testing.T, shared *root) *script {
	t.Helper()
	runtime := modulestest.NewRuntime(t)
	registry := runtime.VU.InitEnvField.Registry
	instance := shared.NewModuleInstance(runtime.VU)
	samples := make(chan metrics.SampleContainer, 100)
	runtime.MoveToVUContext(&lib.State{
		BuiltinMetrics: runtime.BuiltinMetrics,
		Samples:        samples,
		Tags:           lib.NewVUStateTags(registry.RootTagSet()),
	})
	if err := runtime.VU.Runtime().Set("fieldveil", instance.Exports().Default); err != nil {
		t.Fatal(err)
	}
	return &script{t, shared, runtime.VU.Runtime(), samples}
}

func (script *script) run(code string) sobek.Value {
	script.t.Helper()
	value, err := script.runtime.RunString(code)
	if err != nil {
		script.t.Fatalf("%s: %v", code, err)
	}
	return value
}

func (script *script) fails(code, part string) {
	script.t.Helper()
	if _, err := script.runtime.RunString(code); err == nil || !strings.Contains(err.Error(), part) {
		script.t.Errorf("%s: %v, without %q", code, err, part)
	}
}

func (script *script) result() run.Result {
	script.t.Helper()
	found, ended := script.root.joined().Result()
	if !ended {
		script.t.Fatal("no result")
	}
	return found
}

func TestAClientsLife(t *testing.T) {
	script := user(t, &root{})
	script.fails(`fieldveil.result()`, "no client began")
	script.run(`const client = fieldveil.client(` + closed + `, 0, 1); client.ready()`)
	script.fails(`fieldveil.result()`, "did not end")
	script.run(`const seen = [];
		for (let call = client.next(); call >= 0; call = client.next()) { seen.push(call); client.done(call === 1 ? 10 : undefined) }
		fieldveil.expect(true, "an answer");
		client.end()`)
	if seen := script.run(`seen.join()`).String(); seen != "0,1,2" {
		t.Errorf("calls %s", seen)
	}
	if result := script.result(); result.Operations != 12 || result.Answers != 1 || result.Errors != 0 {
		t.Errorf("result %+v", result)
	}
	if operations := script.run(`JSON.parse(fieldveil.result()).operations`).ToInteger(); operations != 12 {
		t.Errorf("%d operations told to the script", operations)
	}
	told := script.told()
	if told["operations"] != 12 || told["answers"] != 1 || told["cpu_seconds client"] <= 0 ||
		told["resident_bytes client"] <= 0 || told["cpu_us_per_operation client"] <= 0 {
		t.Errorf("told k6 %v", told)
	}
	for _, name := range []string{"wrong_answers", "errors", "dropped_iterations"} {
		if value, is := told[name]; !is || value != 0 {
			t.Errorf("%s: %v, told %v", name, value, is)
		}
	}
}

// told is what k6 was told, by the metric's name and the process.
func (script *script) told() map[string]float64 {
	found := map[string]float64{}
	for _, container := range metrics.GetBufferedSamples(script.samples) {
		for _, sample := range container.GetSamples() {
			name := sample.Metric.Name
			if process, is := sample.Tags.Get("process"); is {
				name += " " + process
			}
			found[name] += sample.Value
		}
	}
	return found
}

func TestExpectLooksIntoValues(t *testing.T) {
	script := user(t, &root{})
	script.run(`const client = fieldveil.client(` + closed + `, 0, 1)`)
	for code, want := range map[string]bool{
		`1, 1`:                               true,
		`1, 1.0`:                             true,
		`1, "1"`:                             false,
		`null, null`:                         true,
		`null, undefined`:                    false,
		`"a", "a"`:                           true,
		`[], []`:                             true,
		`[1], [1, 2]`:                        false,
		`[1, 2], [1, 2]`:                     true,
		`[{a: 1, b: "x"}], [{b: "x", a: 1}]`: true,
		`[{a: 1}], [{a: 1, b: null}]`:        false,
		`[{a: 1}], [{b: 1}]`:                 false,
		`[{a: null}], [{a: null}]`:           true,
		`[{a: [1]}], [{a: [2]}]`:             false,
		`{0: 1}, [1]`:                        false,
		`[], null`:                           false,
	} {
		if got := script.run(`fieldveil.expect.equal(` + code + `, "it")`).ToBoolean(); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

func TestWhatWentWrongIsCountedAndToldWithoutValues(t *testing.T) {
	script := user(t, &root{})
	script.run(`const client = fieldveil.client(` + closed + `, 0, 1); client.ready()`)
	script.run(`fieldveil.expect(false, "the name"); fieldveil.expect.equal("Ann", "Bob", "the row")`)
	script.fails(`fieldveil.open(`+closed+`)`, "connect: ")
	script.run(`client.failed("thrown by the statement that is counted")`)
	script.run(`client.next(); client.failed("TypeError: '078-05-1120' is not a function"); client.end()`)
	result := script.result()
	if result.WrongAnswers != 2 || result.Errors != 2 {
		t.Errorf("counted %+v", result)
	}
	all := strings.Join(result.Failures, "\n")
	for _, part := range []string{"wrong answer: the name", "wrong answer: the row", "the script: TypeError: …"} {
		if !strings.Contains(all, part) {
			t.Errorf("%s: not told in %s", part, all)
		}
	}
	for _, value := range []string{"Ann", "1120", "hunter2", "counted"} {
		if strings.Contains(all, value) {
			t.Errorf("told: %s", all)
		}
	}
}

func TestACommandRunsToItsEnd(t *testing.T) {
	script := user(t, &root{})
	script.run(`const client = fieldveil.client(` + closed + `, 0, 1); client.ready(); client.next()`)
	script.run(`const done = fieldveil.command(["sh", "-c", "echo $WORD"], {env: {WORD: "said"}})`)
	if said := script.run(`done.stdout + typeof done.seconds`).String(); said != "said\nnumber" {
		t.Errorf("said %q", said)
	}
	script.fails(`fieldveil.command(["sh", "-c", "echo refused 4111 >&2; exit 3"])`, "sh ended with exit status 3: refused …")
	script.fails(`fieldveil.command(["/no/such/program"])`, "no such file")
	script.run(`client.done(); client.end()`)
	if result := script.result(); result.Errors != 2 || len(result.LatencyMicros) == 0 || len(result.SQLMicros) != 0 {
		t.Errorf("counted %+v: a program is no statement", result)
	}
}

func TestUsageIsReadableFromScripts(t *testing.T) {
	script := user(t, &root{})
	if !script.run(`const used = fieldveil.usage({client: ["self"]}).client;
		used.cpu_seconds > 0 && used.resident_bytes > 0 && used.context_switches >= 0`).ToBoolean() {
		t.Error("no usage")
	}
	script.fails(`fieldveil.usage({client: ["me"]})`, "none of pid:NUMBER")
}

func TestWorkThatCantBeReadIsRefused(t *testing.T) {
	script := user(t, &root{})
	script.fails(`fieldveil.client(null, 0, 1)`, "no work")
	script.fails(`fieldveil.client({workload: {clients: "eight"}}, 0, 1)`, "the work document")
	script.fails(`fieldveil.client({workload: {kind: "fixed", clients: 1}}, 0, 1)`, "workload.operations")
}

func TestUsersShareOneRun(t *testing.T) {
	shared := &root{}
	first, second := user(t, shared), user(t, shared)
	work := strings.Replace(closed, "clients: 1", "clients: 2", 1)
	first.run(`const client = fieldveil.client(` + work + `, 0, 2)`)
	second.run(`const client = fieldveil.client(` + work + `, 1, 2)`)
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		_, _ = first.runtime.RunString(`client.ready()`)
	}()
	second.run(`client.ready()`)
	<-ready
	if second.run(`client.next()`).ToInteger() != 1 || first.run(`client.next()`).ToInteger() != 0 {
		t.Error("not each its own calls")
	}
	first.run(`client.done(); client.end()`)
	if _, ended := shared.joined().Result(); ended {
		t.Error("a result before the last client ended")
	}
	second.run(`client.done(); client.end()`)
	if result := first.result(); result.Operations != 2 {
		t.Errorf("result %+v", result)
	}
}
