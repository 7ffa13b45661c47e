{{- /* The bridge: begins TLS within the database's protocol, which Envoy can't do. One leads to one server, so each upstream with
`tls.by: bridge` has a container of its own. */ -}}

{{- define "fieldveil-sidecar.isBridged" -}}
{{- if eq (dig "by" "envoy" (.tls | default dict)) "bridge" -}}true{{- end -}}
{{- end -}}

{{- /* The upstreams that have one, as a YAML list; `bridgePort` is where its probe and its metrics are. */ -}}
{{- define "fieldveil-sidecar.bridged" -}}
{{- $found := list -}}
{{- range .Values.upstreams -}}
{{- if include "fieldveil-sidecar.isBridged" . -}}
{{- $found = append $found (merge (dict "bridgePort" (add 15024 (len $found))) .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{- define "fieldveil-sidecar.bridgeSocket" -}}
/run/fieldveil/bridges/{{ .name }}.sock
{{- end -}}

{{- /* With the number, as no two ports of a pod should have one name; of 15 letters at most. */ -}}
{{- define "fieldveil-sidecar.bridgePortName" -}}
fv-bridge-{{ .bridgePort | int }}
{{- end -}}

{{- /* It is ready once it listens: whether the server is there only a client's connection tells. Of (dict "upstream" … "root" scope). */ -}}
{{- define "fieldveil-sidecar.bridgeContainer" -}}
{{- $values := .root.Values -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" (printf "bridge-%s" .upstream.name) "image" $values.images.fieldveil "root" .root) }}
  restartPolicy: Always
  args:
  - bridge
  - --protocol={{ .upstream.protocol }}
  # Of mode 0600, and Envoy is the same user.
  - --listen={{ include "fieldveil-sidecar.bridgeSocket" .upstream }}
  - --server={{ include "fieldveil-sidecar.hostPort" (dict "address" .upstream.host "port" (int .upstream.port)) }}
  {{- include "fieldveil-sidecar.bridgeTls" .upstream | nindent 2 }}
  # Twice as many as Envoy opens: one that ends has its place until both sides have closed.
  - --max-connections={{ .upstream.connections | default 0 | int | default 1024 | mul 2 | min 65536 }}
  - --metrics-address={{ include "fieldveil-sidecar.hostPort" (dict "address" $values.metrics.address "port" (int .upstream.bridgePort)) }}
  ports:
  - name: {{ include "fieldveil-sidecar.bridgePortName" .upstream }}
    containerPort: {{ .upstream.bridgePort | int }}
    protocol: TCP
  startupProbe:
    httpGet: {path: /livez, port: {{ .upstream.bridgePort | int }}}
    {{- include "fieldveil-sidecar.patience" . | nindent 4 }}
  # No liveness: what ends it restarts it, and a restart for another reason would cost every session.
  volumeMounts:
  - name: fieldveil-bridges
    mountPath: /run/fieldveil/bridges
  {{- if include "fieldveil-sidecar.upstreamFiles" .upstream }}
  - name: fieldveil-upstream-{{ .upstream.name }}
    mountPath: /etc/fieldveil/upstreams/{{ .upstream.name }}
    readOnly: true
  {{- end }}
  {{- include "fieldveil-sidecar.containerTail" (dict "resources" $values.resources.bridge "root" .root) | nindent 2 }}
{{- end -}}

{{- /* Whom it trusts, and what it shows. It reads the files anew for each connection. */ -}}
{{- define "fieldveil-sidecar.bridgeTls" -}}
{{- $folder := printf "/etc/fieldveil/upstreams/%s" .name -}}
- --server-name={{ .tls.serverName | default .host }}
- --verify={{ .tls.verify | default "verify-full" }}
{{- if .tls.ca }}
- --ca={{ $folder }}/ca.crt
{{- end }}
{{- if dig "clientCertificate" "secret" "" .tls }}
- --client-certificate={{ $folder }}/client.crt
- --client-key={{ $folder }}/client.key
{{- end }}
{{- if .tls.direct }}
- --direct-tls
{{- end }}
{{- end -}}
