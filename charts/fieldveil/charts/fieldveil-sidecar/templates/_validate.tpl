{{- /* Stops with the place, the reason and the remedy of all that can't work; the schema has looked at forms before. */ -}}
{{- define "fieldveil-sidecar.validate" -}}
{{- $problems := list -}}
{{- range tuple "upstreams" "shell" "policies" "keys" "redirect" "cluster" -}}
{{- $found := include (printf "fieldveil-sidecar.validate.%s" .) $ | trim -}}
{{- with $found -}}{{- $problems = append $problems (printf "  %s" .) -}}{{- end -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\nfieldveil: the values of the sidecar can't work:\n%s\n" (join "\n" .)) -}}
{{- end -}}
{{- end -}}

{{- /* One problem: of (list place reason remedy). */ -}}
{{- define "fieldveil-sidecar.problem" }}
{{ printf "  %s: %s; %s" (index . 0) (index . 1) (index . 2) }}
{{- end -}}

{{- define "fieldveil-sidecar.validate.upstreams" -}}
{{- if not .Values.upstreams -}}
{{- include "fieldveil-sidecar.problem" (list "upstreams" "there is none" "name at least one database or service") -}}
{{- end -}}
{{- $names := dict "metrics" "-" "opa" "-" "key_agent" "-" "admin" "-" -}}
{{- $ports := dict "15020" "Envoy" "15021" "the key agent" "15022" "OPA" "15023" "the key agent" -}}
{{- range include "fieldveil-sidecar.bridges" . | fromYamlArray -}}
{{- $_ := set $ports (.bridgePort | int | toString) (printf "the bridge of the upstream %s" .name) -}}
{{- end -}}
{{- range .Values.upstreams -}}
{{- $place := printf "upstreams %s" .name -}}
{{- if hasKey $names .name -}}
{{- include "fieldveil-sidecar.problem" (list $place "another one, or a part of the sidecar, has this name" "give it a name of its own") -}}
{{- end -}}
{{- $_ := set $names .name "" -}}
{{- $port := .listener.port | default 0 | int | toString -}}
{{- if and (eq $port "0") (not .listener.socket) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s listener" $place) "it listens nowhere" "set port, or socket: true, or both") -}}
{{- else if hasKey $ports $port -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s listener.port" $place) (printf "%s has %s already" (get $ports $port) $port) "choose another") -}}
{{- end -}}
{{- if ne $port "0" -}}{{- $_ := set $ports $port (printf "the upstream %s" .name) -}}{{- end -}}
{{- if and (eq .protocol "http") (not .http) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s http" $place) "it is missing" "say http: {service: …} as catalogs name it") -}}
{{- else if and (ne .protocol "http") .http -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s http" $place) "the protocol is not http" "leave it out, or say protocol: http") -}}
{{- end -}}
{{- if and (ne .protocol "http") (not (has (.listener.address | default "127.0.0.1") (list "127.0.0.1" "::1"))) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s listener.address" $place) "others than this pod would come in, in clear text and as this workload" "leave it at 127.0.0.1") -}}
{{- end -}}
{{- if include "fieldveil-sidecar.takesTls" . -}}
{{- include "fieldveil-sidecar.validate.clients" (dict "place" (printf "%s listener" $place) "upstream" . "spiffe" $.Values.identity.spiffe) -}}
{{- end -}}
{{- include "fieldveil-sidecar.validate.files" (dict "place" $place "upstream" . "shell" $.Values.shell) -}}
{{- end -}}
{{- end -}}

{{- /* What the native module can not do. Which Envoy it is in the module finds out itself; what a tag says is told before. */ -}}
{{- define "fieldveil-sidecar.validate.shell" -}}
{{- if eq .Values.shell "native" -}}
{{- $envoy := "1.40.0" -}}
{{- $version := regexFind "[0-9]+[.][0-9]+[.][0-9]+" .Values.images.envoy.tag -}}
{{- if and $version (ne $version $envoy) -}}
{{- include "fieldveil-sidecar.problem" (list "shell" (printf "the native module serves no connection in another Envoy than %s, and images.envoy.tag says %s" $envoy $version) (printf "take Envoy %s, or say shell: wasm" $envoy)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Each file of an upstream comes from one place. */ -}}
{{- define "fieldveil-sidecar.validate.files" -}}
{{- $place := .place -}}
{{- if include "fieldveil-sidecar.isBridged" .upstream -}}
{{- include "fieldveil-sidecar.validate.bridge" . -}}
{{- else -}}
{{- with .upstream.tls -}}
{{- include "fieldveil-sidecar.validate.oneOf" (list (printf "%s tls.ca" $place) (.ca | default dict)) -}}
{{- if and (eq (dig "by" "envoy" .) "filter") (eq $.upstream.protocol "http") -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s tls.by" $place) "the filter begins TLS within the databases' protocols alone" "leave it out: Envoy begins TLS for HTTP itself") -}}
{{- else if and (eq (dig "by" "envoy" .) "filter") (ne $.shell "native") -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s tls.by" $place) "only the native filter can begin TLS within the protocol" "say shell: native, or tls.by: bridge") -}}
{{- end -}}
{{- range list "verify" "direct" -}}
{{- if hasKey $.upstream.tls . -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s tls.%s" $place .) "only the bridge knows it" "leave it out, or say tls.by: bridge") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .upstream.http -}}
{{- $issuers := dict -}}
{{- range dig "identity" "jwt" list . -}}
{{- include "fieldveil-sidecar.validate.oneOf" (list (printf "%s http.identity.jwt %s jwks" $place .name) .jwks) -}}
{{- if hasKey $issuers .name -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s http.identity.jwt" $place) (printf "two are named %s" .name) "give each a name of its own") -}}
{{- end -}}
{{- $_ := set $issuers .name "" -}}
{{- end -}}
{{- if and .tokenRequired (not $issuers) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s http.tokenRequired" $place) "no issuer is named whose tokens count" "name one in http.identity.jwt") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.validate.clients" -}}
{{- $tls := .upstream.listener.tls -}}
{{- if eq .upstream.protocol "http" -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.tls" .place) "the bridge speaks the databases' protocols alone" "say http.tls in its place: Envoy takes TLS for HTTP itself") -}}
{{- end -}}
{{- if .upstream.listener.socket -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.socket" .place) "whoever says tls comes by the port alone" "leave one of the two out") -}}
{{- end -}}
{{- if not .upstream.listener.port -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.port" .place) "clients begin TLS at a port" "give it one") -}}
{{- end -}}
{{- if eq (not $tls.secret) (not $tls.spiffe) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.tls" .place) (ternary "neither secret nor spiffe is given" "both secret and spiffe are given" (not $tls.secret)) "give one of the two: whose certificate clients verify") -}}
{{- end -}}
{{- if and $tls.spiffe (not .spiffe.enabled) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.tls.spiffe" .place) "identity.spiffe is not enabled" "enable it, or give a secret") -}}
{{- end -}}
{{- with $tls.clientCa -}}
{{- include "fieldveil-sidecar.validate.oneOf" (list (printf "%s.tls.clientCa" $.place) .) -}}
{{- end -}}
{{- if and $tls.clientCertificates (not $tls.clientCa) -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.tls.clientCertificates" .place) "no authority is named whose certificates count" "name it in clientCa") -}}
{{- end -}}
{{- if and $tls.passScram (ne .upstream.protocol "postgres") -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.tls.passScram" .place) "only PostgreSQL knows SCRAM" "leave it out") -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.validate.bridge" -}}
{{- $place := printf "%s tls" .place -}}
{{- $tls := .upstream.tls -}}
{{- if eq .upstream.protocol "http" -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.by" $place) "the bridge speaks the databases' protocols alone" "leave it out: Envoy begins TLS for HTTP itself") -}}
{{- end -}}
{{- if $tls.ca -}}
{{- include "fieldveil-sidecar.validate.oneOf" (list (printf "%s.ca" $place) $tls.ca) -}}
{{- else if eq (dig "verify" "" $tls) "verify-ca" -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.verify" $place) "whoever has a certificate of a public authority would be the server" "name the server's own authority in ca, or leave verify out") -}}
{{- end -}}
{{- if and $tls.direct (ne .upstream.protocol "postgres") -}}
{{- include "fieldveil-sidecar.problem" (list (printf "%s.direct" $place) "no server of MySQL's protocol takes TLS from the first byte on" "leave it out") -}}
{{- end -}}
{{- end -}}

{{- /* Exactly one of configMap and secret: of (list place {configMap, secret}). */ -}}
{{- define "fieldveil-sidecar.validate.oneOf" -}}
{{- $from := last . -}}
{{- if eq (not $from.configMap) (not $from.secret) -}}
{{- include "fieldveil-sidecar.problem" (list (first .) (ternary "both configMap and secret are named" "neither configMap nor secret is named" (and $from.configMap $from.secret | not | not)) "name one of the two") -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.validate.policies" -}}
{{- $policies := .Values.policies -}}
{{- $sources := compact (list $policies.configMap $policies.bundle $policies.server.url) -}}
{{- if ne (len $sources) 1 -}}
{{- include "fieldveil-sidecar.problem" (list "policies" (printf "%d of configMap, bundle and server.url are given" (len $sources)) "give exactly one") -}}
{{- end -}}
{{- /* H4sI: the first bytes of gzip. Without it, as of the file itself, the API server would only speak of base64. */ -}}
{{- if and $policies.bundle (not (hasPrefix "H4sI" $policies.bundle)) -}}
{{- include "fieldveil-sidecar.problem" (list "policies.bundle" "it is no bundle in base64" "make it with base64 -w0 fieldveil.tar.gz > bundle.b64, and give it by --set-file sidecar.policies.bundle=bundle.b64") -}}
{{- end -}}
{{- $signers := dict -}}
{{- range prepend $policies.verification.others $policies.verification -}}
{{- if eq (not .publicKey) (not .configMap) -}}
{{- include "fieldveil-sidecar.problem" (list "policies.verification" (printf "the key %s has %s publicKey %s configMap, and bundles are taken signed alone" .keyId (ternary "both" "neither" (not (not .publicKey))) (ternary "and" "nor" (not (not .publicKey)))) "give the public key of whoever signs them") -}}
{{- end -}}
{{- if and .publicKey (not (contains "BEGIN PUBLIC KEY" .publicKey)) -}}
{{- include "fieldveil-sidecar.problem" (list "policies.verification" (printf "the publicKey of the key %s is no public key in PEM" .keyId) "give what openssl pkey -pubout writes, by --set-file") -}}
{{- end -}}
{{- if hasKey $signers .keyId -}}
{{- include "fieldveil-sidecar.problem" (list "policies.verification" (printf "two keys are named %s" .keyId) "give each the key id that its bundles name") -}}
{{- end -}}
{{- $_ := set $signers .keyId "" -}}
{{- end -}}
{{- if gt (int $policies.polling.minSeconds) (int $policies.polling.maxSeconds) -}}
{{- include "fieldveil-sidecar.problem" (list "policies.polling" "minSeconds is more than maxSeconds" "swap them") -}}
{{- end -}}
{{- $ca := $policies.server.ca -}}
{{- if and $ca.configMap $ca.secret -}}
{{- include "fieldveil-sidecar.problem" (list "policies.server.ca" "both configMap and secret are named" "name one of the two") -}}
{{- end -}}
{{- if and (hasPrefix "http://" $policies.server.url) $policies.server.tokenSecret.name -}}
{{- include "fieldveil-sidecar.problem" (list "policies.server.url" "the token would go there in clear text" "use https") -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.validate.keys" -}}
{{- $keys := .Values.keys -}}
{{- include "fieldveil-sidecar.validate.oneOf" (list "keys.keysets" $keys.keysets) -}}
{{- if and $keys.kekUri $keys.insecureDevKek.secret -}}
{{- include "fieldveil-sidecar.problem" (list "keys.kekUri" "keys.insecureDevKek.secret names another key-encryption key" "leave one of the two out") -}}
{{- else if not (or $keys.kekUri $keys.insecureDevKek.secret) -}}
{{- include "fieldveil-sidecar.problem" (list "keys.kekUri" "no key-encryption key is named" "name that of your KMS; for a trial alone keys.insecureDevKek.secret") -}}
{{- end -}}
{{- if and (hasPrefix "hcvault://" $keys.kekUri) (not $keys.vault.address) (not (hasKey $keys.environment "VAULT_AUTH_METHOD")) -}}
{{- include "fieldveil-sidecar.problem" (list "keys.vault.address" "it is missing, and the agent would not log in" "say where Vault is, such as https://vault.vault.svc:8200") -}}
{{- end -}}
{{- if and (hasPrefix "http://" $keys.vault.address) (ne (get $keys.environment "FIELDVEIL_KMS_ALLOW_HTTP" | toString) "true") -}}
{{- include "fieldveil-sidecar.problem" (list "keys.vault.address" "keys would go there in clear text, and the agent refuses that" "use https; where something else encrypts the way, set keys.environment.FIELDVEIL_KMS_ALLOW_HTTP") -}}
{{- end -}}
{{- if and $keys.vault.address (not $keys.vault.role) -}}
{{- include "fieldveil-sidecar.problem" (list "keys.vault.role" "it is missing" "name the role that the pod's service account logs in to") -}}
{{- end -}}
{{- if and $keys.vault.ca.configMap $keys.vault.ca.secret -}}
{{- include "fieldveil-sidecar.problem" (list "keys.vault.ca" "both configMap and secret are named" "name one of the two") -}}
{{- end -}}
{{- range $name, $_ := $keys.environment -}}
{{- if has $name (list "VAULT_TOKEN" "AWS_SECRET_ACCESS_KEY" "AWS_SESSION_TOKEN" "VAULT_SECRET_ID") -}}
{{- include "fieldveil-sidecar.problem" (list (printf "keys.environment %s" $name) "a secret would stand in the pod for all to read" "log in by the pod's service account") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Connections are told apart by the port that they go to, as a name's addresses change. */ -}}
{{- define "fieldveil-sidecar.validate.redirect" -}}
{{- if .Values.redirect.enabled -}}
{{- $ports := dict -}}
{{- range .Values.upstreams -}}
{{- if include "fieldveil-sidecar.isElsewhere" . -}}
{{- $port := .port | int | toString -}}
{{- if not .listener.port -}}
{{- include "fieldveil-sidecar.problem" (list (printf "upstreams %s listener.port" .name) "connections are redirected to a port" "give it one, or redirect.enabled: false") -}}
{{- else if hasKey $ports $port -}}
{{- include "fieldveil-sidecar.problem" (list "redirect" (printf "%s and %s have the same port %s, by which connections are told apart" (get $ports $port) .name $port) "let the application name their listeners, with redirect.enabled: false") -}}
{{- end -}}
{{- $_ := set $ports $port .name -}}
{{- end -}}
{{- end -}}
{{- if not $ports -}}
{{- include "fieldveil-sidecar.problem" (list "redirect.enabled" "every upstream is in the pod itself, so that there is nothing to redirect" "leave it out") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "fieldveil-sidecar.validate.cluster" -}}
{{- if and (eq .Values.modules.delivery "image") (semverCompare "<1.31.0-0" .Capabilities.KubeVersion.Version) -}}
{{- include "fieldveil-sidecar.problem" (list "modules.delivery" (printf "Kubernetes %s has no image volumes" .Capabilities.KubeVersion.Version) "say copy, or auto") -}}
{{- end -}}
{{- end -}}
