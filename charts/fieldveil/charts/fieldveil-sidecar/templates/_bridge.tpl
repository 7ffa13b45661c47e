{{- /* The bridge: begins TLS within the database's protocol, which Envoy can't do. One leads to one server, or from clients to one
listener: each upstream with `tls.by: bridge`, and each with `listener.tls`, has a container of its own. */ -}}

{{- define "fieldveil-sidecar.isBridged" -}}
{{- if eq (dig "by" "envoy" (.tls | default dict)) "bridge" -}}true{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.takesTls" -}}
{{- if dig "tls" dict (.listener | default dict) -}}true{{- end -}}
{{- end -}}

{{- /* All of them as a YAML list: an upstream each, with `leg`, which is `server` or `clients`, the container's name, and `bridgePort`, where its
probe and its metrics are. */ -}}
{{- define "fieldveil-sidecar.bridges" -}}
{{- $found := list -}}
{{- range .Values.upstreams -}}
{{- if include "fieldveil-sidecar.isBridged" . -}}
{{- $found = append $found (merge (dict "leg" "server" "container" (printf "bridge-%s" .name) "bridgePort" (add 15024 (len $found))) .) -}}
{{- end -}}
{{- end -}}
{{- range .Values.upstreams -}}
{{- if include "fieldveil-sidecar.takesTls" . -}}
{{- $found = append $found (merge (dict "leg" "clients" "container" (printf "clients-%s" .name) "bridgePort" (add 15024 (len $found))) .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{- /* By which Envoy reaches the one to the server. */ -}}
{{- define "fieldveil-sidecar.bridgeSocket" -}}
/run/fieldveil/bridges/{{ .name }}.sock
{{- end -}}

{{- /* By which the one from clients reaches Envoy's listener. No upstream's name has a dot. */ -}}
{{- define "fieldveil-sidecar.clientsSocket" -}}
/run/fieldveil/bridges/{{ .name }}.clients.sock
{{- end -}}

{{- /* With the number, as no two ports of a pod should have one name; of 15 letters at most. */ -}}
{{- define "fieldveil-sidecar.bridgePortName" -}}
fv-bridge-{{ .bridgePort | int }}
{{- end -}}

{{- /* Those of a leg: of (dict "leg" … "root" scope). */ -}}
{{- define "fieldveil-sidecar.bridgeContainers" -}}
{{- range include "fieldveil-sidecar.bridges" .root | fromYamlArray }}
{{- if eq .leg $.leg }}
{{ include "fieldveil-sidecar.bridgeContainer" (dict "bridge" . "root" $.root) }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* It is ready once it listens: whether who stands behind it is there only a client's connection tells. Of (dict "bridge" … "root" scope). */ -}}
{{- define "fieldveil-sidecar.bridgeContainer" -}}
{{- $values := .root.Values -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" .bridge.container "image" $values.images.fieldveil "root" .root) }}
  restartPolicy: Always
  args:
  - bridge
  {{- include (printf "fieldveil-sidecar.bridgeTo.%s" .bridge.leg) (merge (dict "spiffeSocket" $values.identity.spiffe.socket) .bridge) | nindent 2 }}
  # Twice as many as Envoy opens: one that ends has its place until both sides have closed.
  - --max-connections={{ .bridge.connections | default 0 | int | default 1024 | mul 2 | min 65536 }}
  - --metrics-address={{ include "fieldveil-sidecar.hostPort" (dict "address" $values.metrics.address "port" (int .bridge.bridgePort)) }}
  ports:
  - name: {{ include "fieldveil-sidecar.bridgePortName" .bridge }}
    containerPort: {{ .bridge.bridgePort | int }}
    protocol: TCP
  startupProbe:
    httpGet: {path: /livez, port: {{ .bridge.bridgePort | int }}}
    {{- include "fieldveil-sidecar.patience" . | nindent 4 }}
  # No liveness: what ends it restarts it, and a restart for another reason would cost every session.
  volumeMounts:
  - name: fieldveil-bridges
    mountPath: /run/fieldveil/bridges
  {{- if eq .bridge.leg "clients" }}
  {{- if include "fieldveil-sidecar.clientsFiles" .bridge }}
  - name: fieldveil-clients-{{ .bridge.name }}
    mountPath: /etc/fieldveil/clients/{{ .bridge.name }}
    readOnly: true
  {{- end }}
  {{- if .bridge.listener.tls.spiffe }}
  - name: fieldveil-spiffe
    mountPath: /run/spiffe
    readOnly: true
  {{- end }}
  {{- else if include "fieldveil-sidecar.upstreamFiles" .bridge }}
  - name: fieldveil-upstream-{{ .bridge.name }}
    mountPath: /etc/fieldveil/upstreams/{{ .bridge.name }}
    readOnly: true
  {{- end }}
  {{- include "fieldveil-sidecar.containerTail" (dict "resources" $values.resources.bridge "root" .root) | nindent 2 }}
{{- end -}}

{{- /* Where it leads, whom it trusts, and what it shows. It reads the files anew for each connection. */ -}}
{{- define "fieldveil-sidecar.bridgeTo.server" -}}
{{- $folder := printf "/etc/fieldveil/upstreams/%s" .name -}}
- --protocol={{ .protocol }}
# Of mode 0600, and Envoy is the same user.
- --listen={{ include "fieldveil-sidecar.bridgeSocket" . }}
- --server={{ include "fieldveil-sidecar.hostPort" (dict "address" .host "port" (int .port)) }}
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

{{- define "fieldveil-sidecar.bridgeTo.clients" -}}
{{- $folder := printf "/etc/fieldveil/clients/%s" .name -}}
{{- $tls := .listener.tls -}}
- from-clients
- --protocol={{ .protocol }}
- --listen={{ include "fieldveil-sidecar.hostPort" (dict "address" (.listener.address | default "127.0.0.1") "port" (int .listener.port)) }}
- --envoy={{ include "fieldveil-sidecar.clientsSocket" . }}
{{- if $tls.spiffe }}
- --spiffe-socket=unix:///run/spiffe/{{ .spiffeSocket }}
{{- else }}
- --certificate={{ $folder }}/tls.crt
- --key={{ $folder }}/tls.key
{{- end }}
{{- if $tls.clientCa }}
- --client-ca={{ $folder }}/ca.crt
- --client-certificates={{ $tls.clientCertificates | default "required" }}
{{- end }}
{{- if $tls.allowPlain }}
- --allow-plain
{{- end }}
{{- if $tls.passScram }}
- --pass-scram
{{- end }}
{{- end -}}
