{{- /* What deploy/envoy/*.j2 say, for all upstreams of the pod; a test compares the two as data. The why of each part stands there. */ -}}
{{- define "fieldveil-sidecar.envoyConfig" -}}
{{- /* Whatever a pod's template includes first tells what is wrong. */ -}}
{{- include "fieldveil-sidecar.validate" . -}}
node: {id: fieldveil, cluster: fieldveil}
admin:
  address:
    pipe: {path: /run/fieldveil/admin/admin.sock}
{{- if eq .Values.shell "native" }}
bootstrap_extensions:
- name: fieldveil
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.bootstrap.dynamic_modules.v3.DynamicModuleBootstrapExtension
    dynamic_module_config: {{ include "fieldveil-sidecar.nativeModule" . }}
    extension_name: fieldveil
layered_runtime:
  layers:
  - {name: fieldveil, static_layer: {envoy.reloadable_features.dynamic_modules_strip_custom_stat_prefix: true}}
{{- end }}
memory_allocator_manager: {bytes_to_release: 4194304, memory_release_interval: 1s}
stats_config:
  stats_tags:
  - {tag_name: label, regex: '^wasmcustom\.fieldveil\.(?:sealed|revealed|masked|concealed|nulled|plaintext|budget_spent)(\.(.+))$'}
  - {tag_name: sqlstate, regex: '^wasmcustom\.fieldveil\.(?:refused|unreadable)(\.([0-9A-Z]{5}))$'}
  - {tag_name: problem, regex: '^wasmcustom\.fieldveil\.http\.refused(\.([^.]+))$'}
  - {tag_name: keyset, regex: '^wasmcustom\.fieldveil\.key_(?:uses|used_up)(\.([^.]+))\.[a-z]+\.\d+$'}
  - {tag_name: purpose, regex: '^wasmcustom\.fieldveil\.key_(?:uses|used_up)\.[^.]+(\.([a-z]+))\.\d+$'}
  - {tag_name: key, regex: '^wasmcustom\.fieldveil\.key_(?:uses|used_up)\.[^.]+\.[a-z]+(\.(\d+))$'}
  - {tag_name: bundle, regex: '^wasmcustom\.fieldveil\.plans\.held(\.([^.]+))$'}
static_resources:
  listeners:
{{- range .Values.upstreams }}
{{- $scope := dict "upstream" . "root" $ }}
{{- if eq .protocol "http" }}
  {{- include "fieldveil-sidecar.httpListener" $scope | nindent 2 }}
{{- else }}
  {{- include "fieldveil-sidecar.databaseListener" $scope | nindent 2 }}
{{- end }}
{{- end }}
  {{- include "fieldveil-sidecar.metricsListener" . | nindent 2 }}
  clusters:
{{- range .Values.upstreams }}
{{- if include "fieldveil-sidecar.isBridged" . }}
  {{- include "fieldveil-sidecar.pipeCluster" (dict "name" .name "path" (include "fieldveil-sidecar.bridgeSocket" .) "connections" (int .connections) "http" "") | nindent 2 }}
{{- else }}
  {{- include "fieldveil-sidecar.upstreamCluster" . | nindent 2 }}
{{- end }}
{{- end }}
{{- $http := include "fieldveil-sidecar.hasHttp" . }}
  {{- include "fieldveil-sidecar.pipeCluster" (dict "name" "opa" "path" "/run/fieldveil/opa/opa.sock" "connections" 16 "http" $http) | nindent 2 }}
  {{- include "fieldveil-sidecar.pipeCluster" (dict "name" "key_agent" "path" "/run/fieldveil/agent/agent.sock" "connections" 0 "http" $http) | nindent 2 }}
  {{- include "fieldveil-sidecar.pipeCluster" (dict "name" "admin" "path" "/run/fieldveil/admin/admin.sock" "connections" 0 "http" "") | nindent 2 }}
{{- end -}}

{{- define "fieldveil-sidecar.hasHttp" -}}
{{- range .Values.upstreams }}{{ if eq .protocol "http" }}true{{ end }}{{ end -}}
{{- end -}}

{{- /* Where a listener listens: its port, its socket, or both. */ -}}
{{- define "fieldveil-sidecar.addresses" -}}
{{- $listener := .listener | default dict -}}
{{- $port := get $listener "port" | default 0 | int -}}
{{- $places := list -}}
{{- if include "fieldveil-sidecar.takesTls" . -}}
{{- /* For the bridge alone, which is the same user: 0600. */ -}}
{{- $places = append $places (printf "pipe: {path: %s, mode: 384}" (include "fieldveil-sidecar.clientsSocket" .)) -}}
{{- else if $port -}}
{{- $places = append $places (include "fieldveil-sidecar.socketAddress" (dict "address" ($listener.address | default "127.0.0.1") "port" $port)) -}}
{{- end -}}
{{- if $listener.socket -}}
{{- /* The application is another user: who can reach the volume may connect. */ -}}
{{- $places = append $places (printf "pipe: {path: %s, mode: 438}" (include "fieldveil-sidecar.socketPath" .)) -}}
{{- end -}}
address:
  {{ first $places }}
{{- with rest $places }}
additional_addresses:
{{- range . }}
- address:
    {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.socketAddress" -}}
socket_address: {address: {{ .address | quote }}, port_value: {{ .port }}{{ if eq .address "::" }}, ipv4_compat: true{{ end }}}
{{- end -}}

{{- define "fieldveil-sidecar.socketPath" -}}
/run/fieldveil/sockets/{{ .name }}/
{{- if eq .protocol "postgres" -}}.s.PGSQL.{{ .listener.port | default 5432 | int }}{{- else -}}{{ .protocol }}.sock{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.databaseListener" -}}
- name: {{ .upstream.name | quote }}
  {{- include "fieldveil-sidecar.addresses" .upstream | nindent 2 }}
  per_connection_buffer_limit_bytes: 1048576
  {{- if include "fieldveil-sidecar.takesTls" .upstream }}
  listener_filters:
  - name: proxy_protocol
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol
      disallowed_versions: [V1]
      rules:
      - tlv_type: 224
        on_tlv_present: {metadata_namespace: fieldveil, key: client_certificate}
  {{- end }}
  filter_chains:
  - filters:
    - name: fieldveil
      typed_config:
        {{- if eq .root.Values.shell "native" }}
        "@type": type.googleapis.com/envoy.extensions.filters.network.dynamic_modules.v3.DynamicModuleNetworkFilter
        {{- include "fieldveil-sidecar.nativeFilter" . | nindent 8 }}
        {{- else }}
        "@type": type.googleapis.com/envoy.extensions.filters.network.wasm.v3.Wasm
        config:
          {{- include "fieldveil-sidecar.plugin" (dict "upstream" .upstream "root" .root "module" (printf "filter-%s.wasm" .upstream.protocol)) | nindent 10 }}
        {{- end }}
    - name: tcp_proxy
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
        stat_prefix: {{ .upstream.name | quote }}
        cluster: {{ .upstream.name | quote }}
        idle_timeout: 0s
        access_log:
        - name: upstream_failure
          filter: {response_flag_filter: {flags: [UF, UH]}}
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StderrAccessLog
            log_format:
              text_format_source:
                inline_string: "[%START_TIME%][error] no connection to cluster %UPSTREAM_CLUSTER%: %UPSTREAM_TRANSPORT_FAILURE_REASON%\n"
{{- end -}}

{{- /* The module as a plugin: closed where it is not there, and started anew after a trap. */ -}}
{{- define "fieldveil-sidecar.plugin" -}}
name: fieldveil
root_id: fieldveil
failure_policy: FAIL_RELOAD
reload_config: {backoff: {base_interval: 0.5s}}
vm_config:
  vm_id: fieldveil
  runtime: envoy.wasm.runtime.v8
  code:
    local: {filename: /opt/fieldveil/modules/{{ .module }}}
  environment_variables:
    host_env_keys: [FIELDVEIL_WORKLOAD_NAMESPACE, FIELDVEIL_WORKLOAD_SERVICE_ACCOUNT, FIELDVEIL_WORKLOAD_LABELS, FIELDVEIL_WORKLOAD_SPIFFE_ID]
configuration:
  "@type": type.googleapis.com/google.protobuf.StringValue
  value: {{ include "fieldveil-sidecar.filterConfig" . | fromYaml | toJson | quote }}
{{- end -}}

{{- /* The native module, loaded once for all that names it. */ -}}
{{- define "fieldveil-sidecar.nativeModule" -}}
{name: fieldveil, module: {local: {filename: /opt/fieldveil/modules/libfieldveil.so}}, do_not_close: true, metrics_namespace: wasmcustom}
{{- end -}}

{{- /* A filter of the native module, of a protocol by its name. */ -}}
{{- define "fieldveil-sidecar.nativeFilter" -}}
dynamic_module_config: {{ include "fieldveil-sidecar.nativeModule" . }}
filter_name: fieldveil.{{ .upstream.protocol }}{{ if include "fieldveil-sidecar.asksForTls" .upstream }}.ssl_request{{ end }}
filter_config:
  "@type": type.googleapis.com/google.protobuf.StringValue
  value: {{ include "fieldveil-sidecar.filterConfig" . | fromYaml | toJson | quote }}
{{- end -}}

{{- /* The filter's own configuration. */ -}}
{{- define "fieldveil-sidecar.filterConfig" -}}
listener: {{ .upstream.name | quote }}
workload:
  from: environment
  {{- if .root.Values.identity.spiffe.enabled }}
  spiffe_id_from: key_agent
  {{- end }}
policy: {cluster: opa, path: /v1/data/fieldveil/plan, timeout_ms: 1000}
keys: {cluster: key_agent, path: /v1/keysets, timeout_ms: 1000, refresh_seconds: 5, max_stale_seconds: 600}
audit: {interval_seconds: {{ .root.Values.audit.intervalSeconds | int }}}
{{- with .upstream.limits }}
limits:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if eq .upstream.protocol "http" }}
http:
  {{- include "fieldveil-sidecar.httpFilterConfig" .upstream.http | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.httpFilterConfig" -}}
{{- $identity := .identity | default dict -}}
service: {{ .service | quote }}
identity:
  {{- if $identity.jwt }}
  jwt_payload: claims
  {{- end }}
  {{- with $identity.userHeader }}
  user_header: {{ . | quote }}
  {{- end }}
  {{- with $identity.purposeHeader }}
  purpose_header: {{ . | quote }}
  {{- end }}
  {{- with $identity.claimsLeftOut }}
  claims_left_out: {{ toJson . }}
  {{- end }}
  headers: {{ $identity.headers | default list | toJson }}
{{- with .limits }}
limits:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* The only two paths of the admin interface that leave the pod. */ -}}
{{- define "fieldveil-sidecar.metricsListener" -}}
- name: metrics
  address:
    {{ include "fieldveil-sidecar.socketAddress" (dict "address" .Values.metrics.address "port" 15020) }}
  filter_chains:
  - filters:
    - name: http
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: metrics
        route_config:
          virtual_hosts:
          - name: admin
            domains: ['*']
            routes:
            - match: {path: /ready, headers: [{name: ':method', string_match: {exact: GET}}]}
              route: {cluster: admin}
            - match: {path: /stats/prometheus, headers: [{name: ':method', string_match: {exact: GET}}]}
              route: {cluster: admin}
        http_filters:
        - name: envoy.filters.http.router
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
{{- end -}}
