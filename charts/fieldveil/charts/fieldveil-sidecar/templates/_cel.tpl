{{/*
Common Expression Language, as admission policies speak it, made from values.
*/}}

{{/*
fieldveil-sidecar.cel: any value as a CEL literal.
A JSON string is a CEL string literal too: CEL knows every escape that JSON makes. Kubernetes wants the members of a list or of a map to be
of one type; all that is not made of strings alone is therefore wrapped in dyn().
*/}}
{{- define "fieldveil-sidecar.cel" -}}
{{- if kindIs "map" . -}}
  {{- $strings := include "fieldveil-sidecar.celOfStrings" (values .) -}}
  {{- $members := list -}}
  {{- range $key, $value := . -}}
    {{- $literal := include "fieldveil-sidecar.cel" $value -}}
    {{- $members = append $members (printf "%s: %s" (toJson $key) (ternary $literal (printf "dyn(%s)" $literal) (eq $strings "true"))) -}}
  {{- end -}}
  { {{- join ", " $members -}} }
{{- else if kindIs "slice" . -}}
  {{- $strings := include "fieldveil-sidecar.celOfStrings" . -}}
  {{- $members := list -}}
  {{- range . -}}
    {{- $literal := include "fieldveil-sidecar.cel" . -}}
    {{- $members = append $members (ternary $literal (printf "dyn(%s)" $literal) (eq $strings "true")) -}}
  {{- end -}}
  [ {{- join ", " $members -}} ]
{{- else -}}
  {{- toJson . -}}
{{- end -}}
{{- end -}}

{{/* fieldveil-sidecar.celOfStrings: whether the members of a list are strings, all of them. */}}
{{- define "fieldveil-sidecar.celOfStrings" -}}
{{- $strings := true -}}
{{- range . -}}{{- $strings = and $strings (kindIs "string" .) -}}{{- end -}}
{{- $strings -}}
{{- end -}}

{{/*
fieldveil-sidecar.celSame: a CEL expression, true where the object at the expression .at has all members of .value with the same values.
It may have more: what the API server fills in, and what other policies add. Quantities are left out, as they are stored in another form
than they are written ("0.5" as "500m"), and pull policies, which clusters set for all pods.
*/}}
{{- define "fieldveil-sidecar.celSame" -}}
{{- $at := .at -}}
{{- $conditions := list -}}
{{- if kindIs "map" .value -}}
  {{- range $key, $value := omit .value "sizeLimit" "divisor" "pullPolicy" -}}
    {{- $conditions = append $conditions (include "fieldveil-sidecar.celSame" (dict "at" (printf "%s.?%s" $at (include "fieldveil-sidecar.celField" $key)) "value" $value)) -}}
  {{- end -}}
  {{- if not $conditions -}}{{- $conditions = append $conditions (printf "%s.hasValue()" $at) -}}{{- end -}}
{{- else if and (kindIs "slice" .value) .value (kindIs "map" (first .value)) -}}
  {{- $conditions = append $conditions (printf "size(%s.orValue([])) == %d" $at (len .value)) -}}
  {{- range .value -}}
    {{- $conditions = append $conditions (printf "%s.orValue([]).exists(e, %s)" $at (include "fieldveil-sidecar.celSame" (dict "at" "e" "value" .))) -}}
  {{- end -}}
{{- else if and (not .value) (or (kindIs "string" .value) (kindIs "slice" .value)) -}}
  {{- /* The API server leaves them out. Not so false and 0, where they are not what is meant by nothing. */ -}}
  {{- $literal := include "fieldveil-sidecar.cel" .value -}}
  {{- $conditions = append $conditions (printf "%s.orValue(%s) == %s" $at $literal $literal) -}}
{{- else -}}
  {{- $conditions = append $conditions (printf "%s == optional.of(%s)" $at (include "fieldveil-sidecar.cel" .value)) -}}
{{- end -}}
{{- join " && " $conditions -}}
{{- end -}}

{{/* fieldveil-sidecar.celField: a field's name; those that are words of CEL are escaped by Kubernetes. */}}
{{- define "fieldveil-sidecar.celField" -}}
{{- $words := list "true" "false" "null" "in" "as" "break" "const" "continue" "else" "for" "function" "if" "import" "let" "loop" "package" "namespace" "return" -}}
{{- if has . $words -}}__{{ . }}__{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* fieldveil-sidecar.celPointer: a key as a part of a JSON pointer (RFC 6901). */}}
{{- define "fieldveil-sidecar.celPointer" -}}
{{- . | replace "~" "~0" | replace "/" "~1" -}}
{{- end -}}
