{{/*
Ways to a pod that do not lead by the pod itself: its status and its binding carry labels too, and `kubectl exec` starts a program in a container.
A policy of its own, as what it looks at is no pod.
*/}}

{{/* fieldveil-sidecar.admissionAround: the policy and its binding. .sidecar, .actions as fieldveil-sidecar.admission has them. */}}
{{- define "fieldveil-sidecar.admissionAround" -}}
{{- $name := printf "%s-around" (include "fieldveil-sidecar.admissionName" .sidecar) -}}
{{- $sidecars := include "fieldveil-sidecar.celNames" (include "fieldveil-sidecar.initContainers" .sidecar | fromYamlArray) -}}
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
      resources: [pods/status, pods/binding, bindings]
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CONNECT]
      resources: [pods/exec]
  validations:
  - expression: >-
      request.operation == 'CONNECT' || ['fieldveil.io/sidecar', 'fieldveil.io/release'].all(key,
      object.metadata.?labels[?key] == (oldObject == null ? optional.none() : oldObject.metadata.?labels[?key]))
    reason: Forbidden
    messageExpression: >-
      'pod ' + request.name + ': the labels fieldveil.io/sidecar and fieldveil.io/release can not be changed by its status or its binding: they say that it carries the sidecar, and only the pod itself can be looked at'
  # Bindings, which are looked at here as well, have no container: hence dyn. The agent's memory, its sockets and its identity at the KMS would be that program's.
  - expression: >-
      request.operation != 'CONNECT' || !(dyn(object).?container.orValue('') in {{ $sidecars }})
    reason: Forbidden
    messageExpression: >-
      'pod ' + request.name + ': a program in container ' + dyn(object).?container.orValue('') + ' would be the sidecar, and reach its keys: name another container; kubectl logs shows what it says'
---
{{ include "fieldveil-sidecar.admissionBinding" (dict "name" $name "sidecar" .sidecar "actions" .actions) }}
{{- end -}}

{{/* fieldveil-sidecar.admissionBinding: puts a policy into force. */}}
{{- define "fieldveil-sidecar.admissionBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels:
    {{- include "fieldveil-sidecar.labels" .sidecar | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions:
  {{- toYaml (.actions | default (list "Deny")) | nindent 2 }}
{{- end -}}
