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

{{/*
fieldveil.sealTableCatalog: where the catalogs lie: in a ConfigMap of the job's, or in the release's own bundle of policies. Nowhere where the columns
say all themselves.
*/}}
{{- define "fieldveil.sealTableCatalog" -}}
{{- if .job.catalog -}}
/etc/fieldveil/catalog
{{- else if not (contains "=" (join "" .job.columns)) -}}
{{- if not (include "fieldveil-sidecar.policiesName" .root.Subcharts.sidecar) -}}
{{- fail (printf "sealTable.jobs %s: with policies.server its catalogs are not in the cluster: name a ConfigMap with a data.yaml in catalog, or columns that say all themselves" .job.name) -}}
{{- end -}}
/etc/fieldveil/catalog/fieldveil.tar.gz
{{- end -}}
{{- end -}}

{{/* fieldveil.sealTableArgs: the command line. Both addresses of the server come as variables, out of a Secret. */}}
{{- define "fieldveil.sealTableArgs" -}}
{{- $command := include "fieldveil.sealTableCommand" .job -}}
- table
- {{ $command }}
- --table={{ .job.table }}
- --output=json
{{- if eq $command "ranges" }}
- --count={{ .job.count | default 4 | int }}
{{- else }}
- --ranges=/etc/fieldveil/ranges/ranges.json
- --range-index=$(JOB_COMPLETION_INDEX)
{{- with include "fieldveil.sealTableCatalog" . }}
- --catalog={{ . }}
{{- end }}
{{- range .job.columns }}
- --column={{ . }}
{{- end }}
{{- if ne $command "unseal" }}
- --keysets=/etc/fieldveil/keysets
{{- end }}
{{- range .job.args }}
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
    {{- include "fieldveil.sealTableArgs" . | nindent 4 }}
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
      {{- include "fieldveil-sidecar.securityContext" 65532 | nindent 6 }}
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

{{- define "fieldveil.sealTableMounts" -}}
{{- include "fieldveil-sidecar.volumeMounts" .root.Subcharts.sidecar }}
{{- if ne (include "fieldveil.sealTableCommand" .job) "ranges" }}
- {name: ranges, mountPath: /etc/fieldveil/ranges, readOnly: true}
{{- if include "fieldveil.sealTableCatalog" . }}
- {name: catalog, mountPath: /etc/fieldveil/catalog, readOnly: true}
{{- end }}
{{- if ne .job.command "unseal" }}
- {name: keysets, mountPath: /etc/fieldveil/keysets, readOnly: true}
{{- end }}
{{- end }}
{{- if .job.ca }}
- {name: database-ca, mountPath: /etc/fieldveil/database, readOnly: true}
{{- end }}
{{- end -}}

{{/* fieldveil.sealTableVolumes: the sidecar's own volumes are mounted by nobody else, so what both read is there twice. */}}
{{- define "fieldveil.sealTableVolumes" -}}
{{- if ne (include "fieldveil.sealTableCommand" .job) "ranges" }}
- {name: ranges, configMap: {name: {{ include "fieldveil.sealTableName" . }}}}
{{- if .job.catalog }}
- {name: catalog, configMap: {name: {{ .job.catalog.configMap }}}}
{{- else if include "fieldveil.sealTableCatalog" . }}
- name: catalog
  configMap:
    name: {{ include "fieldveil-sidecar.policiesName" .root.Subcharts.sidecar }}
    items:
    - {key: fieldveil.tar.gz, path: fieldveil.tar.gz}
{{- end }}
{{- if ne .job.command "unseal" }}
{{- /* Encrypted: of them only the primary keys' numbers are read. */}}
{{- with .root.Subcharts.sidecar.Values.keys.keysets }}
- name: keysets
  {{- if .secret }}
  secret:
    secretName: {{ .secret }}
  {{- else }}
  configMap:
    name: {{ .configMap }}
  {{- end }}
    {{- with .items }}
    items:
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}
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
