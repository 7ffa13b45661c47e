{{- /* What the ConfigMaps' names begin with. */ -}}
{{- define "fieldveil-sidecar.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains "fieldveil" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-fieldveil" (.Release.Name | trunc 40 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.labels" -}}
app.kubernetes.io/name: fieldveil
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: sidecar
app.kubernetes.io/part-of: fieldveil
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* An image's full name: of (dict "image" … "root" scope). A digest beside a tag is what counts. */ -}}
{{- define "fieldveil-sidecar.image" -}}
{{- $tag := .image.tag | default .root.Chart.AppVersion -}}
{{- printf "%s:%s" .image.repository $tag -}}
{{- with .image.digest -}}{{- printf "@%s" . -}}{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.configName" -}}
{{ include "fieldveil-sidecar.fullname" . }}-config
{{- end -}}

{{- /* The ConfigMap with the bundle: the user's, or the one that is made of `policies.bundle`; empty with a server. */ -}}
{{- define "fieldveil-sidecar.policiesName" -}}
{{- if .Values.policies.configMap -}}
{{- .Values.policies.configMap -}}
{{- else if .Values.policies.bundle -}}
{{- include "fieldveil-sidecar.fullname" . }}-bundle
{{- end -}}
{{- end -}}

{{- /* How the modules come: `image` or `copy`. A runtime may mount images so that no code in them can be loaded, which the native module is. */ -}}
{{- define "fieldveil-sidecar.delivery" -}}
{{- if ne .Values.modules.delivery "auto" -}}
{{- .Values.modules.delivery -}}
{{- else if and (eq .Values.shell "wasm") (semverCompare ">=1.35.0-0" .Capabilities.KubeVersion.Version) -}}
image
{{- else -}}
copy
{{- end -}}
{{- end -}}
