package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// testTimeout is for one test. It is for a test that hangs: with cases of its own, which OPA traces, a test takes
// seconds, and more than a minute where the processors do other things too.
const testTimeout = 10 * time.Minute

// Outcomes of a test.
const (
	Passed  = "pass"
	Failed  = "fail"
	Skipped = "skip"
)

// TestResult is what became of one test.
type TestResult struct {
	Position
	Name    string   `json:"name"` // as Rego has it: data.my_test.test_x
	Outcome string   `json:"outcome"`
	Said    []string `json:"said"` // lines: what it printed, or else where it stopped; [] of a test that passed
}

// TestReport is what became of all tests, sorted by place. With problems none ran.
type TestReport struct {
	Problems Problems     `json:"problems"`
	Tests    []TestResult `json:"tests"`
	// Empty are the files of tests that hold none.
	Empty []string `json:"empty"`
}

// Count is how many tests came out so.
func (r *TestReport) Count(outcome string) int64 {
	var n int64
	for _, test := range r.Tests {
		if test.Outcome == outcome {
			n++
		}
	}
	return n
}

// Test runs the tests (rules test_…) that the PATHs hold beside the library, whose
// names pattern matches somewhere; an empty one matches all. That there are none
// is an error.
func Test(ctx context.Context, paths []string, options Options, pattern string, now time.Time) (*TestReport, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, fault.Input("--run "+pattern, "no regular expression ("+err.Error()+")", "correct it, or leave it out to run every test")
	}
	p, err := load(paths, options, withTests)
	whole := strings.Join(paths, ", ")
	report := &TestReport{Problems: Problems{}, Tests: []TestResult{}, Empty: []string{}}
	if errors.As(err, &report.Problems) {
		return report, nil
	}
	if err != nil {
		return nil, err
	}
	if report.Problems, err = p.found(ctx, problems, whole, now); err != nil {
		return nil, err
	}
	if len(report.Problems) > 0 {
		return report, nil
	}
	names, empty := p.tests()
	report.Empty = empty
	if len(names) == 0 {
		return nil, fault.Input(whole, "there is no test in it", "write one whose name begins with test_ into a file such as my_test.rego; see docs/start/policy-guide.md")
	}
	results, err := p.runTests(ctx, pattern, false)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fault.Input("--run "+pattern, fmt.Sprintf("no test of %s has a name like this", whole), "correct it; there is "+names[0])
	}
	if err := p.explainSilent(ctx, results); err != nil {
		return nil, err
	}
	for _, result := range results {
		report.Tests = append(report.Tests, testResult(result))
	}
	slices.SortFunc(report.Tests, func(a, b TestResult) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	return report, nil
}

// tests are the names of all tests, and the files of tests without one.
func (p *Policy) tests() (names, empty []string) {
	for _, source := range p.sources {
		module := p.modules[source.name]
		if module == nil {
			continue
		}
		before := len(names)
		for _, rule := range module.Rules {
			ref := rule.Head.Ref().GroundPrefix()
			if slices.ContainsFunc(ref, isTestName) {
				names = append(names, module.Package.Path.Extend(ref).String())
			}
		}
		if source.test() && len(names) == before {
			empty = append(empty, source.name)
		}
	}
	return names, append([]string{}, empty...)
}

func isTestName(term *ast.Term) bool {
	name := strings.Trim(term.Value.String(), `"`)
	return strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix)
}

// runTests lets OPA run them; traced, each result tells each step.
func (p *Policy) runTests(ctx context.Context, pattern string, traced bool) ([]*tester.Result, error) {
	compiler := p.newCompiler().WithEnablePrintStatements(true)
	runner := tester.NewRunner().SetCompiler(compiler).SetStore(p.store).SetModules(p.modules).
		SetTimeout(testTimeout).Filter(pattern).EnableTracing(traced)
	txn, err := p.store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	defer p.store.Abort(ctx, txn)
	stream, err := runner.RunTests(ctx, txn)
	if err != nil {
		return nil, regoProblems("", err).orNil()
	}
	var results []*tester.Result
	for result := range stream {
		results = append(results, result)
	}
	return results, ctx.Err()
}

// explainSilent runs again those that failed and printed nothing, to tell where
// they stopped.
func (p *Policy) explainSilent(ctx context.Context, results []*tester.Result) error {
	var names []string
	silent := map[string]*tester.Result{}
	for _, result := range results {
		if result.Fail && len(result.Output) == 0 {
			name := fullName(result)
			silent[name] = result
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	traced, err := p.runTests(ctx, "^("+strings.Join(names, "|")+")$", true)
	for _, result := range traced {
		if again := silent[fullName(result)]; again != nil {
			again.Output = []byte(stoppedAt(result.Trace))
		}
	}
	return err
}

// stoppedAt is the last expression outside the library that did not hold.
func stoppedAt(trace []*topdown.Event) string {
	for _, event := range slices.Backward(trace) {
		expression, ok := event.Node.(*ast.Expr)
		if event.Op != topdown.FailOp || !ok || event.QueryID == 0 || event.Location == nil {
			continue
		}
		if _, every := expression.Terms.(*ast.Every); every || strings.HasPrefix(event.Location.File, builtIn) {
			continue
		}
		text, _, more := strings.Cut(string(event.Location.Text), "\n")
		if more {
			text += " …"
		}
		return fmt.Sprintf("false or undefined at %s:%d: %s", event.Location.File, event.Location.Row, text)
	}
	return "its value is not true"
}

func fullName(result *tester.Result) string { return result.Package + "." + result.Name }

func testResult(result *tester.Result) TestResult {
	test := TestResult{Name: fullName(result), Outcome: Passed, Said: []string{}}
	if where := result.Location; where != nil {
		test.Position = Position{File: where.File, Line: where.Row, Column: where.Col}
	}
	switch {
	case result.Skip:
		test.Outcome = Skipped
	case result.Pass():
	default:
		test.Outcome = Failed
		if text := strings.TrimSpace(string(result.Output)); text != "" {
			test.Said = append(test.Said, strings.Split(text, "\n")...)
		}
		if result.Error != nil {
			test.Said = append(test.Said, result.Error.Error())
		}
	}
	return test
}
