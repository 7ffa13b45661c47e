{{- /* OPA. It is ready once a bundle is in force. */ -}}
{{- define "fieldveil-sidecar.opaContainer" -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" "opa" "image" .Values.images.opa "root" .) }}
  restartPolicy: Always
  args:
  - run
  - --server
  - --addr=unix:///run/fieldveil/opa/opa.sock
  - --unix-socket-perm=600
  - --diagnostic-addr={{ include "fieldveil-sidecar.hostPort" (dict "address" .Values.metrics.address "port" 15022) }}
  - --log-format=json
  - --skip-version-check
  - --config-file=/etc/fieldveil/config/opa.yaml
  {{- range include "fieldveil-sidecar.signers" . | fromYamlArray }}
  - --set-file=keys.{{ .keyId }}.key=/etc/fieldveil/policy-key/{{ .file }}
  {{- end }}
  # The mask of decision logs until the first bundle is there, which brings its own.
  - /etc/fieldveil/config/log.rego
  ports:
  - name: fieldveil-opa
    containerPort: 15022
    protocol: TCP
  startupProbe:
    httpGet: {path: "/health?bundles", port: 15022}
    {{- include "fieldveil-sidecar.patience" . | nindent 4 }}
  livenessProbe:
    httpGet: {path: /health, port: 15022}
    periodSeconds: 10
    failureThreshold: 6
  volumeMounts:
  - name: fieldveil-opa
    mountPath: /run/fieldveil/opa
  - name: fieldveil-opa-data
    mountPath: /var/lib/fieldveil/opa
  - name: fieldveil-config
    mountPath: /etc/fieldveil/config
    readOnly: true
  - name: fieldveil-policy-key
    mountPath: /etc/fieldveil/policy-key
    readOnly: true
  {{- with include "fieldveil-sidecar.opaMounts" . }}
  {{- . | trim | nindent 2 }}
  {{- end }}
  {{- include "fieldveil-sidecar.containerTail" (dict "resources" .Values.resources.opa "root" .) | nindent 2 }}
{{- end -}}

{{- define "fieldveil-sidecar.opaMounts" -}}
{{- if or .Values.policies.server.ca.configMap .Values.policies.server.ca.secret }}
- name: fieldveil-policy-server-ca
  mountPath: /etc/fieldveil/policy-server
  readOnly: true
{{- end }}
{{- if .Values.policies.server.tokenSecret.name }}
- name: fieldveil-policy-token
  mountPath: /etc/fieldveil/policy-token
  readOnly: true
{{- end }}
{{- end -}}
