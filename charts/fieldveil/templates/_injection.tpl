{{/*
Injection by a MutatingAdmissionPolicy, whose patch is the very lists that the library chart renders, as CEL.
*/}}

{{/*
fieldveil.mutatingAdmissionVersion: the newest version of the API that the cluster serves, or a refusal that says what to do.
`helm template` knows no cluster: there the version of Kubernetes must do, by which the API is there and on from 1.36.
*/}}
{{- define "fieldveil.mutatingAdmissionVersion" -}}
{{- $found := "" -}}
{{- range list "v1alpha1" "v1beta1" "v1" -}}
  {{- if $.Capabilities.APIVersions.Has (printf "admissionregistration.k8s.io/%s/MutatingAdmissionPolicy" .) -}}{{- $found = . -}}{{- end -}}
{{- end -}}
{{- if and (not $found) (semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version) -}}{{- $found = "v1" -}}{{- end -}}
{{- if not $found -}}
  {{- fail (printf "injection.enabled: Kubernetes %s does not serve MutatingAdmissionPolicy (it is on from 1.36): set injection.enabled=false, and include the sidecar in your own Deployment with the library chart fieldveil-sidecar (its README says how)" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- $found -}}
{{- end -}}

{{/* fieldveil.injectionAdd: a JSON patch's operation that adds .value (CEL) at .path (CEL). */}}
{{- define "fieldveil.injectionAdd" -}}
JSONPatch{op: "add", path: {{ .path }}, value: {{ .value }}}
{{- end -}}

{{/*
fieldveil.injectionPatch: CEL that makes the patch. Parents that a pod lacks are made first. Mounts come before the sidecars, so that the
numbers of the pod's own init containers are still theirs. Sidecars are put in at the front, the last one first.
*/}}
{{- define "fieldveil.injectionPatch" -}}
{{- $steps := list -}}
{{- range $parent := list "labels" "annotations" -}}
  {{- with include (printf "fieldveil-sidecar.pod%s" (title $parent)) $ | fromYaml -}}
    {{- $steps = append $steps (printf "(has(object.metadata.%s) ? [] : [%s])" $parent (include "fieldveil.injectionAdd" (dict "path" (printf "/metadata/%s" $parent | quote) "value" "{}"))) -}}
    {{- range $key, $value := . -}}
      {{- $path := printf "/metadata/%s/%s" $parent (include "fieldveil-sidecar.celPointer" $key) -}}
      {{- $steps = append $steps (printf "[%s]" (include "fieldveil.injectionAdd" (dict "path" (quote $path) "value" (toJson $value)))) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $steps = append $steps (printf "(has(object.spec.volumes) ? [] : [%s])" (include "fieldveil.injectionAdd" (dict "path" (quote "/spec/volumes") "value" "[]"))) -}}
{{- range include "fieldveil-sidecar.volumes" . | fromYamlArray -}}
  {{- $steps = append $steps (printf "[%s]" (include "fieldveil.injectionAdd" (dict "path" (quote "/spec/volumes/-") "value" (include "fieldveil-sidecar.cel" .)))) -}}
{{- end -}}
{{- with include "fieldveil-sidecar.volumeMounts" . | fromYamlArray -}}
  {{- $steps = concat $steps (include "fieldveil.injectionMounts" (dict "list" "containers" "mounts" .) | fromJsonArray) (include "fieldveil.injectionMounts" (dict "list" "initContainers" "mounts" .) | fromJsonArray) -}}
{{- end -}}
{{- $steps = append $steps (printf "(has(object.spec.initContainers) ? [] : [%s])" (include "fieldveil.injectionAdd" (dict "path" (quote "/spec/initContainers") "value" "[]"))) -}}
{{- range include "fieldveil-sidecar.initContainers" . | fromYamlArray | reverse -}}
  {{- $steps = append $steps (printf "[%s]" (include "fieldveil.injectionAdd" (dict "path" (quote "/spec/initContainers/0") "value" (include "fieldveil-sidecar.cel" .)))) -}}
{{- end -}}
{{- join " +\n" $steps -}}
{{- end -}}

{{/*
fieldveil.injectionMounts: steps (in JSON) that mount the sockets in all containers of a list that have nothing at the path.
*/}}
{{- define "fieldveil.injectionMounts" -}}
{{- $containers := printf "object.spec.?%s.orValue([])" .list -}}
{{- $path := printf "\"/spec/%s/\" + string(%s.map(d, d.name).indexOf(c.name)) + \"/volumeMounts" .list $containers -}}
{{- $steps := list (printf "%s.filter(c, !has(c.volumeMounts)).map(c, %s)" $containers (include "fieldveil.injectionAdd" (dict "path" (printf "%s\"" $path) "value" "[]"))) -}}
{{- range .mounts -}}
  {{- $steps = append $steps (printf "%s.filter(c, !c.?volumeMounts.orValue([]).exists(m, m.mountPath == %s)).map(c, %s)" $containers (toJson .mountPath) (include "fieldveil.injectionAdd" (dict "path" (printf "%s/-\"" $path) "value" (include "fieldveil-sidecar.cel" .)))) -}}
{{- end -}}
{{- toJson $steps -}}
{{- end -}}
