package explain

import (
	"context"
	"slices"
	"strings"
	"time"
)

// withExcepted adds, behind each sample that limits decide of, the ones whom each of
// these limits excepts; false where they are too many.
func withExcepted(
	ctx context.Context, all []Policies, samples, places []Sample, limits map[string][]map[string]any, asOf time.Time,
) ([]Sample, bool) {
	var more []Sample
	whole := true
	for _, sample := range samples {
		more = append(more, sample)
		var deciding []string
		for _, policies := range all {
			answer, err := ask(ctx, policies, sample, asOf, "the policies")
			if err != nil {
				return samples, true // which is told when it is asked for the report
			}
			for _, cell := range answer.Labels {
				deciding = append(append(deciding, cell.ReadBy...), cell.WriteBy...)
			}
		}
		slices.Sort(deciding)
		for _, rule := range slices.Compact(deciding) {
			for _, unless := range limits[rule] {
				excepted, fits := sample.fitting(unless, asOf)
				more = append(more, resolvePlaces(excepted, places)...)
				whole = whole && fits
			}
		}
	}
	return distinct(more), whole
}

// madeUpTenant is a tenant's name where nothing says which there are.
const madeUpTenant = "some-tenant"

// withTenants gives samples what chooses a tenant, where they do not have it: without a
// tenant they have no keys, and would show nothing of the rules. It says whether any was made up.
func withTenants(ctx context.Context, all []Policies, samples []Sample, asOf time.Time) ([]Sample, bool, error) {
	made := false
	for _, policies := range all {
		definitions, err := definitions(ctx, policies, asOf)
		if err != nil {
			return nil, false, err
		}
		for _, name := range sortedKeys(definitions) {
			tenant, chosen := definitions[name].Tenant.(map[string]any)
			from, _ := tenant["from"].(string)
			if !chosen || from == "" || from == "session.user" || from == "session.database" {
				continue
			}
			value := madeUpTenant
			if names, told := tenant["names"].(map[string]any); told && len(names) > 0 {
				value = sortedKeys(names)[0]
			}
			path := strings.Split(from, ".")
			if claim, is := strings.CutPrefix(from, "claims."); is {
				path = []string{"claims", claim}
			}
			for i := range samples {
				if samples[i].has(path) {
					continue
				}
				samples[i].Claims = cloneClaims(samples[i].Claims)
				samples[i].set(path, value, asOf)
				made = true
			}
		}
	}
	return samples, made, nil
}

// has says whether the sample says something of an attribute.
func (s Sample) has(path []string) bool {
	var value any = s.Input()
	for _, step := range path {
		inner, nested := value.(map[string]any)
		if !nested {
			return false
		}
		value = inner[step]
	}
	return value != nil && value != ""
}
