{{/* fieldveil.networkPolicyPeer: pods with the sidecar of a release in a namespace. */}}
{{- define "fieldveil.networkPolicyPeer" -}}
namespaceSelector:
  matchLabels:
    kubernetes.io/metadata.name: {{ .namespace }}
podSelector:
  matchLabels:
    fieldveil.io/sidecar: "true"
    fieldveil.io/release: {{ .release }}
{{- end -}}

{{/* fieldveil.networkPolicyPorts: TCP ports as a list of rules. */}}
{{- define "fieldveil.networkPolicyPorts" -}}
{{- range . }}
- protocol: TCP
  port: {{ . | int }}
{{- end }}
{{- end -}}

{{/* fieldveil.networkPolicyOtherPorts: all ports but these TCP ports, as ranges between them. */}}
{{- define "fieldveil.networkPolicyOtherPorts" -}}
{{- $sorted := list -}}
{{- range . -}}{{- $sorted = append $sorted (printf "%05d" (. | int)) -}}{{- end -}}
{{- $from := 1 -}}
{{- range append (sortAlpha $sorted | uniq) "65536" }}
{{- $port := atoi . }}
{{- if lt $from $port }}
- protocol: TCP
  port: {{ $from }}
  endPort: {{ sub $port 1 }}
{{- end }}
{{- $from = add1 $port | int }}
{{- end }}
{{- range list "UDP" "SCTP" }}
- protocol: {{ . }}
  port: 1
  endPort: 65535
{{- end }}
{{- end -}}

{{/* fieldveil.networkPolicyBlocks: CIDRs as peers. */}}
{{- define "fieldveil.networkPolicyBlocks" -}}
{{- range . }}
- ipBlock:
    cidr: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* fieldveil.networkPolicyAllBut: every address but those of the CIDRs, of both families, as peers. */}}
{{- define "fieldveil.networkPolicyAllBut" -}}
{{- $four := list -}}
{{- $six := list -}}
{{- range . -}}
  {{- if contains ":" . -}}{{- $six = append $six . -}}{{- else -}}{{- $four = append $four . -}}{{- end -}}
{{- end -}}
{{- range $all, $except := dict "0.0.0.0/0" $four "::/0" $six }}
- ipBlock:
    cidr: {{ $all | quote }}
    {{- with $except }}
    except:
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}
