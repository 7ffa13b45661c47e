{{- /* The key agent. It is ready once the KMS has opened every keyset. */ -}}
{{- define "fieldveil-sidecar.agentContainer" -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" "agent" "image" .Values.images.fieldveil "root" .) }}
  restartPolicy: Always
  args:
  - agent
  - --keysets=/etc/fieldveil/keysets
  - --kek-uri={{ include "fieldveil-sidecar.kekUri" . }}
  - --socket=/run/fieldveil/agent/agent.sock
  - --metrics-address={{ include "fieldveil-sidecar.hostPort" (dict "address" .Values.metrics.address "port" 15021) }}
  - --refresh={{ .Values.keys.refresh }}
  - --kms-check={{ .Values.keys.kmsCheck }}
  - --max-offline={{ .Values.keys.maxOffline }}
  - --max-refused={{ .Values.keys.maxRefused }}
  {{- if include "fieldveil-sidecar.policiesName" . }}
  - --policy-bundle=/etc/fieldveil/policies/fieldveil.tar.gz
  - --policy-address=127.0.0.1:15023
  {{- end }}
  {{- if .Values.identity.spiffe.enabled }}
  - --spiffe-socket=unix:///run/spiffe/{{ .Values.identity.spiffe.socket }}
  {{- end }}
  {{- with include "fieldveil-sidecar.agentEnvironment" . }}
  env:
  {{- . | nindent 2 }}
  {{- end }}
  ports:
  - name: fieldveil-agent
    containerPort: 15021
    protocol: TCP
  startupProbe:
    httpGet: {path: /readyz, port: 15021}
    {{- include "fieldveil-sidecar.patience" . | nindent 4 }}
  # No liveness: what is wrong with KMS or files no restart mends, and one loses the open keys. So whoever keeps the port busy can't do that.
  {{- if include "fieldveil-sidecar.hasHttp" . }}
  # When the pod ends, Envoy is told to have clients go elsewhere while the application still answers. Its own image has nothing to say it with.
  lifecycle:
    preStop:
      exec:
        command: [/usr/local/bin/fieldveil, drain, --admin=/run/fieldveil/admin/admin.sock]
  {{- end }}
  volumeMounts:
  - name: fieldveil-agent
    mountPath: /run/fieldveil/agent
  - name: fieldveil-keysets
    mountPath: /etc/fieldveil/keysets
    readOnly: true
  {{- with include "fieldveil-sidecar.agentMounts" . }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- include "fieldveil-sidecar.containerTail" (dict "resources" .Values.resources.agent "root" .) | nindent 2 }}
{{- end -}}

{{- define "fieldveil-sidecar.kekUri" -}}
{{- if .Values.keys.insecureDevKek.secret -}}
insecure-dev-kek:///etc/fieldveil/insecure-dev-kek/{{ .Values.keys.insecureDevKek.key }}
{{- else -}}
{{- .Values.keys.kekUri -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.hostPort" -}}
{{- if contains ":" .address -}}[{{ .address }}]:{{ .port }}{{- else -}}{{ .address }}:{{ .port }}{{- end -}}
{{- end -}}

{{- /* How the agent shows the KMS who it is: tokens that the kubelet makes and replaces, never a secret. */ -}}
{{- define "fieldveil-sidecar.agentEnvironment" -}}
{{- $keys := .Values.keys -}}
{{- if $keys.vault.address }}
- {name: VAULT_ADDR, value: {{ $keys.vault.address | quote }}}
- {name: VAULT_AUTH_METHOD, value: kubernetes}
- {name: VAULT_AUTH_MOUNT, value: {{ $keys.vault.mount | quote }}}
- {name: VAULT_ROLE, value: {{ $keys.vault.role | quote }}}
- {name: VAULT_JWT_FILE, value: /var/run/secrets/fieldveil.io/token/vault}
{{- with $keys.vault.namespace }}
- {name: VAULT_NAMESPACE, value: {{ . | quote }}}
{{- end }}
{{- if or $keys.vault.ca.configMap $keys.vault.ca.secret }}
- {name: VAULT_CACERT, value: /etc/fieldveil/kms-ca/ca.crt}
{{- end }}
{{- end }}
{{- with $keys.aws.roleArn }}
- {name: AWS_ROLE_ARN, value: {{ . | quote }}}
- {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/fieldveil.io/token/aws}
{{- end }}
{{- range $name, $value := $keys.environment }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.agentMounts" -}}
{{- if include "fieldveil-sidecar.policiesName" . }}
- name: fieldveil-policies
  mountPath: /etc/fieldveil/policies
  readOnly: true
{{- end }}
{{- if include "fieldveil-sidecar.hasHttp" . }}
- name: fieldveil-admin
  mountPath: /run/fieldveil/admin
{{- end }}
{{- if .Values.identity.spiffe.enabled }}
- name: fieldveil-spiffe
  mountPath: /run/spiffe
  readOnly: true
{{- end }}
{{- if include "fieldveil-sidecar.kmsToken" . }}
- name: fieldveil-token
  mountPath: /var/run/secrets/fieldveil.io/token
  readOnly: true
{{- end }}
{{- if or .Values.keys.vault.ca.configMap .Values.keys.vault.ca.secret }}
- name: fieldveil-kms-ca
  mountPath: /etc/fieldveil/kms-ca
  readOnly: true
{{- end }}
{{- if .Values.keys.insecureDevKek.secret }}
- name: fieldveil-insecure-dev-kek
  mountPath: /etc/fieldveil/insecure-dev-kek
  readOnly: true
{{- end }}
{{- end -}}

{{- define "fieldveil-sidecar.kmsToken" -}}
{{- if or .Values.keys.vault.address .Values.keys.aws.roleArn -}}true{{- end -}}
{{- end -}}
