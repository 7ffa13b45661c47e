{{/*
Names that the sidecar connects to in clear text, or by a bridge that does not compare them (`verify-ca`: all servers of a managed database have
one authority), so that no certificate says who answers: whoever leads a name elsewhere is the server. A false database lets anybody in as any user, and the policy goes by that. The pod's own words lead names elsewhere: it shares one /etc/hosts.
*/}}

{{/* fieldveil-sidecar.unprovenNames: a JSON list. */}}
{{- define "fieldveil-sidecar.unprovenNames" -}}
{{- $hosts := list -}}
{{- range .Values.upstreams -}}
  {{- if or (not .tls) (eq (dig "verify" "" (.tls | default dict)) "verify-ca") -}}{{- $hosts = append $hosts .host -}}{{- end -}}
{{- end -}}
{{- range list .Values.policies.server.url .Values.keys.vault.address -}}
  {{- if hasPrefix "http://" . -}}{{- $hosts = append $hosts (get (urlParse .) "hostname") -}}{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range $hosts -}}
  {{- if and (not (contains ":" .)) (not (regexMatch "^[0-9.]+$" .)) -}}{{- $names = append $names (lower . | trimSuffix ".") -}}{{- end -}}
{{- end -}}
{{- without (uniq $names) "localhost" | toJson -}}
{{- end -}}

{{/* fieldveil-sidecar.admissionNamesVariables: which of them the pod claims for an address of its choice; its own name counts as well. */}}
{{- define "fieldveil-sidecar.admissionNamesVariables" -}}
{{- $names := include "fieldveil-sidecar.unprovenNames" .sidecar | fromJsonArray -}}
{{- if $names -}}
- name: hostname
  expression: object.spec.?hostname.orValue(object.metadata.?name.orValue(''))
- name: qualified
  expression: "variables.hostname + '.' + object.spec.?subdomain.orValue('') + '.' + request.namespace + '.svc.'"
# Search domains make longer names of short ones.
- name: namesTaken
  expression: >-
    {{ include "fieldveil-sidecar.cel" $names }}.filter(n, n == variables.hostname || n == object.spec.?hostnameOverride.orValue('') ||
    variables.qualified.startsWith(n + '.') || n.startsWith(variables.qualified) ||
    object.spec.?hostAliases.orValue([]).exists(a, a.?hostnames.orValue([]).exists(h, h.lowerAscii() == n || h.lowerAscii().startsWith(n + '.'))))
{{- end -}}
{{- end -}}

{{/* fieldveil-sidecar.admissionNames: the refusals. */}}
{{- define "fieldveil-sidecar.admissionNames" -}}
{{- if include "fieldveil-sidecar.unprovenNames" .sidecar | fromJsonArray -}}
- expression: "!variables.whole || size(variables.namesTaken) == 0"
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'hostAliases, or its own name, would lead the sidecar elsewhere than to ' + variables.namesTaken.join(', ') + ', where no certificate tells: leave it out, or give the upstream tls that compares the name'
- expression: >-
    !variables.whole || (object.spec.?dnsPolicy.orValue('') != 'None' && size(object.spec.?dnsConfig.?nameservers.orValue([])) == 0 &&
    size(object.spec.?dnsConfig.?searches.orValue([])) == 0)
  reason: Forbidden
  messageExpression: >-
    variables.pod + 'dnsConfig with nameservers or searches, or dnsPolicy None, could lead the sidecar elsewhere than to its upstreams, where no certificate tells: leave it out, or give the upstreams tls that compares the name'
{{- end -}}
{{- end -}}
