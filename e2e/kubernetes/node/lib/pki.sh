# shellcheck shell=bash
# Certificates and kubeconfigs of one cluster, made anew by every `up`, with the node's openssl.

make_pki() {
  (
    umask 077
    mkdir -p -- "$RUN/pki"
    certificate ca /CN=cluster-ca
    certificate apiserver /CN=kube-apiserver \
      "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:127.0.0.1,IP:10.96.0.1,IP:$NODE_IP"
    certificate kubelet "/O=system:nodes/CN=system:node:$NODE_NAME" "DNS:$NODE_NAME,IP:$NODE_IP,IP:127.0.0.1"
    certificate admin /O=system:masters/CN=admin
    certificate controller-manager /CN=system:kube-controller-manager
    certificate scheduler /CN=system:kube-scheduler
    certificate proxy /CN=system:kube-proxy
    certificate coredns /CN=system:coredns
    in_node openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$PKI/service-account.key"
    in_node openssl pkey -in "$PKI/service-account.key" -pubout -out "$PKI/service-account.pub"

    kubeconfig admin "$RUN/kubeconfig"
    local name
    for name in kubelet controller-manager scheduler proxy coredns; do
      kubeconfig "$name" "$RUN/pki/$name.kubeconfig"
    done
  ) >"$LOGS/pki.log" 2>&1
}

# certificate NAME SUBJECT [ALTERNATIVE-NAMES]: signed by the CA made first.
certificate() {
  local name=$1 subject=$2 names=${3:-DNS:$1}
  local make=(in_node openssl req -x509 -config "$ETC/openssl.cnf" -days 365
    -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj "$subject"
    -keyout "$PKI/$name.key" -out "$PKI/$name.crt")
  if [[ $name == ca ]]; then
    "${make[@]}" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
  else
    "${make[@]}" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -addext "subjectAltName=$names" \
      -addext keyUsage=digitalSignature -addext extendedKeyUsage=serverAuth,clientAuth
  fi
}

# kubeconfig NAME FILE: everything inside, so that it reads the same in and out of the node.
kubeconfig() {
  local name=$1 file=$2
  cat >"$file" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: fieldveil-cluster
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: $(base64 -w0 "$RUN/pki/ca.crt")
users:
- name: $name
  user:
    client-certificate-data: $(base64 -w0 "$RUN/pki/$name.crt")
    client-key-data: $(base64 -w0 "$RUN/pki/$name.key")
contexts:
- name: fieldveil-cluster
  context: {cluster: fieldveil-cluster, user: $name}
current-context: fieldveil-cluster
YAML
}
