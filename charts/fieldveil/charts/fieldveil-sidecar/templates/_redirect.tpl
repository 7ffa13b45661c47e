{{- /* Sends the pod's connections to the upstreams through Envoy's listeners. Its rules outlive it, in the pod's network. */ -}}
{{- define "fieldveil-sidecar.redirectContainer" -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" "redirect" "image" .Values.images.fieldveil "root" .) }}
  args:
  - redirect
{{- end -}}
