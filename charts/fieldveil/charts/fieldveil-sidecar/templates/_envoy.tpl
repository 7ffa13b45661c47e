{{- /* Envoy with the filters. Behind all that it needs, so that whoever comes after it finds them ready. */ -}}
{{- define "fieldveil-sidecar.envoyContainer" -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" "envoy" "image" .Values.images.envoy "root" .) }}
  restartPolicy: Always
  args:
  - --config-path
  - /etc/fieldveil/config/envoy.yaml
  - --concurrency
  - {{ .Values.concurrency | quote }}
  # No second Envoy takes over from this one.
  - --disable-hot-restart
  # Of its start it would list all that it is made of, in 150 lines.
  - --component-log-level
  - main:warning
  env:
  {{- include "fieldveil-sidecar.identityEnvironment" . | nindent 2 }}
  ports:
  - name: fieldveil-envoy
    containerPort: 15020
    protocol: TCP
  startupProbe:
    httpGet: {path: /ready, port: 15020}
    {{- include "fieldveil-sidecar.patience" . | nindent 4 }}
  # No liveness: what ends Envoy restarts it, and a restart for another reason would cost every session.
  readinessProbe:
    httpGet: {path: /ready, port: 15020}
    periodSeconds: 5
    failureThreshold: 2
  volumeMounts:
  {{- include "fieldveil-sidecar.envoyMounts" . | nindent 2 }}
  {{- include "fieldveil-sidecar.containerTail" (dict "resources" .Values.resources.envoy "root" .) | nindent 2 }}
{{- end -}}

{{- define "fieldveil-sidecar.envoyMounts" -}}
{{- $root := . -}}
- name: fieldveil-config
  mountPath: /etc/fieldveil/config
  readOnly: true
- name: fieldveil-modules
  # An image volume has the image's own folders; a copy has the files alone.
  mountPath: /opt/fieldveil{{ if eq (include "fieldveil-sidecar.delivery" .) "copy" }}/modules{{ end }}
  readOnly: true
- name: fieldveil-agent
  mountPath: /run/fieldveil/agent
- name: fieldveil-opa
  mountPath: /run/fieldveil/opa
- name: fieldveil-admin
  mountPath: /run/fieldveil/admin
{{- if include "fieldveil-sidecar.bridges" . | fromYamlArray }}
- name: fieldveil-bridges
  mountPath: /run/fieldveil/bridges
{{- end }}
{{- range .Values.upstreams }}
{{- if dig "listener" "socket" false . }}
- name: fieldveil-sockets
  mountPath: /run/fieldveil/sockets/{{ .name }}
  subPath: {{ .name | quote }}
{{- end }}
{{- if and (include "fieldveil-sidecar.upstreamFiles" .) (not (include "fieldveil-sidecar.isBridged" .)) }}
- name: fieldveil-upstream-{{ .name }}
  mountPath: /etc/fieldveil/upstreams/{{ .name }}
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{- /* Who runs here, for the policy's input: the kubelet's word, which the pod can't change. */ -}}
{{- define "fieldveil-sidecar.identityEnvironment" -}}
- name: FIELDVEIL_WORKLOAD_NAMESPACE
  valueFrom:
    fieldRef:
      apiVersion: v1
      fieldPath: metadata.namespace
- name: FIELDVEIL_WORKLOAD_SERVICE_ACCOUNT
  valueFrom:
    fieldRef:
      apiVersion: v1
      fieldPath: spec.serviceAccountName
{{- $pairs := list }}
{{- range $i, $key := .Values.identity.podLabels }}
- name: FIELDVEIL_LABEL_{{ $i }}
  valueFrom:
    fieldRef:
      apiVersion: v1
      fieldPath: metadata.labels['{{ $key }}']
{{- $pairs = append $pairs (printf "%s=$(FIELDVEIL_LABEL_%d)" $key $i) }}
{{- end }}
- name: FIELDVEIL_WORKLOAD_LABELS
  value: {{ join "," $pairs | quote }}
{{- end -}}
