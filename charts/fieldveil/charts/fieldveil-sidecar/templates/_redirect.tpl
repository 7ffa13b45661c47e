{{- /* Sends the pod's connections to the upstreams' ports through Envoy's listeners, but for the sidecar's own. Its rules outlive it,
in the pod's network. It alone is root and has a capability. */ -}}
{{- define "fieldveil-sidecar.redirectContainer" -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" "redirect" "image" .Values.images.fieldveil "root" .) }}
  args:
  - redirect
  - --except-uid={{ .Values.runAsUser | int64 }}
  {{- range .Values.upstreams }}
  {{- if include "fieldveil-sidecar.isElsewhere" . }}
  - --to={{ .port | int }}:{{ .listener.port | int }}
  {{- end }}
  {{- end }}
  resources:
    {{- toYaml .Values.resources.init | nindent 4 }}
  securityContext:
    runAsNonRoot: false
    runAsUser: 0
    runAsGroup: 0
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    capabilities:
      drop:
      - ALL
      add:
      - NET_ADMIN
    seccompProfile:
      type: RuntimeDefault
{{- end -}}

{{- /* Not the pod's own service, which others reach by the sidecar: to redirect its port would turn the pod's connections to others back to itself. */ -}}
{{- define "fieldveil-sidecar.isElsewhere" -}}
{{- if not (or (has .host (list "localhost" "::1")) (hasPrefix "127." .host)) -}}true{{- end -}}
{{- end -}}
