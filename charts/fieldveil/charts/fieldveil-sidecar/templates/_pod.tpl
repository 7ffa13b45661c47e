{{- /* What a pod with the sidecar carries: NetworkPolicies and the admission select by it. Of two releases in a namespace each knows its own. */ -}}
{{- define "fieldveil-sidecar.podLabels" -}}
fieldveil.io/sidecar: "true"
fieldveil.io/release: {{ include "fieldveil-sidecar.fullname" . }}
{{- end -}}

{{- /* A pod of one's own is made anew when what Envoy and OPA read only at their start changes. */ -}}
{{- define "fieldveil-sidecar.podAnnotations" -}}
fieldveil.io/config-checksum: {{ printf "%s%s%s" (include "fieldveil-sidecar.envoyConfig" .) (include "fieldveil-sidecar.opaConfig" .) (include "fieldveil-sidecar.signerKeys" .) | sha256sum }}
{{- if .Values.metrics.annotations }}
prometheus.io/scrape: "true"
prometheus.io/port: "15020"
prometheus.io/path: /stats/prometheus
{{- end }}
{{- end -}}

{{- /* For the application's containers: the folder with the Unix sockets, if any upstream has one; else nothing. */ -}}
{{- define "fieldveil-sidecar.volumeMounts" -}}
{{- if include "fieldveil-sidecar.hasSockets" . -}}
- name: fieldveil-sockets
  mountPath: /run/fieldveil
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.hasSockets" -}}
{{- range .Values.upstreams }}{{ if dig "listener" "socket" false . }}true{{ end }}{{ end -}}
{{- end -}}

{{- /* As strict as Pod Security asks, and more: of the user's number. */ -}}
{{- define "fieldveil-sidecar.securityContext" -}}
runAsNonRoot: true
runAsUser: {{ . | int64 }}
runAsGroup: {{ . | int64 }}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities:
  drop:
  - ALL
seccompProfile:
  type: RuntimeDefault
{{- end -}}
