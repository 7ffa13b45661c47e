package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sample is a principal to ask for. What is empty is missing from the input.
type Sample struct {
	Name            string
	Database        string // or
	Service         string // of HTTP
	Listener        string
	User            string
	Role            string // the user, unless told
	ApplicationName string
	Purpose         string
	Source          string
	Namespace       string
	ServiceAccount  string
	SPIFFEID        string
	WorkloadLabels  map[string]string
	Certificate     map[string][]string // the client's: its subject, and its names by their kinds
	Claims          map[string]any
	Headers         map[string]string // of HTTP, as are
	Method          string            // the kind of requests that are asked for
	Route           string
	At              time.Time // zero: the moment of the report
}

// Input is what the filter would send for this principal, and the kind of requests that is to be explained.
func (s Sample) Input() map[string]any {
	protocol := "postgres"
	if s.Service != "" {
		protocol = "http"
	}
	role := s.Role
	if role == "" && s.Service == "" {
		role = s.User // a service knows no roles
	}
	claims := s.Claims
	if claims == nil {
		claims = map[string]any{}
	}
	workload := map[string]any{"namespace": s.Namespace, "service_account": s.ServiceAccount, "spiffe_id": s.SPIFFEID}
	if len(s.WorkloadLabels) > 0 {
		workload["labels"] = s.WorkloadLabels
	}
	input := map[string]any{
		"protocol": protocol,
		"listener": s.Listener,
		"workload": workload,
		"session": map[string]any{
			"user": s.User, "role": role, "database": s.place(),
			"application_name": s.ApplicationName, "source": s.Source, "purpose": s.Purpose,
		},
		"token":   "",
		"comment": map[string]any{"purpose": "", "token": ""},
		"claims":  claims,
	}
	if len(s.Certificate) > 0 {
		input["client_certificate"] = s.certificate()
	}
	if len(s.Headers) > 0 {
		input["headers"] = s.Headers
	}
	if s.Method+s.Route != "" {
		input["request"] = map[string]any{"method": s.Method, "route": s.Route}
	}
	return input
}

// certificate is the client's, as the filter tells it.
func (s Sample) certificate() map[string]any {
	told := map[string]any{"subject": strings.Join(s.Certificate["subject"], "")}
	for _, kind := range []string{"dns", "uri", "email"} {
		told[kind] = append([]string{}, s.Certificate[kind]...)
	}
	return told
}

// asksHTTP says whether only a service can be asked for what the sample names.
func (s Sample) asksHTTP() bool { return len(s.Headers) > 0 || s.Method+s.Route != "" }

// attributes are those that are not empty, in the words of the file of principals.
func (s Sample) attributes() []Pair {
	pairs := []Pair{
		{"database", s.Database}, {"service", s.Service}, {"listener", s.Listener}, {"user", s.User}, {"role", s.Role},
		{"application_name", s.ApplicationName}, {"purpose", s.Purpose}, {"source", s.Source},
		{"workload.namespace", s.Namespace}, {"workload.service_account", s.ServiceAccount},
		{"workload.spiffe_id", s.SPIFFEID}, {"method", s.Method}, {"route", s.Route},
	}
	for _, name := range sortedKeys(s.WorkloadLabels) {
		pairs = append(pairs, Pair{"workload.labels." + name, s.WorkloadLabels[name]})
	}
	for _, name := range sortedKeys(s.Headers) {
		pairs = append(pairs, Pair{"headers." + name, s.Headers[name]})
	}
	for _, kind := range sortedKeys(s.Certificate) {
		pairs = append(pairs, Pair{"client_certificate." + kind, strings.Join(s.Certificate[kind], " ")})
	}
	names := make([]string, 0, len(s.Claims))
	for name := range s.Claims {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		pairs = append(pairs, Pair{"claims." + name, claimText(s.Claims[name])})
	}
	return slices.DeleteFunc(pairs, func(p Pair) bool { return p.Value == "" })
}

func claimText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// key tells whether two samples ask for the same.
func (s Sample) key() string {
	text, err := json.Marshal([]any{s.Input(), s.At})
	if err != nil {
		return s.Name
	}
	return string(text)
}

// place is the database or service that the sample is of.
func (s Sample) place() string { return s.Database + s.Service }

// distinct drops samples that ask for the same as one before them, and gives those of
// one name names of their own.
func distinct(samples []Sample) []Sample {
	seen := map[string]bool{}
	names := map[string]int{}
	var kept []Sample
	for _, sample := range samples {
		if seen[sample.key()] {
			continue
		}
		seen[sample.key()] = true
		names[sample.Name]++
		if n := names[sample.Name]; n > 1 {
			sample.Name += " #" + fmt.Sprint(n)
		}
		kept = append(kept, sample)
	}
	return kept
}

func join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
