{{/*
fieldveil.monitoringLabels: of an object of monitoring; .labels are what the one who looks for it asks for.
*/}}
{{- define "fieldveil.monitoringLabels" -}}
{{- $own := include "fieldveil-sidecar.labels" .root.Subcharts.sidecar | fromYaml -}}
{{- merge (dict) .labels (dict "app.kubernetes.io/component" "monitoring") $own | toYaml -}}
{{- end -}}

{{/*
fieldveil.alertRules: the groups of rules/*.yaml. Prometheus' own templates are in them, so that Helm's can't be: the values stand there as ${…}.
*/}}
{{- define "fieldveil.alertRules" -}}
{{- $rules := .Values.monitoring.rules -}}
{{- $selector := $rules.selector | default (printf "namespace=%q" .Release.Namespace) -}}
{{- $known := list -}}
{{- $groups := list -}}
{{- range $path, $_ := .Files.Glob "rules/*.yaml" -}}
  {{- $text := $.Files.Get $path | replace "${selector}" $selector -}}
  {{- range $name, $value := $rules.thresholds -}}
    {{- $text = $text | replace (printf "${%s}" $name) (toJson $value) -}}
  {{- end -}}
  {{- $group := fromYaml $text -}}
  {{- $wanted := list -}}
  {{- range $group.rules -}}
    {{- $known = append $known .alert -}}
    {{- if not (has .alert $rules.disabled) -}}
      {{- $annotations := merge (dict "runbook_url" (printf "%s#%s" $rules.runbook (lower .alert))) .annotations -}}
      {{- $wanted = append $wanted (merge (dict "labels" (merge (dict) $rules.alertLabels .labels) "annotations" $annotations) .) -}}
    {{- end -}}
  {{- end -}}
  {{- with $wanted -}}
    {{- $groups = append $groups (dict "name" $group.name "rules" .) -}}
  {{- end -}}
{{- end -}}
{{- range $rules.disabled -}}
  {{- if not (has . $known) -}}
    {{- fail (printf "monitoring.rules.disabled: there is no alert %s; there are: %s" . (join ", " $known)) -}}
  {{- end -}}
{{- end -}}
{{- dict "groups" $groups | toYaml -}}
{{- end -}}
