{{- /* Whose signatures count: the one of `policies.verification`, and its `others`. A list of each one's file, key id, algorithm and place. */ -}}
{{- define "fieldveil-sidecar.signers" -}}
{{- $first := .Values.policies.verification -}}
{{- range $i, $signer := prepend $first.others $first }}
- keyId: {{ $signer.keyId | quote }}
  algorithm: {{ $signer.algorithm | default $first.algorithm }}
  file: {{ include "fieldveil-sidecar.signerFile" (list $i $signer.keyId) }}
  configMap: {{ $signer.configMap | default "" | quote }}
  key: {{ $signer.key | default "policy.pub.pem" | quote }}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.signerFile" -}}
{{- if first . -}}policy-{{ last . }}.pub.pem{{- else -}}policy.pub.pem{{- end -}}
{{- end -}}

{{- /* The public keys that stand in the values, as keys of the ConfigMap. */ -}}
{{- define "fieldveil-sidecar.signerKeys" -}}
{{- $first := .Values.policies.verification -}}
{{- range $i, $signer := prepend $first.others $first }}
{{- with $signer.publicKey }}
{{ include "fieldveil-sidecar.signerFile" (list $i $signer.keyId) }}: |
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
