{{/*
What a ValidatingAdmissionPolicy says of pods that carry the sidecar of this release, or say so. A chart that includes the sidecar in its own
Deployment can have it too:

  {{ include "fieldveil-sidecar.admission" (dict "sidecar" .Subcharts.fieldveil "actions" (list "Deny")) }}

Nothing here trusts a name: a container that is called fieldveil-envoy is the sidecar only if all that matters of it is as this release
renders it.
*/}}

{{/*
fieldveil-sidecar.admission: the policies and their bindings. .sidecar: the library's scope; .actions: what happens to a pod that is not as it should
be (Deny, Warn, Audit); .inject: the value of the label that asks for injection, left out where nothing is injected; .enforce: false to check
but what injection needs.
*/}}
{{- define "fieldveil-sidecar.admission" -}}
{{- $name := include "fieldveil-sidecar.admissionName" .sidecar -}}
{{- $enforce := ne (toString .enforce) "false" -}}
{{- $parts := dict "inject" (.inject | default "") "release" (include "fieldveil-sidecar.fullname" .sidecar) "sidecar" .sidecar -}}
{{- $_ := set $parts "containers" (include "fieldveil-sidecar.initContainers" .sidecar | fromYamlArray) -}}
{{- $_ := set $parts "volumes" (include "fieldveil-sidecar.volumes" .sidecar | fromYamlArray) -}}
{{- $_ := set $parts "mounts" (include "fieldveil-sidecar.volumeMounts" .sidecar | fromYamlArray) -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}
  labels:
    {{- include "fieldveil-sidecar.labels" .sidecar | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ .sidecar.Release.Namespace }}
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods, pods/ephemeralcontainers]
  variables:
  {{- include "fieldveil-sidecar.admissionVariables" $parts | nindent 2 }}
  {{- if $enforce }}
  {{- include "fieldveil-sidecar.admissionGenuineVariables" $parts | nindent 2 }}
  {{- include "fieldveil-sidecar.admissionOthersVariables" $parts | nindent 2 }}
  {{- with include "fieldveil-sidecar.admissionNamesVariables" $parts }}{{ . | nindent 2 }}{{ end }}
  {{- end }}
  validations:
  {{- include "fieldveil-sidecar.admissionHost" $parts | nindent 2 }}
  {{- if $enforce }}
  {{- include "fieldveil-sidecar.admissionGenuine" $parts | nindent 2 }}
  {{- include "fieldveil-sidecar.admissionOthers" $parts | nindent 2 }}
  {{- with include "fieldveil-sidecar.admissionNames" $parts }}{{ . | nindent 2 }}{{ end }}
  {{- include "fieldveil-sidecar.admissionUpdates" $parts | nindent 2 }}
  {{- end }}
---
{{ include "fieldveil-sidecar.admissionBinding" (dict "name" $name "sidecar" .sidecar "actions" .actions) }}
{{- if $enforce }}
---
{{ include "fieldveil-sidecar.admissionAround" . }}
{{- end }}
{{- end -}}

{{/* fieldveil-sidecar.admissionName: of what belongs to no namespace. Two releases of one name may be in two namespaces. */}}
{{- define "fieldveil-sidecar.admissionName" -}}
fieldveil-{{ .Release.Namespace }}-{{ include "fieldveil-sidecar.fullname" . }}
{{- end -}}

{{/*
fieldveil-sidecar.admissionVariables: which pods are looked at.
A pod *claims* the release by its label, which is what NetworkPolicies select by; one with the sidecar's label and no release's is claimed by
every policy, so that nothing passes by saying less. A pod is looked at as a whole when it is made, and when it begins to claim. Later only
what can still change is: a pod that an earlier version of the release made has other images, and must lose its finalizers all the same.
*/}}
{{- define "fieldveil-sidecar.admissionVariables" -}}
- name: pod
  expression: "'pod ' + object.metadata.?name.orValue(object.metadata.?generateName.orValue('')) + ': '"
- name: labels
  expression: object.metadata.?labels.orValue({})
- name: oldLabels
  expression: "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})"
- name: claims
  expression: >-
    variables.labels[?'fieldveil.io/release'].orValue('') == {{ toJson .release }} ||
    ('fieldveil.io/sidecar' in variables.labels && !('fieldveil.io/release' in variables.labels))
- name: claimed
  expression: >-
    variables.oldLabels[?'fieldveil.io/release'].orValue('') == {{ toJson .release }} ||
    ('fieldveil.io/sidecar' in variables.oldLabels && !('fieldveil.io/release' in variables.oldLabels))
- name: asked
  expression: >-
    variables.labels[?'fieldveil.io/inject'].orValue(namespaceObject.metadata.?labels[?'fieldveil.io/inject'].orValue(''))
- name: asks
  expression: {{ if .inject }}variables.asked == {{ toJson .inject }}{{ else }}"false"{{ end }}
# Asking when the pod runs already: nothing would be injected, and nobody would notice.
- name: asksLate
  {{- if .inject }}
  expression: >-
    request.operation == 'UPDATE' && !variables.claimed && variables.labels[?'fieldveil.io/inject'].orValue('') == {{ toJson .inject }} &&
    variables.oldLabels[?'fieldveil.io/inject'].orValue('') != {{ toJson .inject }}
  {{- else }}
  expression: "false"
  {{- end }}
{{- if .inject }}
# Any other value than a release's is a mistake, of which nobody else would speak.
- name: mistaken
  expression: >-
    request.operation == 'CREATE' && !('fieldveil.io/sidecar' in variables.labels) && !(variables.asked in ['', 'disabled', {{ toJson .inject }}])
{{- end }}
- name: whole
  expression: >-
    request.operation == 'CREATE' ? variables.asks || variables.claims : variables.asksLate || (variables.claims && !variables.claimed)
- name: sidecars
  expression: {{ include "fieldveil-sidecar.celNames" .containers | squote }}
- name: initContainers
  expression: object.spec.?initContainers.orValue([])
{{- end -}}

{{/* fieldveil-sidecar.celNames: the names of a list's members. */}}
{{- define "fieldveil-sidecar.celNames" -}}
{{- $names := list -}}
{{- range . -}}{{- $names = append $names .name -}}{{- end -}}
{{- include "fieldveil-sidecar.cel" $names -}}
{{- end -}}
