# shellcheck shell=bash
# `cluster probe`: whether pods run here. A node can be Ready, and none of its pods ever start.

PROBE_SECONDS=60
NO_POD_RUNS=3 # the exit status, which nothing else that goes wrong has

cluster_probe() {
  need_root probe
  need_node
  kube delete pod probe --ignore-not-found >/dev/null
  kube apply -f "$RUN/etc/probe.yaml" >/dev/null
  if ! kube wait pod/probe --for=jsonpath='{.status.phase}'=Succeeded --timeout="${PROBE_SECONDS}s" >/dev/null 2>&1; then
    probe_report >&2
    say "no pod runs here: $(probe_said | tail -n 1)"
    exit "$NO_POD_RUNS"
  fi
  kube delete pod probe >/dev/null
  step "a pod ran"
}

# What one would look at by hand, what tells most at the end.
probe_report() {
  { grep '^E' "$LOGS/kubelet.log" || true; } | tail -n 2 | shortened kubelet
  { grep -E 'level=(warning|error|fatal)' "$LOGS/containerd.log" || true; } | tail -n 2 | shortened containerd
  kube get node "$NODE_NAME" \
    -o jsonpath='{range .status.conditions[*]}{.type}={.status}: {.message}{"\n"}{end}taints: {.spec.taints}{"\n"}' | shortened node
  kube get pod probe -o wide | shortened pod
  { kube logs probe 2>&1 || true; } | tail -n 4 | shortened log
  probe_said | tail -n 4 | shortened pod
}

# Of the pod, by Kubernetes: the last is the newest.
probe_said() {
  kube get pod probe -o jsonpath='{range .status.containerStatuses[*]}{.state}{"\n"}{end}'
  kube get events --field-selector=involvedObject.name=probe,type=Warning --sort-by=.metadata.creationTimestamp \
    -o custom-columns=:.message --no-headers | shortened
}

# A message's cause stands at its end, behind paths that are long.
shortened() {
  awk -v of="${1:+  $1: }" 'length > 420 { $0 = substr($0, 1, 160) " … " substr($0, length - 250) } { print of $0 }'
}
