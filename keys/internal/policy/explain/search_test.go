package explain

import "testing"

func TestWhoCanFindAValue(t *testing.T) {
	for _, c := range []struct {
		protection, kind, read, write string
		want                          Search
	}{
		{"deterministic", "text", "reveal", "seal", ByValue},
		{"deterministic", "text", "mask", "refuse", ByValue},
		{"indexed", "uuid", "mask", "seal", ByValue},
		{"format_preserving", "varchar(16)", "reveal", "refuse", ByValue},
		{"deterministic", "numeric", "reveal", "seal", NoSearch},
		{"deterministic", "numeric(10,2)", "reveal", "seal", ByValue},
		{"deterministic", "text", "conceal", "seal", ByWriting},
		{"indexed", "text", "null", "seal", ByWriting},
		{"format_preserving", "text", "refuse", "seal", ByWriting},
		{"deterministic", "text", "conceal", "refuse", NoSearch},
		{"randomized", "text", "conceal", "seal", NoSearch},
		{"randomized", "text", "reveal", "seal", NoSearch},
	} {
		label := Label{Name: "x", Protection: c.protection, Type: c.kind}
		access := Access{Read: Read{Treatment: c.read}, Write: c.write}
		if found := label.search(access); found != c.want {
			t.Errorf("%v: %q", c, found)
		}
	}
	budget := Read{Treatment: "reveal", Budget: &Budget{Rows: 1, PerSeconds: 1, Then: Read{Treatment: "null"}}}
	if found := (Label{Protection: "indexed", Type: "text"}).search(Access{Read: budget, Write: "seal"}); found != ByValue {
		t.Errorf("within a budget: %q", found)
	}
}
