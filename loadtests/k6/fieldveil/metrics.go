package fieldveil

import (
	"time"

	"go.k6.io/k6/metrics"

	"github.com/fieldveil/fieldveil/loadtests/k6/run"
)

// So many samples of statements and requests go to k6 at once.
const batch = 256

// sqlMetrics is what k6 is told. Units stand in the names.
type sqlMetrics struct {
	sqlDuration, requestDuration                                *metrics.Metric
	operations, rows, answers, wrongAnswers, errors             *metrics.Metric
	cpuSeconds, cpuPerOperation, residentBytes, contextSwitches *metrics.Metric
	waiting                                                     metrics.Samples
	flushed                                                     time.Time
	read                                                        int64
}

func register(registry *metrics.Registry) (*sqlMetrics, error) {
	made := &sqlMetrics{}
	for _, wanted := range []struct {
		into **metrics.Metric
		name string
		kind metrics.MetricType
	}{
		{&made.sqlDuration, "sql_duration_us", metrics.Trend},
		{&made.requestDuration, "request_duration_us", metrics.Trend},
		{&made.operations, "operations", metrics.Counter},
		{&made.rows, "rows", metrics.Counter},
		{&made.answers, "answers", metrics.Counter},
		{&made.wrongAnswers, "wrong_answers", metrics.Counter},
		{&made.errors, "errors", metrics.Counter},
		{&made.cpuSeconds, "cpu_seconds", metrics.Counter},
		{&made.cpuPerOperation, "cpu_us_per_operation", metrics.Gauge},
		{&made.residentBytes, "resident_bytes", metrics.Gauge},
		{&made.contextSwitches, "context_switches", metrics.Counter},
	} {
		metric, err := registry.NewMetric(wanted.name, wanted.kind)
		if err != nil {
			return nil, err
		}
		*wanted.into = metric
	}
	return made, nil
}

// timed counts a statement or a request, and tells k6 of it by its metric, where its call counts.
func (module *module) timed(metric *metrics.Metric, began time.Time, rows int64) {
	now := time.Now()
	if module.client == nil {
		return
	}
	module.client.Statement(now.Sub(began))
	if !module.client.Measured() {
		return
	}
	micros := float64(now.Sub(began).Nanoseconds()) / 1e3
	told := module.metrics
	told.read += rows
	told.waiting = append(told.waiting, module.sample(metric, now, micros))
	if len(told.waiting) >= batch || now.Sub(told.flushed) > time.Second {
		module.flush()
	}
}

func (module *module) flush() {
	told := module.metrics
	now := time.Now()
	if told.read > 0 {
		told.waiting = append(told.waiting, module.sample(told.rows, now, float64(told.read)))
	}
	if len(told.waiting) > 0 {
		module.push(told.waiting)
	}
	told.waiting, told.read, told.flushed = nil, 0, now
}

// tell gives k6 the whole result, as the metrics of one moment.
func (module *module) tell(result *run.Result) {
	now := time.Now()
	told := module.metrics
	samples := metrics.Samples{
		module.sample(told.operations, now, float64(result.Operations)),
		module.sample(told.answers, now, float64(result.Answers)),
		module.sample(told.wrongAnswers, now, float64(result.WrongAnswers)),
		module.sample(told.errors, now, float64(result.Errors)),
		module.sample(module.vu.State().BuiltinMetrics.DroppedIterations, now, float64(result.Dropped)),
	}
	for name, usage := range result.Usage {
		values := map[*metrics.Metric]float64{
			told.cpuSeconds:      usage.CPUSeconds,
			told.residentBytes:   float64(usage.ResidentBytes),
			told.contextSwitches: float64(usage.ContextSwitches),
		}
		if result.Operations > 0 {
			values[told.cpuPerOperation] = usage.CPUSeconds * 1e6 / float64(result.Operations)
		}
		for metric, value := range values {
			sample := module.sample(metric, now, value)
			sample.Tags = sample.Tags.With("process", name)
			samples = append(samples, sample)
		}
	}
	module.push(samples)
}

func (module *module) sample(metric *metrics.Metric, at time.Time, value float64) metrics.Sample {
	tags := module.vu.State().Tags.GetCurrentValues().Tags
	return metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: metric, Tags: tags}, Time: at, Value: value}
}

func (module *module) push(samples metrics.Samples) {
	metrics.PushIfNotDone(module.vu.Context(), module.vu.State().Samples, samples)
}
