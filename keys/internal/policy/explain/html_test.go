package explain

import (
	"io"
	"regexp"
	"strings"
	"testing"
)

func rendered(t *testing.T, show func(io.Writer) error) string {
	t.Helper()
	var page strings.Builder
	if err := show(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestPagesAllowTheirOwnStyleAndScriptAlone(t *testing.T) {
	for name, show := range map[string]func(io.Writer) error{"report": fixture().HTML, "diff": exampleDiff(t).HTML} {
		page := rendered(t, show)
		policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
		if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; ") {
			t.Fatalf("%s: %q", name, policy)
		}
		for element, directive := range map[string]string{"style": "style-src ", "script": "script-src "} {
			found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
			if len(found) != 1 || !strings.Contains(policy[1], directive+hashOf([]byte(found[0][1]))+";") {
				t.Errorf("%s: %d times %s, and the policy has another hash: %s", name, len(found), element, policy[1])
			}
		}
		if regexp.MustCompile(`(src|href|url)[=(]["']?https?://`).MatchString(page) || strings.Contains(page, " style=") || strings.Contains(page, " onclick=") {
			t.Errorf("%s: something of elsewhere, or inline", name)
		}
	}
}

func TestTextsOfPoliciesAreNoMarkup(t *testing.T) {
	evil := `"><img src=x onerror=alert(1)></script><script>alert(1)</script>{{.}}`
	report := edited(t, func(r *Report) {
		for i := range r.Cells {
			r.Cells[i].ReadBy, r.Cells[i].WriteBy = []string{evil}, []string{evil}
			r.Cells[i].Label += evil
			r.Cells[i].Principal += evil
		}
		for i := range r.Labels {
			r.Labels[i].Name += evil
			r.Labels[i].Keyset, r.Labels[i].Places = evil, []string{evil}
		}
		for i := range r.Principals {
			r.Principals[i].Name += evil
			r.Principals[i].Attributes, r.Principals[i].Denied = []Pair{{evil, evil}}, evil
		}
		r.Policies, r.Source, r.Notes = []string{evil}, evil, []string{evil}
	})
	other := edited(t, func(r *Report) {
		*r = *report
		r.Labels = append([]Label{}, r.Labels...)
		r.Labels[0].Places = []string{"x" + evil}
	})
	for name, show := range map[string]func(io.Writer) error{"report": report.HTML, "diff": Compare(report, other).HTML} {
		page := rendered(t, show)
		if strings.Contains(page, "<img") || strings.Contains(page, "<script>alert") || strings.Contains(page, "</script><script>alert") {
			t.Errorf("%s holds the markup of a policy", name)
		}
		if scripts := strings.Count(page, "<script"); name == "report" && scripts != 2 || name == "diff" && scripts != 1 {
			t.Errorf("%s has %d scripts", name, scripts)
		}
		if !strings.Contains(page, "&lt;img") {
			t.Errorf("%s does not show the text", name)
		}
	}
	markdown := rendered(t, report.Markdown)
	if strings.Contains(markdown, "<img") || strings.Contains(markdown, "<script") {
		t.Error("Markdown holds the markup of a policy")
	}
}

func TestPageShowsWhatThePoliciesSayWhoeverAsks(t *testing.T) {
	page := rendered(t, exampleDiff(t).HTML)
	for _, want := range []string{
		`<th role="rowheader" scope="row">tokens idp: leeway_seconds</th><td role="cell" data-name="Verdict">widened</td>`,
		`data-label="tokens &lt;b&gt;evil&lt;/b&gt;"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestWidenedStandsFirstOnThePage(t *testing.T) {
	page := rendered(t, exampleDiff(t).HTML)
	last := -1
	for _, verdict := range Verdicts {
		at := strings.Index(page, `id="group-`+string(verdict)+`"`)
		if at <= last {
			t.Errorf("%s stands at %d, after %d", verdict, at, last)
		}
		last = at
	}
}
