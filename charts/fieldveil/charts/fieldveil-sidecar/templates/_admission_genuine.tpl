{{/*
Whether the sidecars of a pod are the release's. What is compared is what decides which program runs, with which rights, which keys and
policies it reads, and whom it takes the pod for (its environment). A probe is a program as well: one that runs in the container, as its user. Not
compared: how often probes ask, ports, resources, pull policies, and what the API server fills in.
*/}}

{{/*
fieldveil-sidecar.admissionGenuineVariables: a variable for each container with the names of what differs, and one for the volumes.
*/}}
{{- define "fieldveil-sidecar.admissionGenuineVariables" -}}
- name: missing
  expression: variables.sidecars.filter(n, !variables.initContainers.exists(c, c.name == n))
{{- range .containers }}
- name: {{ include "fieldveil-sidecar.admissionVariable" .name }}
  expression: >-
    variables.initContainers.filter(c, c.name == {{ toJson .name }}).map(c, [
    {{- include "fieldveil-sidecar.admissionAspects" . | trim | nindent 6 }}
    ].filter(aspect, aspect != ''))
{{- end }}
# The other release was first, and this one's injection found a sidecar there.
- name: ofAnother
  expression: >-
    variables.claims ? '' : 'carries the sidecar of release ' + variables.labels[?'fieldveil.io/release'].orValue('unknown') +
    ', while {{ .release }} has the same injection.label, of which each release of a namespace needs its own: '
- name: volumesDiffer
  expression: >-
    [
    {{- range .volumes }}
      object.spec.?volumes.orValue([]).exists(v, {{ include "fieldveil-sidecar.admissionVolume" . }}) ? '' : {{ toJson .name }},
    {{- end }}
    ].filter(name, name != '')
{{- end -}}

{{/*
fieldveil-sidecar.admissionVolume: a volume as rendered. Where that takes all keys of a Secret or ConfigMap, no list of some may stand: it could
give one keyset the name of another.
*/}}
{{- define "fieldveil-sidecar.admissionVolume" -}}
{{- $volume := deepCopy . -}}
{{- range $kind := list "secret" "configMap" -}}
  {{- with get $volume $kind -}}{{- if not .items -}}{{- $_ := set . "items" list -}}{{- end -}}{{- end -}}
{{- end -}}
{{- include "fieldveil-sidecar.celSame" (dict "at" "v" "value" $volume) -}}
{{- end -}}

{{/* fieldveil-sidecar.admissionVariable: a container's name as an identifier; another one for each name. */}}
{{- define "fieldveil-sidecar.admissionVariable" -}}
{{- replace "-" "_" . }}_differs
{{- end -}}

{{/*
fieldveil-sidecar.admissionAspects: of a container as rendered, CEL that gives '' or the aspect's name for each aspect.
Members that the rendering lacks must be absent (a command in place of the image's own is another program).
*/}}
{{- define "fieldveil-sidecar.admissionAspects" -}}
{{- $container := . -}}
{{- range $aspect := list "image" "restartPolicy" "command" "args" "envFrom" "workingDir" "lifecycle" "volumeDevices" }}
  {{- if hasKey $container $aspect }}
({{ include "fieldveil-sidecar.celSame" (dict "at" (printf "c.?%s" $aspect) "value" (get $container $aspect)) }}) ? '' : '{{ $aspect }}',
  {{- else }}
!has(c.{{ $aspect }}) ? '' : '{{ $aspect }}',
  {{- end }}
{{- end }}
{{- range $probe := list "startupProbe" "readinessProbe" "livenessProbe" }}
  {{- if hasKey $container $probe }}
({{ include "fieldveil-sidecar.celSame" (dict "at" (printf "c.?%s" $probe) "value" (pick (get $container $probe) "httpGet")) }}) ? '' : '{{ $probe }}',
  {{- else }}
!has(c.{{ $probe }}) ? '' : '{{ $probe }}',
  {{- end }}
{{- end }}
{{- /* The kubelet mounts a file of its own there, over what the container has. */}}
c.?terminationMessagePath.orValue('/dev/termination-log') == '/dev/termination-log' ? '' : 'terminationMessagePath',
({{ include "fieldveil-sidecar.admissionEnv" (.env | default list) }}) ? '' : 'env',
({{ include "fieldveil-sidecar.admissionMounts" (.volumeMounts | default list) }}) ? '' : 'volumeMounts',
({{ include "fieldveil-sidecar.admissionSecurity" (.securityContext | default dict) }}) ? '' : 'securityContext'
{{- end -}}

{{/*
fieldveil-sidecar.admissionEnv: each variable once, as rendered. Others are let in only by name: clusters add what a program needs to reach a
cloud's credentials, and an Indexed Job tells each container its index. One more of ours would be another identity, and LD_PRELOAD another program.
Whoever is asked for credentials is shown a token, so that it has to be EKS.
*/}}
{{- define "fieldveil-sidecar.admissionEnv" -}}
{{- $names := list -}}
{{- $conditions := list -}}
{{- range . -}}
  {{- $names = append $names .name -}}
  {{- $conditions = append $conditions (printf "c.?env.orValue([]).exists(e, %s)" (include "fieldveil-sidecar.celSame" (dict "at" "e" "value" .))) -}}
{{- end -}}
{{- $added := list "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE" "AWS_CONTAINER_CREDENTIALS_FULL_URI" "AWS_DEFAULT_REGION" "AWS_REGION" "AWS_ROLE_ARN" "AWS_STS_REGIONAL_ENDPOINTS" "AWS_WEB_IDENTITY_TOKEN_FILE" "JOB_COMPLETION_INDEX" -}}
{{- range $names -}}{{- $added = without $added . -}}{{- end -}}
{{- $asked := "AWS_CONTAINER_CREDENTIALS_FULL_URI" -}}
{{- if has $asked $added -}}
  {{- $conditions = append $conditions (printf "c.?env.orValue([]).all(e, e.name != %s || e.?value.orValue('') in %s)" (toJson $asked) (include "fieldveil-sidecar.cel" (list "http://169.254.170.23/v1/credentials" "http://[fd00:ec2::23]/v1/credentials"))) -}}
{{- end -}}
{{- $conditions = prepend $conditions (printf "c.?env.orValue([]).map(e, e.name).filter(n, !(n in %s)) == %s" (include "fieldveil-sidecar.cel" $added) (include "fieldveil-sidecar.cel" $names)) -}}
{{- join " &&\n" $conditions -}}
{{- end -}}

{{/*
fieldveil-sidecar.admissionMounts: each mount as rendered, and no other but those of tokens, which the API server and clouds' webhooks add. These by paths
of plain parts: `..` and `.` would lead from there to what is the sidecar's own.
Compared as texts: with a condition for each, the API server compiles the policy of a release with many upstreams for too long.
*/}}
{{- define "fieldveil-sidecar.admissionMounts" -}}
{{- $mounts := list -}}
{{- range . -}}
  {{- $mounts = append $mounts (printf "%s %s %s %s" .mountPath .name (.subPath | default "") (ternary "true" "false" (.readOnly | default false))) -}}
{{- end -}}
sets.equivalent({{ include "fieldveil-sidecar.cel" $mounts }}, c.?volumeMounts.orValue([]).filter(m,
!m.mountPath.matches('^/var/run/secrets(/[A-Za-z0-9][A-Za-z0-9._-]*)+$') || m.mountPath.startsWith('/var/run/secrets/fieldveil.io')).map(m,
m.mountPath + ' ' + m.name + ' ' + m.?subPath.orValue(m.?subPathExpr.orValue('')) + ' ' + string(m.?readOnly.orValue(false))))
{{- end -}}

{{/* fieldveil-sidecar.admissionSecurity: as rendered, with no right more. */}}
{{- define "fieldveil-sidecar.admissionSecurity" -}}
{{- $conditions := list -}}
{{- if . -}}{{- $conditions = append $conditions (include "fieldveil-sidecar.celSame" (dict "at" "c.?securityContext" "value" .)) -}}{{- end -}}
{{- if not .privileged -}}{{- $conditions = append $conditions "!c.?securityContext.?privileged.orValue(false)" -}}{{- end -}}
{{- $conditions = append $conditions "c.?securityContext.?appArmorProfile.?type.orValue('') != 'Unconfined'" -}}
{{- $conditions = append $conditions "c.?securityContext.?procMount.orValue('Default') == 'Default'" -}}
{{- if not (dig "capabilities" "add" "" .) -}}{{- $conditions = append $conditions "size(c.?securityContext.?capabilities.?add.orValue([])) == 0" -}}{{- end -}}
{{- join " &&\n" $conditions -}}
{{- end -}}

{{/* fieldveil-sidecar.admissionGenuine: the refusals. */}}
{{- define "fieldveil-sidecar.admissionGenuine" -}}
- expression: "!variables.whole || size(variables.missing) == 0"
  reason: Forbidden
  messageExpression: >-
    variables.pod + (variables.asksLate ? 'label fieldveil.io/inject: sidecars are added when a pod is made, and this one runs without: label its template, so that it is made anew' :
    variables.asks ? 'no init container ' + variables.missing.join(', ') + ' though it asks for injection: the policy that adds them takes a second or two to come into force: try again; if it stays, see that MutatingAdmissionPolicy {{ include "fieldveil-sidecar.admissionName" .sidecar }} and its binding exist' :
    'no init container ' + variables.missing.join(', ') + ' though its labels fieldveil.io/sidecar or fieldveil.io/release say that it carries the sidecar: take the sidecar from the chart, or the labels away')
{{- range .containers }}
{{- $variable := printf "variables.%s" (include "fieldveil-sidecar.admissionVariable" .name) }}
- expression: "!variables.whole || {{ $variable }}.all(d, size(d) == 0)"
  reason: Forbidden
  messageExpression: >-
    variables.pod + variables.ofAnother + 'init container {{ .name }} differs in ' + {{ $variable }}[0].join(', ') + ' from the sidecar of release {{ $.release }}: leave it as the chart renders it, and say in its values what shall be otherwise'
{{- end }}
- expression: "!variables.whole || size(variables.missing) != 0 || size(variables.volumesDiffer) == 0"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'volumes ' + variables.volumesDiffer.join(', ') + ' are missing or differ from those of release {{ .release }}: leave them as the chart renders them'
{{- end -}}
