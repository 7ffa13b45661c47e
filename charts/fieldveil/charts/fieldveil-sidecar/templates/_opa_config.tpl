{{- /* deploy/opa/opa.yaml says what each part is for. */ -}}
{{- define "fieldveil-sidecar.opaConfig" -}}
{{- $policies := .Values.policies -}}
{{- $verification := $policies.verification -}}
services:
  policy:
    {{- if include "fieldveil-sidecar.policiesName" . }}
    # The key agent, which gives out the bundle of a ConfigMap: OPA itself reads a file once and never again. What else
    # may answer there has no signature.
    url: http://127.0.0.1:15023
    {{- else }}
    url: {{ $policies.server.url | quote }}
    {{- if or $policies.server.ca.configMap $policies.server.ca.secret }}
    tls:
      ca_cert: /etc/fieldveil/policy-server/ca.crt
      system_ca_required: true
    {{- end }}
    {{- if $policies.server.tokenSecret.name }}
    credentials:
      bearer:
        token_path: /etc/fieldveil/policy-token/token
    {{- end }}
    {{- end }}
    response_header_timeout_seconds: 5
bundles:
  fieldveil:
    service: policy
    resource: {{ ternary "fieldveil.tar.gz" $policies.server.resource (ne "" (include "fieldveil-sidecar.policiesName" .)) }}
    polling:
      min_delay_seconds: {{ $policies.polling.minSeconds | int }}
      max_delay_seconds: {{ $policies.polling.maxSeconds | int }}
    persist: true
    signing:
      scope: {{ $verification.scope | quote }}
keys:
  {{- range include "fieldveil-sidecar.signers" . | fromYamlArray }}
  {{ .keyId }}:
    algorithm: {{ .algorithm }}
  {{- end }}
persistence_directory: /var/lib/fieldveil/opa
decision_logs:
  console: {{ $policies.decisionLogs }}
status:
  prometheus: true
{{- end -}}
