{{- /* The sidecar's volumes as a YAML list. Sockets and what is written live in memory or with the pod. */ -}}
{{- define "fieldveil-sidecar.volumes" -}}
{{- include "fieldveil-sidecar.validate" . -}}
- name: fieldveil-config
  configMap:
    name: {{ include "fieldveil-sidecar.configName" . }}
{{- if eq (include "fieldveil-sidecar.delivery" .) "image" }}
- name: fieldveil-modules
  image:
    reference: {{ include "fieldveil-sidecar.image" (dict "image" .Values.images.fieldveil "root" .) }}
    pullPolicy: {{ .Values.images.pullPolicy }}
{{- else }}
- name: fieldveil-modules
  emptyDir: {sizeLimit: 64Mi}
{{- end }}
- name: fieldveil-agent
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: fieldveil-opa
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: fieldveil-admin
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
{{- if include "fieldveil-sidecar.bridges" . | fromYamlArray }}
- name: fieldveil-bridges
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
{{- end }}
- name: fieldveil-opa-data
  emptyDir: {sizeLimit: 64Mi}
{{- if include "fieldveil-sidecar.hasSockets" . }}
- name: fieldveil-sockets
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
{{- end }}
{{- include "fieldveil-sidecar.policyVolumes" . }}
{{- include "fieldveil-sidecar.keyVolumes" . }}
{{- range .Values.upstreams }}
{{- with include "fieldveil-sidecar.upstreamFiles" . }}
{{ . }}
{{- end }}
{{- with include "fieldveil-sidecar.clientsFiles" . }}
{{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.policyVolumes" -}}
{{- $policies := .Values.policies }}
{{- if include "fieldveil-sidecar.policiesName" . }}
- name: fieldveil-policies
  configMap:
    name: {{ include "fieldveil-sidecar.policiesName" . }}
    items:
    - {key: fieldveil.tar.gz, path: fieldveil.tar.gz}
{{- else }}
{{- with include "fieldveil-sidecar.oneFile" (dict "from" $policies.server.ca "path" "ca.crt") }}
- name: fieldveil-policy-server-ca
  {{- . | nindent 2 }}
{{- end }}
{{- with $policies.server.tokenSecret.name }}
- name: fieldveil-policy-token
  {{- include "fieldveil-sidecar.oneFile" (dict "from" (dict "secret" . "key" $policies.server.tokenSecret.key) "path" "token") | nindent 2 }}
{{- end }}
{{- end }}
- name: fieldveil-policy-key
  projected:
    sources:
    {{- range include "fieldveil-sidecar.signers" . | fromYamlArray }}
    - configMap:
        name: {{ .configMap | default (include "fieldveil-sidecar.configName" $) }}
        items:
        - {key: {{ ternary .key .file (ne "" .configMap) | quote }}, path: {{ .file }}}
    {{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.keyVolumes" -}}
{{- $keys := .Values.keys }}
- name: fieldveil-keysets
  {{- if $keys.keysets.secret }}
  secret:
    secretName: {{ $keys.keysets.secret }}
  {{- else }}
  configMap:
    name: {{ $keys.keysets.configMap }}
  {{- end }}
    {{- with $keys.keysets.items }}
    items:
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- if include "fieldveil-sidecar.kmsToken" . }}
- name: fieldveil-token
  projected:
    sources:
    {{- if $keys.vault.address }}
    - serviceAccountToken: {path: vault, audience: {{ $keys.vault.audience | quote }}, expirationSeconds: 3600}
    {{- end }}
    {{- if $keys.aws.roleArn }}
    - serviceAccountToken: {path: aws, audience: {{ $keys.aws.audience | quote }}, expirationSeconds: 3600}
    {{- end }}
{{- end }}
{{- with .Values.identity.spiffe }}
{{- if .enabled }}
- name: fieldveil-spiffe
  {{- if .hostPath }}
  hostPath: {path: {{ .hostPath | quote }}, type: Directory}
  {{- else }}
  csi: {driver: {{ .csiDriver | quote }}, readOnly: true}
  {{- end }}
{{- end }}
{{- end }}
{{- with include "fieldveil-sidecar.oneFile" (dict "from" $keys.vault.ca "path" "ca.crt") }}
- name: fieldveil-kms-ca
  {{- . | nindent 2 }}
{{- end }}
{{- with $keys.insecureDevKek.secret }}
- name: fieldveil-insecure-dev-kek
  {{- include "fieldveil-sidecar.oneFile" (dict "from" $keys.insecureDevKek "path" $keys.insecureDevKek.key) | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* A volume of one file from a ConfigMap or a Secret: of (dict "from" {configMap, secret, key} "path" …); empty if neither is named. */ -}}
{{- define "fieldveil-sidecar.oneFile" -}}
{{- if .from.configMap -}}
configMap:
  name: {{ .from.configMap }}
  items:
  - {key: {{ .from.key | quote }}, path: {{ .path }}}
{{- else if .from.secret -}}
secret:
  secretName: {{ .from.secret }}
  items:
  - {key: {{ .from.key | quote }}, path: {{ .path }}}
{{- end -}}
{{- end -}}

{{- /* Certificates and key sets of one upstream, in one volume; empty if it has none. */ -}}
{{- define "fieldveil-sidecar.upstreamFiles" -}}
{{- $sources := include "fieldveil-sidecar.upstreamSources" . -}}
{{- if $sources -}}
- name: fieldveil-upstream-{{ .name }}
  projected:
    sources:
    {{- $sources | nindent 4 }}
{{- end -}}
{{- end -}}

{{- /* What clients verify, and those whom the bridge from clients trusts; empty if it needs no file. */ -}}
{{- define "fieldveil-sidecar.clientsFiles" -}}
{{- $tls := dig "tls" dict (.listener | default dict) -}}
{{- if or $tls.secret $tls.clientCa -}}
- name: fieldveil-clients-{{ .name }}
  projected:
    sources:
    {{- with $tls.secret }}
    {{- include "fieldveil-sidecar.projectedPair" (dict "secret" . "name" "tls") | nindent 4 }}
    {{- end }}
    {{- with $tls.clientCa }}
    {{- include "fieldveil-sidecar.projected" (dict "from" . "key" (.key | default "ca.crt") "path" "ca.crt") | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.upstreamSources" -}}
{{- with .tls }}
{{- with .ca }}
{{ include "fieldveil-sidecar.projected" (dict "from" . "key" (.key | default "ca.crt") "path" "ca.crt") }}
{{- end }}
{{- if dig "clientCertificate" "secret" "" . }}
{{ include "fieldveil-sidecar.projectedPair" (dict "secret" .clientCertificate.secret "name" "client") }}
{{- end }}
{{- end }}
{{- with .http }}
{{- if dig "tls" "secret" "" . }}
{{ include "fieldveil-sidecar.projectedPair" (dict "secret" .tls.secret "name" "server") }}
{{- end }}
{{- range dig "identity" "jwt" list . }}
{{ include "fieldveil-sidecar.projected" (dict "from" .jwks "key" (.jwks.key | default "jwks.json") "path" (printf "jwks-%s.json" .name)) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.projected" -}}
{{- $kind := ternary "configMap" "secret" (ne "" (.from.configMap | default "")) -}}
- {{ $kind }}:
    name: {{ get .from $kind }}
    items:
    - {key: {{ .key | quote }}, path: {{ .path }}}
{{- end -}}

{{- define "fieldveil-sidecar.projectedPair" -}}
- secret:
    name: {{ .secret }}
    items:
    - {key: tls.crt, path: {{ .name }}.crt}
    - {key: tls.key, path: {{ .name }}.key}
{{- end -}}
