# shellcheck shell=bash
# `cluster build`: Debian packages (lib/packages.sh), Go binaries, base images. Skips what is there.

# Image volumes take containerd 2.1, which no stable Debian has.
CONTAINERD=(containerd containerd-shim-runc-v2 ctr)
COMPONENTS_OF_KUBERNETES=(kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy)
BINARIES=(pause coredns components kubectl "${COMPONENTS_OF_KUBERNETES[@]}" "${CONTAINERD[@]}")
BASE_IMAGES=(pause busybox)

cluster_build() {
  take_lock
  fetch_packages
  mkdir -p -- "$BIN" "$IMAGES"
  build_binaries
  build_images
  step "built: $(du -sh -- "$BIN" | cut -f1) of binaries, $(du -sh -- "$IMAGES" | cut -f1) of images in $CLUSTER_DIR"
}

build_binaries() {
  local name
  command -v go >/dev/null || die "Go is missing: install Go $(go_needed) or later and put it on PATH"
  go_env env GOVERSION >/dev/null 2>&1 || die "Go $(go_needed) or later is needed: $(go_env env GOVERSION 2>&1 | head -1)"

  build_programs containerd "" "${CONTAINERD[@]/#/github.com/containerd/containerd/v2/cmd/}"
  build_programs kubernetes "$(version_flags "$(kubernetes_version)")" ./pause ./coredns ./components k8s.io/kubernetes/cmd/kubectl
  for name in "${COMPONENTS_OF_KUBERNETES[@]}"; do ln -sf components "$BIN/$name"; done
}

go_needed() { awk '$1 == "go" { print $2 }' "$HERE/modules/kubernetes/go.mod"; }
kubernetes_version() { awk '$1 == "k8s.io/kubernetes" { print $2 }' "$HERE/modules/kubernetes/go.mod"; }

# Without these the server reports a placeholder, which a chart's kubeVersion refuses.
version_flags() {
  local package=k8s.io/component-base/version major minor
  IFS=. read -r major minor _ <<<"${1#v}"
  echo "-X $package.gitVersion=$1 -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
}

# go, in the module of Kubernetes unless another is named, free of the caller's workspace and flags; go.sum is
# checked and never changed.
go_env() { go_in kubernetes "$@"; }
go_in() {
  local module=$1
  shift
  (cd -- "$HERE/modules/$module" && GOWORK=off GOFLAGS='-mod=readonly -buildvcs=false' CGO_ENABLED=0 go "$@")
}

# build_programs MODULE LDFLAGS PACKAGE...: all in one go, which compiles what they share once. Without inlining and
# debug information, which cost four tenths of the compiler's time; with the flags of all that only tests run
# (dev/setup/building.py), for Go compiles a package anew for each set of flags.
build_programs() {
  local module=$1 begin=$EPOCHREALTIME stamp fresh=$BIN/.$1.new
  local flags=(-trimpath -gcflags='all=-dwarf=false -l' -ldflags="-s -w $2")
  shift 2
  stamp=$(build_stamp "$module" "${flags[*]} $*")
  if [[ -f $BIN/.$module.stamp && $(<"$BIN/.$module.stamp") == "$stamp" ]] && all_there "${@##*/}"; then
    step "$module: all there"
    return
  fi
  step "$module: building ${*##*/}"
  rm -rf -- "$fresh"
  mkdir -- "$fresh"
  if ! go_in "$module" build "${flags[@]}" -o "$fresh/" "$@" >"$CLUSTER_DIR/build.log" 2>&1; then
    grep -v '^go: downloading' "$CLUSTER_DIR/build.log" | tail -n 20 >&2
    die "$module does not build"
  fi
  mv -- "$fresh"/* "$BIN/"
  rmdir -- "$fresh"
  echo "$stamp" >"$BIN/.$module.stamp"
  step "$module: built in $(seconds_since "$begin")s"
}

all_there() {
  local name
  for name in "$@"; do [[ -x $BIN/$name ]] || return 1; done
}

# Changes whenever a program would: pinned versions, own sources, flags, compiler.
build_stamp() {
  { (cd -- "$HERE/modules/$1" && find . -type f -print0 | sort -z | xargs -0 cat); echo "$2"; go_in "$1" env GOVERSION GOARCH; } |
    sha256sum | cut -d' ' -f1
}

build_images() {
  local root=$CLUSTER_DIR/rootfs
  rm -rf -- "$root"
  mkdir -p -- "$root/pause" "$root/busybox"
  cp -- "$BIN/pause" "$root/pause/pause"
  python3 "$HERE/../images/archive.py" "$IMAGES/pause.tar" cluster.test/pause:1 "$root/pause" /pause
  busybox_rootfs "$root/busybox"
  python3 "$HERE/../images/archive.py" "$IMAGES/busybox.tar" cluster.test/busybox:1 "$root/busybox"
  rm -rf -- "$root"
  step "images: cluster.test/pause:1, cluster.test/busybox:1"
}

busybox_rootfs() {
  local root=$1 applet busybox
  busybox=$(find_program busybox)
  mkdir -p -- "$root"/{bin,etc,home,root,var}
  mkdir -m 1777 -- "$root/tmp" "$root/var/tmp"
  cp -- "$busybox" "$root/bin/busybox"
  for applet in $("$busybox" --list); do
    [[ $applet == busybox ]] || ln -s busybox "$root/bin/$applet"
  done
  printf '%s\n' root:x:0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/home:/bin/sh >"$root/etc/passwd"
  printf '%s\n' root:x:0: nogroup:x:65534: >"$root/etc/group"
}
