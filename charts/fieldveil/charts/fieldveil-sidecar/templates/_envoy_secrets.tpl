{{- /* Certificates by files that Envoy watches: it reads what its configuration itself names once, and a Secret is renewed.
What deploy/envoy/secret.yaml.j2 says. */ -}}

{{- /* Of a name: where the configuration refers to. */ -}}
{{- define "fieldveil-sidecar.kept" -}}
{name: {{ . }}, sds_config: {path_config_source: {path: /etc/fieldveil/config/{{ . }}.yaml}}}
{{- end -}}

{{- /* The files of all upstreams, as keys of the ConfigMap. */ -}}
{{- define "fieldveil-sidecar.envoySecrets" -}}
{{- range .Values.upstreams }}
{{- $folder := printf "/etc/fieldveil/upstreams/%s" .name }}
{{- if and .tls (not (include "fieldveil-sidecar.isBridged" .)) }}
{{ .name }}-ca.yaml: |
  {{- include "fieldveil-sidecar.authority" (dict "upstream" . "folder" $folder) | nindent 2 }}
{{- if dig "clientCertificate" "secret" "" .tls }}
{{ .name }}-client.yaml: |
  {{- include "fieldveil-sidecar.certificate" (dict "upstream" . "folder" $folder "file" "client") | nindent 2 }}
{{- end }}
{{- end }}
{{- if dig "tls" "secret" "" (.http | default dict) }}
{{ .name }}-server.yaml: |
  {{- include "fieldveil-sidecar.certificate" (dict "upstream" . "folder" $folder "file" "server") | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Without an authority and a name to match, TLS protects from nobody who stands in between. */ -}}
{{- define "fieldveil-sidecar.authority" -}}
resources:
- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: {{ .upstream.name }}-ca
  validation_context:
    trusted_ca: {filename: {{ .folder }}/ca.crt}
    watched_directory: {path: {{ .folder }}}
    match_typed_subject_alt_names:
    - san_type: DNS
      matcher: {exact: {{ .upstream.tls.serverName | default .upstream.host | quote }}}
{{- end -}}

{{- define "fieldveil-sidecar.certificate" -}}
resources:
- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: {{ .upstream.name }}-{{ .file }}
  tls_certificate:
    certificate_chain: {filename: {{ .folder }}/{{ .file }}.crt}
    private_key: {filename: {{ .folder }}/{{ .file }}.key}
    watched_directory: {path: {{ .folder }}}
{{- end -}}
