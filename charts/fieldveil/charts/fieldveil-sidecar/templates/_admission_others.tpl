{{/*
What the other containers of a pod with the sidecar may not do. What is private to the sidecar are its volumes but for those the application is
given (sockets), and the Secrets behind them: with the client certificate one would reach the database beside the sidecar.
*/}}

{{/* fieldveil-sidecar.admissionOthersVariables: containers, volumes and Secrets. */}}
{{- define "fieldveil-sidecar.admissionOthersVariables" -}}
{{- $shared := list -}}
{{- range .mounts -}}{{- $shared = append $shared .name -}}{{- end -}}
{{- $private := list -}}
{{- $secrets := list -}}
{{- $audiences := list -}}
{{- range .volumes -}}
  {{- if not (has .name $shared) -}}{{- $private = append $private .name -}}{{- end -}}
  {{- with .secret -}}{{- $secrets = append $secrets .secretName -}}{{- end -}}
  {{- range (dig "projected" "sources" list .) -}}
    {{- with .secret -}}{{- $secrets = append $secrets .name -}}{{- end -}}
    {{- with .serviceAccountToken -}}{{- $audiences = append $audiences .audience -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- $keysets := list -}}
{{- range .volumes -}}
  {{- if and (eq .name "fieldveil-keysets") .secret -}}{{- $keysets = append $keysets .secret.secretName -}}{{- end -}}
{{- end -}}
{{- $ours := "" -}}
{{- range .containers -}}
  {{- if eq .name "fieldveil-agent" -}}{{- $ours = .image -}}{{- end -}}
  {{- range (.env | default list) -}}
    {{- with dig "valueFrom" "secretKeyRef" "name" "" . -}}{{- $secrets = append $secrets . -}}{{- end -}}
  {{- end -}}
{{- end -}}
- name: others
  expression: object.spec.containers + variables.initContainers.filter(c, !(c.name in variables.sidecars))
- name: debuggers
  expression: >-
    !variables.claims || oldObject == null ? [] : object.spec.?ephemeralContainers.orValue([]).filter(c,
    !oldObject.spec.?ephemeralContainers.orValue([]).exists(o, o.name == c.name))
# Containers that are added now: all others of a new pod, and one that is to debug it.
- name: added
  expression: "variables.whole ? variables.others : variables.debuggers"
- name: privateVolumes
  expression: {{ include "fieldveil-sidecar.cel" $private | squote }}
- name: privateSecrets
  expression: {{ include "fieldveil-sidecar.cel" (uniq $secrets) | squote }}
# By which the KMS knows the agent. An application may have AWS's for itself.
- name: privateAudiences
  expression: {{ include "fieldveil-sidecar.cel" (without (uniq $audiences) "sts.amazonaws.com") | squote }}
- name: mountsPrivate
  expression: >-
    variables.added.filter(c, c.?volumeMounts.orValue([]).exists(m, m.name in variables.privateVolumes)).map(c, c.name)
- name: volumesOfSecrets
  expression: >-
    object.spec.?volumes.orValue([]).filter(v, !(v.name in variables.privateVolumes) && (
    v.?secret.?secretName.orValue('') in variables.privateSecrets ||
    v.?projected.?sources.orValue([]).exists(s, s.?secret.?name.orValue('') in variables.privateSecrets ||
    s.?serviceAccountToken.?audience.orValue('') in variables.privateAudiences))).map(v, v.name)
# `fieldveil table` reads from encrypted keysets which key is primary; it opens none.
- name: tables
  expression: >-
    variables.added.filter(c, c.image == {{ toJson $ours }} && !has(c.command) && !has(c.lifecycle) &&
    !has(c.startupProbe) && !has(c.readinessProbe) && !has(c.livenessProbe) && c.?args[?0].orValue('') == 'table').map(c, c.name)
- name: volumesOfKeysets
  expression: >-
    object.spec.?volumes.orValue([]).filter(v, v.?secret.?secretName.orValue('') in {{ include "fieldveil-sidecar.cel" $keysets }}).map(v, v.name)
- name: readsSecrets
  expression: >-
    variables.added.filter(c, c.?volumeMounts.orValue([]).exists(m, m.name in variables.volumesOfSecrets &&
    !(c.name in variables.tables && m.name in variables.volumesOfKeysets)) ||
    c.?env.orValue([]).exists(e, e.?valueFrom.?secretKeyRef.?name.orValue('') in variables.privateSecrets) ||
    c.?envFrom.orValue([]).exists(e, e.?secretRef.?name.orValue('') in variables.privateSecrets)).map(c, c.name)
{{- end -}}

{{/*
fieldveil-sidecar.admissionHost: in the node's network the sidecar's listeners would be every pod's of the node. Refused even where nothing else
is, for nothing would be injected.
*/}}
{{- define "fieldveil-sidecar.admissionHost" -}}
- expression: "!variables.whole || !object.spec.?hostNetwork.orValue(false)"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'hostNetwork: the sidecar would listen on the node, for all that runs there: leave hostNetwork out, or label the pod fieldveil.io/inject: disabled'
{{- end -}}

{{/* fieldveil-sidecar.admissionOthers: the refusals. */}}
{{- define "fieldveil-sidecar.admissionOthers" -}}
{{- /* Other containers would see the sidecar's processes: the agent's memory holds data keys, and /proc leads to its files. */ -}}
- expression: "!variables.whole || (!object.spec.?shareProcessNamespace.orValue(false) && !object.spec.?hostPID.orValue(false))"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'shareProcessNamespace or hostPID: other containers would reach the files and the memory of the key agent by /proc: leave it out'
{{- if .inject }}
- expression: "!variables.mistaken"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'no release here adds a sidecar where the label fieldveil.io/inject, its own or its namespace\'s, is ' + variables.asked + ': say {{ .inject }}, or another release\'s injection.label, or disabled'
{{- end }}
- expression: "size(variables.mountsPrivate) == 0"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'container ' + variables.mountsPrivate.join(', ') + ' mounts a volume that is private to the sidecar (' + variables.privateVolumes.join(', ') + '): leave the mount out'
- expression: "size(variables.readsSecrets) == 0"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'container ' + variables.readsSecrets.join(', ') + ' reads a Secret of the sidecar, or a token for its KMS (' + (variables.privateSecrets + variables.privateAudiences).join(', ') + '), and could reach the database or the keys beside it: leave the reference out'
- expression: "!variables.debuggers.exists(c, c.?targetContainerName.orValue('') in variables.sidecars)"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'an ephemeral container would share the processes of the sidecar, and reach keys and files by /proc: name another target'
{{- if (.sidecar.Values.redirect).enabled }}
{{- include "fieldveil-sidecar.admissionRedirect" . | nindent 0 }}
{{- end }}
{{- end -}}

{{/*
fieldveil-sidecar.admissionRedirect: what would go round the redirection: the sidecar's own user is not redirected, NET_ADMIN undoes it, and what
runs before it isn't. An image whose own USER is the sidecar's, and a root with SETUID that becomes it, can't be seen here.
*/}}
{{- define "fieldveil-sidecar.admissionRedirect" -}}
{{- $user := .sidecar.Values.runAsUser | int -}}
- expression: >-
    variables.added.all(c, c.?securityContext.?runAsUser.orValue(object.spec.?securityContext.?runAsUser.orValue(-1)) != {{ $user }})
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'a container runs as user {{ $user }}, as the sidecar does, whose connections are not redirected: give it another user'
- expression: >-
    variables.added.all(c, !c.?securityContext.?privileged.orValue(false) &&
    !c.?securityContext.?capabilities.?add.orValue([]).exists(a, a in ['ALL', 'NET_ADMIN', 'SYS_ADMIN', 'CAP_NET_ADMIN', 'CAP_SYS_ADMIN']))
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'a container is privileged or has NET_ADMIN or SYS_ADMIN, and could undo the redirection: leave that out'
- expression: >-
    !variables.whole || variables.initContainers.map(c, c.name).indexOf({{ (index .containers (sub (len .containers) 1)).name | squote }}) == {{ sub (len .containers) 1 }}
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'an init container runs before the sidecar, and so before the redirection: put it after'
{{- end -}}

{{/*
fieldveil-sidecar.admissionUpdates: of a running pod the images of its containers can be changed, and its labels. Without these it would be looked at no
more: an image or a debug container could be given to the sidecar.
*/}}
{{- define "fieldveil-sidecar.admissionUpdates" -}}
- expression: >-
    oldObject == null || !variables.claimed || variables.claims || !variables.initContainers.exists(c, c.name in variables.sidecars)
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'the labels fieldveil.io/sidecar and fieldveil.io/release can not be taken from a running pod that carries the sidecar: take the pod away'
- expression: >-
    oldObject == null || !variables.claimed || oldObject.spec.?initContainers.orValue([]).all(o, !(o.name in variables.sidecars) ||
    variables.initContainers.exists(c, c.name == o.name && c.image == o.image))
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'the image of a sidecar can not be changed in a running pod: upgrade the release, and have the pod made anew'
{{- end -}}
