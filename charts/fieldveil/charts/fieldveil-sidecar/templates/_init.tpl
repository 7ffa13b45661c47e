{{- /* Copies the modules out of the image, where the cluster has no image volumes. */ -}}
{{- define "fieldveil-sidecar.modulesContainer" -}}
{{ include "fieldveil-sidecar.containerHead" (dict "name" "modules" "image" .Values.images.fieldveil "root" .) }}
  args:
  - modules
  - copy
  - /opt/fieldveil/modules
  volumeMounts:
  - name: fieldveil-modules
    mountPath: /opt/fieldveil/modules
  {{- include "fieldveil-sidecar.containerTail" (dict "resources" .Values.resources.init "root" .) | nindent 2 }}
{{- end -}}
