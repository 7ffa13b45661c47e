package policy

import "maps"

// merge puts all documents together below data. Two files may add to one mapping,
// as OPA has it; two values of one path are a problem of both.
func (p *Policy) merge() Problems {
	var problems Problems
	for i, d := range p.documents {
		var wrapped any = d.value
		for step := len(d.at) - 1; step >= 0; step-- {
			wrapped = map[string]any{d.at[step]: wrapped}
		}
		problems = append(problems, first(p.mergeInto(p.data, wrapped.(map[string]any), nil, i))...)
	}
	return problems
}

// first is enough: where one value is there twice, others often are.
func first(problems Problems) Problems { return problems.sorted()[:min(len(problems), 1)] }

func (p *Policy) mergeInto(target, source map[string]any, path Path, from int) Problems {
	var problems Problems
	for key, value := range source {
		at := append(path[:len(path):len(path)], key)
		present, taken := target[key]
		if !taken {
			target[key] = copied(value)
			continue
		}
		old, oldIsMapping := present.(map[string]any)
		added, addedIsMapping := value.(map[string]any)
		if oldIsMapping && addedIsMapping {
			problems = append(problems, p.mergeInto(old, added, at, from)...)
			continue
		}
		where, _ := p.documents[from].find(at)
		reason := "another file has a value of this path too"
		if other, _, found := locate(p.documents[:from], at); found {
			reason += ": " + other.String()
		}
		problems = append(problems, Problem{Position: where, Path: at, Reason: reason, Remedy: "keep one of them, or give its folder another name"})
	}
	return problems
}

// copied keeps what is merged from changing the documents themselves.
func copied(value any) any {
	mapping, ok := value.(map[string]any)
	if !ok {
		return value
	}
	made := maps.Clone(mapping)
	for key, inner := range made {
		made[key] = copied(inner)
	}
	return made
}

// locate finds the place of a path, or of its nearest ancestor in any document.
func locate(documents []*document, path Path) (where Position, depth int, found bool) {
	depth = -1
	for _, d := range documents {
		if at, steps := d.find(path); steps > depth {
			where, depth, found = at, steps, true
		}
	}
	return where, depth, found
}
