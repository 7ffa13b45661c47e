{{/* fieldveil.sqlName and .sqlText: quoted as SQL has them, and as the kubelet leaves them, which reads $( as a variable. */}}
{{- define "fieldveil.sqlName" -}}
"{{ . | replace "\"" "\"\"" | replace "$" "$$" }}"
{{- end -}}

{{- define "fieldveil.sqlText" -}}
'{{ . | replace "'" "''" | replace "$" "$$" }}'
{{- end -}}

{{/* fieldveil.testTable, .testInsert and .testWhere: of values' test, the parts of the statements that concern its one row. */}}
{{- define "fieldveil.testTable" -}}
{{ include "fieldveil.sqlName" .schema }}.{{ include "fieldveil.sqlName" .table }}
{{- end -}}

{{- define "fieldveil.testInsert" -}}
{{- $names := list (include "fieldveil.sqlName" .column) -}}
{{- $texts := list (include "fieldveil.sqlText" .value) -}}
{{- range $name, $text := .row -}}
  {{- $names = append $names (include "fieldveil.sqlName" $name) -}}
  {{- $texts = append $texts (include "fieldveil.sqlText" $text) -}}
{{- end -}}
INSERT INTO {{ include "fieldveil.testTable" . }} ({{ join ", " $names }}) VALUES ({{ join ", " $texts }}) RETURNING {{ include "fieldveil.sqlName" .key }}
{{- end -}}

{{- define "fieldveil.testWhere" -}}
FROM {{ include "fieldveil.testTable" . }} WHERE {{ include "fieldveil.sqlName" .key }} = :'key'
{{- end -}}

{{/* fieldveil.testContainer: writes and reads by way of the sidecar, and looks at what is stored. */}}
{{- define "fieldveil.testContainer" -}}
{{- $test := .Values.test -}}
- name: test
  image: {{ $test.image }}
  imagePullPolicy: {{ $test.pullPolicy }}
  command: [sh, -euc]
  args:
  - |
    # psql by way of the sidecar, and straight; the statement comes on the standard input, where it takes variables.
    through() { psql "$THROUGH_URL" -XqAt -v ON_ERROR_STOP=1 -v key="$key"; }
    direct() { psql "$DIRECT_URL" -XqAt -v ON_ERROR_STOP=1 -v key="$key"; }
    failed() { echo "FAILED: $1"; exit 1; }
    # What psql says of a URL that it can't read holds a part of the password.
    readable() {
      case $2 in *://*@*) ;; *) return 0 ;; esac
      rest=${2#*://}
      case ${rest%%@*} in */*|*%[!0-9A-Fa-f]*|*%?[!0-9A-Fa-f]*) bad=yes ;; *) bad= ;; esac
      case ${rest#*@} in *@*) bad=yes ;; esac
      [ -z "$bad" ] || failed "Secret {{ $test.secret }}, key $1: the password in the URL has an @, a / or a % as it is: write %40, %2F, %25"
    }
    remove() { [ -z "$key" ] || printf '%s\n' "DELETE $WHERE" | direct; }
    key=
    readable through "$THROUGH_URL"
    readable direct "$DIRECT_URL"
    trap remove EXIT
    key=$(printf '%s\n' "$INSERT" | through)
    echo "written by way of the sidecar: a row of $TABLE"
    shown=$(printf '%s\n' "SELECT $COLUMN $WHERE" | through)
    [ "$shown" = "$SHOWN" ] || failed "the sidecar shows another value of $COLUMN than test.shown says (policies decide it by service account, labels and database user)"
    echo "read by way of the sidecar: the value as test.shown says"
    stored=$(printf '%s\n' "SELECT $COLUMN $WHERE" | direct)
    case $stored in
    fv1.*|\\xf7*) echo "stored: an envelope, ${#stored} characters" ;;
    *) failed "what is stored in $COLUMN is no envelope: the column is not protected by the policies, or the URL 'through' does not lead through the sidecar" ;;
    esac
    echo passed
  env:
  - {name: DIRECT_URL, valueFrom: {secretKeyRef: {name: {{ $test.secret }}, key: direct}}}
  - {name: THROUGH_URL, valueFrom: {secretKeyRef: {name: {{ $test.secret }}, key: through}}}
  - {name: TABLE, value: {{ include "fieldveil.testTable" $test | quote }}}
  - {name: COLUMN, value: {{ include "fieldveil.sqlName" $test.column | quote }}}
  - {name: INSERT, value: {{ include "fieldveil.testInsert" $test | quote }}}
  - {name: WHERE, value: {{ include "fieldveil.testWhere" $test | quote }}}
  - {name: SHOWN, value: {{ $test.shown | default $test.value | replace "$" "$$" | quote }}}
  # The filter refuses what is no UTF-8, and a container has no locale.
  - {name: PGCLIENTENCODING, value: UTF8}
  - {name: PGCONNECT_TIMEOUT, value: "10"}
  resources:
    requests: {cpu: 10m, memory: 32Mi}
    limits: {memory: 128Mi}
  securityContext:
    {{- include "fieldveil-sidecar.securityContext" $test.runAsUser | nindent 4 }}
{{- end -}}

{{/*
fieldveil.testStarted: where no table is named. A container starts after the sidecar's startup probes, so that it runs at all says: keys are open,
policies are loaded, Envoy and the filters serve.
*/}}
{{- define "fieldveil.testStarted" -}}
{{- $sidecar := .Subcharts.sidecar -}}
- name: test
  image: {{ include "fieldveil-sidecar.image" (dict "image" $sidecar.Values.images.fieldveil "root" $sidecar) }}
  imagePullPolicy: {{ $sidecar.Values.images.pullPolicy }}
  # The label comes with the sidecar: in a pod without it this is no boolean, and the command fails.
  args: [--version=$(CARRIES_THE_SIDECAR)]
  env:
  - {name: CARRIES_THE_SIDECAR, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: "metadata.labels['fieldveil.io/sidecar']"}}}
  resources:
    requests: {cpu: 10m, memory: 16Mi}
    limits: {memory: 64Mi}
  securityContext:
    {{- include "fieldveil-sidecar.securityContext" 65532 | nindent 4 }}
{{- end -}}
