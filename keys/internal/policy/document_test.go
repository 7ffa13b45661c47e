package policy

import (
	"strings"
	"testing"
)

func TestPositionIsThatOfTheKeyOrTheElement(t *testing.T) {
	yaml := "base: &base {type: text}\nlabels:\n  a.b:\n    <<: [*base]\n    keyset: pii\n  alias: *base\nlist:\n  - x\n  - {y: 1}\n"
	json := "{\"labels\": {\n\t\"a.b\": {\"keyset\": \"\\\"pii\\\"\", \"type\" : \"text\"}},\n \"list\": [\"x\", {\"y\": 1}, -1.5e3,\n null]}"
	for _, c := range []struct {
		name, content, path string
		line, column, depth int
	}{
		{"data.yaml", yaml, "catalog shop labels", 2, 1, 3},
		{"data.yaml", yaml, "catalog shop labels a.b", 3, 3, 4},
		{"data.yaml", yaml, "catalog shop labels a.b keyset", 5, 5, 5},
		{"data.yaml", yaml, "catalog shop labels a.b type", 1, 14, 5},
		{"data.yaml", yaml, "catalog shop labels alias type", 1, 14, 5},
		{"data.yaml", yaml, "catalog shop labels a.b nothing deeper", 3, 3, 4},
		{"data.yaml", yaml, "catalog shop list 1", 9, 5, 4},
		{"data.yaml", yaml, "catalog shop list 1 y", 9, 6, 5},
		{"data.yaml", yaml, "catalog shop list 7", 7, 1, 3},
		{"data.yaml", yaml, "catalog shop list x", 7, 1, 3},
		{"data.yaml", yaml, "catalog shop", 1, 1, 2},
		{"data.yaml", yaml, "catalog other", 0, 0, -1},
		{"data.yaml", yaml, "catalog", 0, 0, -1},
		{"data.json", json, "catalog shop labels a.b type", 2, 31, 5},
		{"data.json", json, "catalog shop list 1 y", 3, 17, 5},
		{"data.json", json, "catalog shop list 3", 4, 2, 4},
		{"data.json", json, "catalog shop", 1, 1, 2},
	} {
		d, problems := parseDocument(file{name: c.name, slashed: c.name, content: []byte(c.content)}, []string{"catalog", "shop"})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		where, depth := d.find(pathFrom(c.path))
		if where.Line != c.line || where.Column != c.column || depth != c.depth {
			t.Errorf("%s: %s is at %s, step %d", c.name, c.path, where, depth)
		}
	}
}

// pathFrom takes digits for indexes.
func pathFrom(text string) Path {
	var path Path
	for step := range strings.FieldsSeq(text) {
		if step[0] >= '0' && step[0] <= '9' {
			path = append(path, int(step[0]-'0'))
		} else {
			path = append(path, step)
		}
	}
	return path
}

func TestPathIsWrittenAsInRego(t *testing.T) {
	path := Path{"catalog", "my-shop", "databases", 0, "columns", `public."Order"`}
	if want := `catalog["my-shop"].databases[0].columns["public.\"Order\""]`; path.String() != want {
		t.Errorf("%s, not %s", path, want)
	}
}

func TestYAMLThatOPAWouldNotTakeOrUnfoldsWithoutEndIsRefused(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		bomb += "a" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+", ", 10) + "]\n"
	}
	for name, content := range map[string]string{
		"itself":   "a: &a {b: *a}\n",
		"a bomb":   bomb,
		"no text":  "a: \xff\n",
		"a tag":    "a: !!binary '***'\n",
		"a anchor": "a: *nowhere\n",
	} {
		if _, problems := parseDocument(file{name: "data.yaml", slashed: "data.yaml", content: []byte(content)}, nil); len(problems) != 1 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestLineOfBrokenYAMLIsThatOfTheFaultOrBesideIt(t *testing.T) {
	for content, line := range map[string]int{
		"a: {b: c\n":                 2, // where the brace is missed
		"a: 1\nb: {c: d\n\n":         2,
		"a: 1\nb:\n  - c\n d: 1\n":   4,
		"a: 1\nb: 2\nc: 3\n\td: 4\n": 4,
		"a:\n  b: 1\n\n\n c: 2\n":    5,
		"a: 1\nb: c: d\n":            2,
		"a: 1\nb: 'c\n":              3,
	} {
		_, problems := parseYAML(file{name: "data.yaml", content: []byte(content)})
		if len(problems) != 1 || problems[0].Line < line-1 || problems[0].Line > line+1 {
			t.Errorf("line %d: %v", line, problems)
		}
	}
}

// What files hold must neither end the program nor keep it.
func FuzzAnyFileIsReadOrRefused(f *testing.F) {
	for _, content := range []string{
		"a: &a {<<: *a}\n", "labels: &a {x: {<<: [*a, *a]}}\n", "databases: []\n---\n", "? {a: b}\n: c\n", "<<: {a: 1}\na: 2\n",
		"{\"labels\": {\"a\": [1, {}, null, \"\\ud800\"]}}", "[[[[", "{\"a\":1,\"a\":2}", "package x\n\ny if input.z\n", "a: !!float x\n", "%TAG ! x\n", "a:\n  - b\n - c\n",
	} {
		f.Add("data.yaml", content)
		f.Add("catalog.yml", content)
		f.Add("catalog/shop/data.json", content)
		f.Add("custom.rego", content)
	}
	f.Fuzz(func(t *testing.T, name, content string) {
		p := newPolicy()
		problems := p.add([]file{{name: name, slashed: name, content: []byte(content)}})
		problems = append(problems, p.misplaced()...)
		for _, problem := range append(problems, p.merge()...) {
			if line := problem.Fault().Error(); problem.Reason == "" || problem.Remedy == "" || strings.Contains(line, "\n") {
				t.Errorf("%q", line)
			}
		}
		for _, d := range p.documents {
			if _, depth := d.find(Path{"labels", "a", 0}); depth < -1 {
				t.Error(depth)
			}
		}
	})
}
