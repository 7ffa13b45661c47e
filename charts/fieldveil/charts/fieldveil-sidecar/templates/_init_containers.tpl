{{- /* The sidecar as a YAML list, to stand before the pod's own init containers. Each waits for the one before it. */ -}}
{{- define "fieldveil-sidecar.initContainers" -}}
{{- include "fieldveil-sidecar.validate" . -}}
{{- if eq (include "fieldveil-sidecar.delivery" .) "copy" }}
{{ include "fieldveil-sidecar.modulesContainer" . }}
{{- end }}
{{- if .Values.redirect.enabled }}
{{ include "fieldveil-sidecar.redirectContainer" . }}
{{- end }}
{{ include "fieldveil-sidecar.agentContainer" . }}
{{ include "fieldveil-sidecar.opaContainer" . }}
{{- include "fieldveil-sidecar.bridgeContainers" (dict "leg" "server" "root" .) }}
{{ include "fieldveil-sidecar.envoyContainer" . }}
{{- /* Behind Envoy, so that it ends first: its sessions need Envoy. */}}
{{- include "fieldveil-sidecar.bridgeContainers" (dict "leg" "clients" "root" .) }}
{{- end -}}

{{- /* What all containers begin with: of (dict "name" … "image" … "root" scope). */ -}}
{{- define "fieldveil-sidecar.containerHead" -}}
- name: fieldveil-{{ .name }}
  image: {{ include "fieldveil-sidecar.image" . }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  # What a part says last stands in the pod's status.
  terminationMessagePolicy: FallbackToLogsOnError
{{- end -}}

{{- /* And end with. */ -}}
{{- define "fieldveil-sidecar.containerTail" -}}
resources:
  {{- toYaml .resources | nindent 2 }}
securityContext:
  {{- include "fieldveil-sidecar.securityContext" .root.Values.runAsUser | nindent 2 }}
{{- end -}}

{{- /* How long a container may take to be ready before it is started anew. That would mend nothing, and each restart waits longer. */ -}}
{{- define "fieldveil-sidecar.patience" -}}
periodSeconds: 1
failureThreshold: 900
{{- end -}}
