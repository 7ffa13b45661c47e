package policy

import (
	"strings"
	"testing"
)

func TestWordsThatShouldStandInQuotesAreToldSo(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nlabels: [**]\n":                                 `f:2:10: not YAML: ** begins with *, which means another thing there; quote it: "**"`,
		"labels: [\"a.*\", *.b]\n":                             `f:1:17: not YAML: *.b begins with *, which means another thing there; quote it: "*.b"`,
		"labels:\n  - a.*\n  - *\n":                            `f:3:5: not YAML: * begins with *, which means another thing there; quote it: "*"`,
		"labels: [a, *b]\n":                                    `f:1:13: not YAML: *b begins with *, which means another thing there; quote it: "*b"`,
		"n: \"ä *b\"\nlabels: ['*b', *b]\n":                    `f:2:16: not YAML: *b begins with *, which means another thing there; quote it: "*b"`,
		"# all: *\nlabels: *.b\n":                              `f:2:9: not YAML: *.b begins with *, which means another thing there; quote it: "*.b"`,
		"read: {format: partial(4,\"…\",2)}\n":                 `f:1:16: partial(4 ends at the comma, within braces; quote the whole of it: 'partial(0,"****",4)'`,
		"a: &x {b: [{format: partial(4,\"…\",2)}]}\nc: *x\n":   `f:1:21: partial(4 ends at the comma, within braces; quote the whole of it: 'partial(0,"****",4)'`,
		"read: {format: 'partial(4,\"…\",2)', of: \"par(\"}\n": "",
		"format: partial(4,\"…\",2)\n":                         "",
		"format: 'partial(4'\n":                                "", // the schema has its word for it
		"labels: [a.*, b.**, \"*\"]\n":                         "",
	} {
		_, problems := parseDocument(file{name: "f", slashed: "data.yaml", content: []byte(text)}, nil)
		if got := problems.Error(); strings.TrimPrefix(got, ":") != want {
			t.Errorf("%s\n  says %s\n  not  %s", text, got, want)
		}
	}
	_, problems := parseDocument(file{name: "f", slashed: "data.json", content: []byte(`{"format": "partial(4"}`)}, nil)
	if len(problems) > 0 {
		t.Error(problems)
	}
}
