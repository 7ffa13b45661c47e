package policy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

var libraryPackage = ast.MustParseRef("data.fieldveil")

// offline is what OPA itself can do, without the network.
func offline() *ast.Capabilities {
	capabilities := ast.CapabilitiesForThisVersion()
	capabilities.AllowNet = []string{}
	return capabilities
}

// evaluator is the compiled Rego with the data.
type evaluator struct {
	compiler *ast.Compiler
	store    storage.Store
	mutex    sync.Mutex
	prepared map[string]rego.PreparedEvalQuery
}

func (p *Policy) addModule(f file) Problems {
	module, err := ast.ParseModuleWithOpts(f.name, string(f.content), ast.ParserOptions{ProcessAnnotation: true, Capabilities: offline()})
	if err != nil {
		return regoProblems(f.name, err)
	}
	if module != nil {
		p.modules[f.name] = module
		p.sources = append(p.sources, f)
	}
	return nil
}

// compile does what `opa check --strict --schema` does, and sees that no rule and
// no data share a path.
func (p *Policy) compile() error {
	compiler := p.newCompiler()
	if compiler.Compile(p.modules); compiler.Failed() {
		return regoProblems("", compiler.Errors).orNil()
	}
	p.compiler = compiler
	p.store = inmem.NewFromObject(p.data)
	p.prepared = map[string]rego.PreparedEvalQuery{}
	return nil
}

func (p *Policy) newCompiler() *ast.Compiler {
	return ast.NewCompiler().WithStrict(true).WithCapabilities(offline()).WithEnablePrintStatements(false).
		WithSchemas(p.schemas()).WithUseTypeCheckAnnotations(true).WithPathConflictsCheck(p.dataAt)
}

// schemas are those below data.schemas, by the names that annotations give them:
// schemas/input/data.json is schema.input.data.
func (p *Policy) schemas() *ast.SchemaSet {
	set := ast.NewSchemaSet()
	all, _ := p.data["schemas"].(map[string]any)
	for name, schema := range all {
		set.Put(ast.SchemaRootRef.Append(ast.StringTerm(name)).Append(ast.StringTerm("data")), schema)
	}
	return set
}

func (p *Policy) dataAt(path []string) (bool, error) {
	var value any = p.data
	for _, key := range path {
		mapping, ok := value.(map[string]any)
		if !ok {
			return true, nil
		}
		if value, ok = mapping[key]; !ok {
			return false, nil
		}
	}
	return len(path) > 0, nil
}

// Evaluate gives the value of a query such as `data.fieldveil.plan` for an input at
// a time, as JSON has it with numbers as json.Number; false where it is undefined.
func (p *Policy) Evaluate(ctx context.Context, query string, input any, now time.Time) (value any, defined bool, err error) {
	prepared, err := p.prepare(ctx, query)
	if err != nil {
		return nil, false, err
	}
	results, err := prepared.Eval(ctx, rego.EvalInput(input), rego.EvalTime(now))
	if err != nil {
		return nil, false, fault.Input(query, "it can not be evaluated ("+err.Error()+")", "mend the Rego that is named")
	}
	if len(results) == 0 {
		return nil, false, nil
	}
	return results[0].Expressions[0].Value, true, nil
}

func (p *Policy) prepare(ctx context.Context, query string) (rego.PreparedEvalQuery, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if prepared, ok := p.prepared[query]; ok {
		return prepared, nil
	}
	prepared, err := rego.New(rego.Query(query), rego.Compiler(p.compiler), rego.Store(p.store), rego.Capabilities(offline())).PrepareForEval(ctx)
	if err != nil {
		return prepared, fault.Input(query, "it does not compile ("+err.Error()+")", "mend the Rego that is named")
	}
	p.prepared[query] = prepared
	return prepared, nil
}

// regoProblems is what the parser or the compiler found.
func regoProblems(file string, err error) Problems {
	var list ast.Errors
	if !errors.As(err, &list) {
		return Problems{{Position: Position{File: file}, Reason: "not Rego: " + err.Error(), Remedy: "mend it; opa check says the same"}}
	}
	var problems Problems
	for _, one := range list {
		where := Position{File: file}
		if one.Location != nil {
			where = Position{File: one.Location.File, Line: one.Location.Row, Column: one.Location.Col}
		}
		problems = append(problems, Problem{Position: where, Reason: one.Code + ": " + one.Message, Remedy: "mend the Rego; opa check --strict says the same"})
	}
	return problems
}
