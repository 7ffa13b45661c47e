// Says which pods do not satisfy a Pod Security Standard, by Kubernetes' own checks.
//
// Reads pods (or what holds a pod's metadata and spec) as a JSON array from standard input, and writes a JSON array
// as long: for each pod the reasons why it is refused, none if it is not. The one argument is the level.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pod-security LEVEL < PODS.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pod-security:", err)
		os.Exit(1)
	}
}

func run(name string, in io.Reader, out io.Writer) error {
	level, err := api.ParseLevel(name)
	if err != nil {
		return err
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(in)
	// A field that the checks do not know, they would not check.
	decoder.DisallowUnknownFields()
	var pods []corev1.Pod
	if err := decoder.Decode(&pods); err != nil {
		return fmt.Errorf("read the pods: %w", err)
	}
	reasons := make([][]string, 0, len(pods))
	for i := range pods {
		reasons = append(reasons, refusals(evaluator, level, &pods[i]))
	}
	return json.NewEncoder(out).Encode(reasons)
}

func refusals(evaluator policy.Evaluator, level api.Level, pod *corev1.Pod) []string {
	found := []string{}
	standard := api.LevelVersion{Level: level, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(standard, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			found = append(found, result.ForbiddenReason+": "+result.ForbiddenDetail)
		}
	}
	return found
}
