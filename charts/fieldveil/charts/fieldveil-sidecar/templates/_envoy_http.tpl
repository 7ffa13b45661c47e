{{- /* A listener of an HTTP service, in front of it or beside who asks it. */ -}}
{{- define "fieldveil-sidecar.httpListener" -}}
{{- $upstream := .upstream -}}
- name: {{ $upstream.name }}
  {{- include "fieldveil-sidecar.addresses" $upstream | nindent 2 }}
  per_connection_buffer_limit_bytes: 131072
  filter_chains:
  - filters:
    - name: http
      typed_config:
        {{- include "fieldveil-sidecar.httpConnectionManager" . | nindent 8 }}
    {{- if dig "tls" "secret" "" $upstream.http }}
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
        common_tls_context:
          alpn_protocols: [h2, http/1.1]
          tls_certificate_sds_secret_configs:
          - {{ include "fieldveil-sidecar.kept" (printf "%s-server" $upstream.name) }}
    {{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.httpConnectionManager" -}}
"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
stat_prefix: {{ .upstream.name | quote }}
codec_type: AUTO
http_protocol_options: {enable_trailers: true}
http2_protocol_options: {max_concurrent_streams: 100, initial_stream_window_size: 1048576, initial_connection_window_size: 4194304}
normalize_path: true
merge_slashes: true
path_with_escaped_slashes_action: REJECT_REQUEST
use_remote_address: true
skip_xff_append: true
generate_request_id: false
server_header_transformation: PASS_THROUGH
stream_idle_timeout: 3600s
upgrade_configs:
- upgrade_type: websocket
route_config:
  virtual_hosts:
  - name: service
    domains: ['*']
    request_headers_to_remove: [x-envoy-external-address, x-envoy-internal]
    request_body_buffer_limit: 67108864
    routes:
    - match: {prefix: /}
      route: {cluster: {{ .upstream.name | quote }}, timeout: 0s{{ with .upstream.http.authority }}, host_rewrite_literal: {{ . | quote }}{{ end }}}
http_filters:
{{- include "fieldveil-sidecar.compressor" (list "gzip" "Gzip") }}
{{- include "fieldveil-sidecar.compressor" (list "brotli" "Brotli") }}
{{- include "fieldveil-sidecar.compressor" (list "zstd" "Zstd") }}
{{- if dig "identity" "jwt" list .upstream.http }}
{{ include "fieldveil-sidecar.jwtFilter" .upstream }}
{{- if eq .root.Values.shell "native" }}
- name: set_filter_state
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.set_filter_state.v3.Config
    on_request_headers:
    - object_key: fieldveil.claims
      factory_key: envoy.string
      read_only: true
      format_string:
        omit_empty_values: true
        text_format_source: {inline_string: 'claims:%DYNAMIC_METADATA(envoy.filters.http.jwt_authn:claims)%'}
{{- end }}
{{- end }}
- name: fieldveil
  typed_config:
    {{- if eq .root.Values.shell "native" }}
    "@type": type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter
    {{- include "fieldveil-sidecar.nativeFilter" . | nindent 4 }}
    {{- else }}
    "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
    config:
      allow_on_headers_stop_iteration: true
      {{- include "fieldveil-sidecar.plugin" (dict "upstream" .upstream "root" .root "module" "filter-json.wasm") | nindent 6 }}
    {{- end }}
- name: envoy.filters.http.router
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
    suppress_envoy_headers: true
{{- end -}}

{{- define "fieldveil-sidecar.compressor" }}
- name: compress_{{ first . }}
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.compressor.v3.Compressor
    compressor_library:
      name: {{ first . }}
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.compression.{{ first . }}.compressor.v3.{{ last . }}
    response_direction_config:
      disable_on_etag_header: true
{{- end -}}

{{- /* A token that is there must hold. Who has none is nobody, or is refused. */ -}}
{{- define "fieldveil-sidecar.jwtFilter" -}}
{{- $upstream := . -}}
{{- $issuers := .http.identity.jwt -}}
- name: envoy.filters.http.jwt_authn
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication
    providers:
    {{- range $issuers }}
      {{ .name | quote }}:
        issuer: {{ .issuer | quote }}
        {{- with .audiences }}
        audiences: {{ toJson . }}
        {{- end }}
        forward: true
        payload_in_metadata: claims
        local_jwks: {filename: /etc/fieldveil/upstreams/{{ $upstream.name }}/jwks-{{ .name }}.json}
    {{- end }}
    rules:
    - match: {prefix: /}
      requires:
        requires_any:
          requirements:
          {{- range $issuers }}
          - provider_name: {{ .name | quote }}
          {{- end }}
          {{- if not .http.tokenRequired }}
          - allow_missing: {}
          {{- else if eq (len $issuers) 1 }}
          - provider_name: {{ (first $issuers).name | quote }}
          {{- end }}
{{- end -}}
