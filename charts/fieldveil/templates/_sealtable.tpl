{{/* What a Job that seals a table is made of: .job of values, .root the chart's scope. */}}

{{/* fieldveil.sealTableCommand: of a job: what is done to the table, or `ranges` where none are given yet. */}}
{{- define "fieldveil.sealTableCommand" -}}
{{- ternary (.command | default "seal") "ranges" (ne (.ranges | default "") "") -}}
{{- end -}}

{{/* fieldveil.sealTableRanges: how many ranges there are; refuses what `fieldveil table ranges --output json` did not write. */}}
{{- define "fieldveil.sealTableRanges" -}}
{{- $parsed := fromJson .ranges -}}
{{- if or (not (kindIs "slice" $parsed.ranges)) (not $parsed.ranges) -}}
{{- fail (printf "sealTable.jobs %s: ranges is no list of ranges: make it with `fieldveil table ranges --output json`, and give it by --set-file" .name) -}}
{{- end -}}
{{- len $parsed.ranges -}}
{{- end -}}

{{/* fieldveil.sealTableArgs: the command line. Both addresses of the server come as variables, out of a Secret. */}}
{{- define "fieldveil.sealTableArgs" -}}
{{- $command := include "fieldveil.sealTableCommand" . -}}
- table
- {{ $command }}
- --table={{ .table }}
- --output=json
{{- if eq $command "ranges" }}
- --count={{ .count | default 4 | int }}
{{- else }}
- --ranges=/etc/fieldveil/ranges/ranges.json
- --range-index=$(JOB_COMPLETION_INDEX)
{{- if .catalog }}
- --catalog=/etc/fieldveil/catalog
{{- end }}
{{- range .columns }}
- --column={{ . }}
{{- end }}
{{- range .args }}
- {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* fieldveil.sealTablePod: the pod's template. It carries the sidecar, as whatever shall reach the database. */}}
{{- define "fieldveil.sealTablePod" -}}
{{- $sidecar := .root.Subcharts.sidecar -}}
{{- $job := .job -}}
{{- $indexed := ne (include "fieldveil.sealTableCommand" $job) "ranges" -}}
metadata:
  labels:
    {{- include "fieldveil.sealTableLabels" . | nindent 4 }}
    {{- include "fieldveil-sidecar.podLabels" $sidecar | nindent 4 }}
    fieldveil.io/inject: disabled
    {{- with $job.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- include "fieldveil-sidecar.podAnnotations" $sidecar | nindent 4 }}
spec:
  restartPolicy: Never
  {{- with $job.serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- end }}
  initContainers:
  {{- include "fieldveil-sidecar.initContainers" $sidecar | trim | nindent 2 }}
  containers:
  - name: table
    image: {{ include "fieldveil-sidecar.image" (dict "image" $sidecar.Values.images.fieldveil "root" $sidecar) }}
    imagePullPolicy: {{ $sidecar.Values.images.pullPolicy }}
    args:
    {{- include "fieldveil.sealTableArgs" $job | nindent 4 }}
    env:
    - name: FIELDVEIL_DIRECT_URL
      valueFrom: {secretKeyRef: {name: {{ $job.secret }}, key: direct}}
    {{- if $indexed }}
    - name: FIELDVEIL_THROUGH_URL
      valueFrom: {secretKeyRef: {name: {{ $job.secret }}, key: through, optional: {{ eq $job.command "verify" }}}}
    {{- end }}
    resources:
      {{- toYaml .root.Values.sealTable.resources | nindent 6 }}
    securityContext:
      {{- include "fieldveil.jobSecurityContext" (dict "user" 65532) | nindent 6 }}
    volumeMounts:
    {{- include "fieldveil.sealTableMounts" . | trim | nindent 4 }}
  volumes:
  {{- include "fieldveil-sidecar.volumes" $sidecar | trim | nindent 2 }}
  {{- include "fieldveil.sealTableVolumes" . | trim | nindent 2 }}
{{- end -}}

{{- define "fieldveil.sealTableLabels" -}}
app.kubernetes.io/name: fieldveil
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: seal-table
app.kubernetes.io/part-of: fieldveil
fieldveil.io/table-job: {{ .job.name }}
{{- end -}}

{{/* fieldveil.jobSecurityContext: of a container of ours beside the sidecar; never the sidecar's user. */}}
{{- define "fieldveil.jobSecurityContext" -}}
runAsNonRoot: true
runAsUser: {{ .user | int }}
runAsGroup: {{ .user | int }}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities:
  drop:
  - ALL
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "fieldveil.sealTableMounts" -}}
{{- include "fieldveil-sidecar.volumeMounts" .root.Subcharts.sidecar }}
{{- if ne (include "fieldveil.sealTableCommand" .job) "ranges" }}
- {name: ranges, mountPath: /etc/fieldveil/ranges, readOnly: true}
{{- end }}
{{- if .job.catalog }}
- {name: catalog, mountPath: /etc/fieldveil/catalog, readOnly: true}
{{- end }}
{{- if .job.ca }}
- {name: database-ca, mountPath: /etc/fieldveil/database, readOnly: true}
{{- end }}
{{- end -}}

{{- define "fieldveil.sealTableVolumes" -}}
{{- if ne (include "fieldveil.sealTableCommand" .job) "ranges" }}
- {name: ranges, configMap: {name: {{ include "fieldveil.sealTableName" . }}}}
{{- end }}
{{- with .job.catalog }}
- {name: catalog, configMap: {name: {{ .configMap }}}}
{{- end }}
{{- with .job.ca }}
- {name: database-ca, configMap: {name: {{ .configMap }}, items: [{key: {{ .key | default "ca.crt" }}, path: ca.crt}]}}
{{- end }}
{{- end -}}

{{/*
fieldveil.sealTableName: without what a Job has besides: its pods can't be changed, so a changed Job gets another name.
*/}}
{{- define "fieldveil.sealTableName" -}}
{{- printf "%s-table-%s" (include "fieldveil-sidecar.fullname" .root.Subcharts.sidecar | trunc 30 | trimSuffix "-") .job.name -}}
{{- end -}}
