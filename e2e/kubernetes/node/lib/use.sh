# shellcheck shell=bash
# What one does with a cluster that is up.

cluster_env() {
  [[ -f $RUN/kubeconfig ]] || die "the cluster is not up: run \`cluster up\`"
  # shellcheck disable=SC2016 # PATH is the caller's
  printf 'export KUBECONFIG=%q PATH=%q:"$PATH"\n' "$RUN/kubeconfig" "$BIN"
}

cluster_run() {
  need_root run
  (($#)) || die "run: no command given"
  need_node
  # Nothing outside is reachable from there, a proxy neither.
  unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
  export KUBECONFIG=$RUN/kubeconfig KUBECACHEDIR=$RUN/kube-cache PATH=$BIN:$PATH
  FIELDVEIL_CLUSTER_RUN=$(<"$RUN/node") # how `down` knows it again
  export FIELDVEIL_CLUSTER_RUN
  exec_with_cluster_dns "$@"
}

# In the node's network with the host's files, but for resolv.conf: service
# names resolve. This process becomes CMD, so it is CMD that a signal meets.
exec_with_cluster_dns() {
  # shellcheck disable=SC2016 # expanded inside
  exec nsenter --target "$NODE_PID" --net -- unshare --mount -- bash -c '
    [[ ! -e /etc/resolv.conf ]] || mount --bind "$1" /etc/resolv.conf
    shift
    exec "$@"
  ' cluster-run "$RUN/etc/resolv.conf" "$@"
}

cluster_load() {
  local name=${1:-} rootfs=${2:-} archive image
  need_root load
  [[ -n $name ]] || die "load: give NAME:TAG DIR [ENTRYPOINT...], or FILE.tar"
  need_node
  if [[ -z $rootfs ]]; then
    [[ -f $name ]] || die "load: no such file: $name"
    import_image <"$name"
    return
  fi
  [[ -d $rootfs ]] || die "load: no such directory: $rootfs"
  [[ $name == *:* ]] || die "load: the name needs a tag: $name"
  archive=$(mktemp -- "$RUN/image.XXXXXX")
  python3 "$HERE/../images/archive.py" "$archive" "$name" "$rootfs" "${@:3}"
  exec {image}<"$archive"
  rm -f -- "$archive" # gone whatever comes; the open file stays
  import_image <&"$image"
}

# An OCI or docker archive on stdin; all its names are taken.
import_image() {
  in_node ctr --namespace k8s.io images import --all-platforms - | awk '$2 == "saved" { print "loaded " $1 }'
}

cluster_status() {
  local name proc down=0
  need_root status
  need_node
  for name in "${COMPONENTS[@]}"; do
    if proc=$(component_proc "$name") && [[ -d $proc ]]; then
      printf '%-24s running  %5s MB\n' "$name" "$(awk '/^VmRSS/ { print int($2 / 1024) }' "$proc/status")"
    else
      printf '%-24s NOT RUNNING, see: cluster logs %s\n' "$name" "$name"
      down=1
    fi
  done
  kube get nodes -o wide || down=1
  kube get pods -A -o wide || down=1
  return $down
}

cluster_logs() {
  local name=${1:-}
  if [[ -z $name ]]; then
    [[ -d $LOGS ]] || die "no logs yet"
    find "$LOGS" -name '*.log' -printf '%f\n' | sed 's/\.log$//' | sort
    return
  fi
  [[ -f $LOGS/$name.log ]] || die "no log of $name (names: cluster logs)"
  shift
  tail "${@:---lines=+1}" -- "$LOGS/$name.log"
}
