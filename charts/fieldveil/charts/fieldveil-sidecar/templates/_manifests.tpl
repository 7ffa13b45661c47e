{{- /* The ConfigMaps that the pods mount. */ -}}
{{- define "fieldveil-sidecar.manifests" -}}
{{- include "fieldveil-sidecar.validate" . -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "fieldveil-sidecar.configName" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "fieldveil-sidecar.labels" . | nindent 4 }}
data:
  envoy.yaml: |
    {{- include "fieldveil-sidecar.envoyConfig" . | nindent 4 }}
  {{- with include "fieldveil-sidecar.envoySecrets" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  opa.yaml: |
    {{- include "fieldveil-sidecar.opaConfig" . | nindent 4 }}
  log.rego: |
    {{- include "fieldveil-sidecar.decisionLogMask" . | nindent 4 }}
  {{- with include "fieldveil-sidecar.signerKeys" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
{{- if and .Values.policies.bundle (not .Values.policies.configMap) }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "fieldveil-sidecar.policiesName" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "fieldveil-sidecar.labels" . | nindent 4 }}
binaryData:
  fieldveil.tar.gz: {{ .Values.policies.bundle | replace "\n" "" | replace "\r" "" | trim | quote }}
{{- end }}
{{- end -}}
