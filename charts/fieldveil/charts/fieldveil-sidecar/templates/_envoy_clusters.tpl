{{- /* The server of an upstream. */ -}}
{{- define "fieldveil-sidecar.upstreamCluster" -}}
{{- $isName := and (not (contains ":" .host)) (not (regexMatch "^[0-9.]+$" .host)) -}}
- name: {{ .name | quote }}
  type: {{ ternary "LOGICAL_DNS" "STATIC" $isName }}
  {{- if $isName }}
  dns_lookup_family: ALL
  {{- end }}
  {{- with .connections | default 0 | int }}
  circuit_breakers:
    thresholds:
    - max_connections: {{ . }}
  {{- end }}
  load_assignment:
    cluster_name: {{ .name | quote }}
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            socket_address: {address: {{ .host | quote }}, port_value: {{ .port | int }}}
  {{- if .tls }}
  transport_socket:
    {{- include "fieldveil-sidecar.upstreamTls" . | nindent 4 }}
  {{- end }}
  {{- if eq .protocol "http" }}
  {{- include "fieldveil-sidecar.httpCodec" (dig "http" "http2" false .) | nindent 2 }}
  {{- end }}
{{- end -}}

{{- /* Towards a server: its authority, and the sidecar's own certificate if there is one. */ -}}
{{- define "fieldveil-sidecar.upstreamTls" -}}
{{- if include "fieldveil-sidecar.asksForTls" . -}}
name: starttls
typed_config:
  "@type": type.googleapis.com/envoy.extensions.transport_sockets.starttls.v3.UpstreamStartTlsConfig
  cleartext_socket_config: {}
  tls_socket_config:
    max_session_keys: 0
    {{- include "fieldveil-sidecar.upstreamTlsContext" . | nindent 4 }}
{{- else -}}
name: tls
typed_config:
  "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
  {{- include "fieldveil-sidecar.upstreamTlsContext" . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- /* Whether the native filter asks the server for TLS, within its protocol. */ -}}
{{- define "fieldveil-sidecar.asksForTls" -}}
{{- if eq (dig "by" "envoy" (.tls | default dict)) "filter" -}}true{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.upstreamTlsContext" -}}
sni: {{ .tls.serverName | default .host | quote }}
common_tls_context:
  {{- if ne .protocol "mysql" }}
  alpn_protocols: [{{ if eq .protocol "postgres" }}postgresql{{ else if dig "http" "http2" false . }}h2{{ else }}http/1.1{{ end }}]
  {{- end }}
  tls_params: {tls_minimum_protocol_version: TLSv1_2, tls_maximum_protocol_version: TLSv1_3}
  validation_context_sds_secret_config: {{ include "fieldveil-sidecar.kept" (printf "%s-ca" .name) }}
  {{- if dig "clientCertificate" "secret" "" .tls }}
  tls_certificate_sds_secret_configs:
  - {{ include "fieldveil-sidecar.kept" (printf "%s-client" .name) }}
  {{- end }}
{{- end -}}

{{- /* A part of the sidecar, by its Unix socket: of (dict "name" … "path" … "connections" 0 "http" ""). */ -}}
{{- define "fieldveil-sidecar.pipeCluster" -}}
- name: {{ .name | quote }}
  type: STATIC
  {{- with .connections }}
  circuit_breakers:
    thresholds:
    - max_connections: {{ . }}
  {{- end }}
  load_assignment:
    cluster_name: {{ .name | quote }}
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            pipe: {path: {{ .path }}}
  {{- if .http }}
  {{- include "fieldveil-sidecar.httpCodec" false | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.httpCodec" -}}
per_connection_buffer_limit_bytes: 131072
typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config:
      {{- if . }}
      http2_protocol_options: {initial_stream_window_size: 1048576, initial_connection_window_size: 4194304}
      {{- else }}
      http_protocol_options: {enable_trailers: true}
      {{- end }}
{{- end -}}
