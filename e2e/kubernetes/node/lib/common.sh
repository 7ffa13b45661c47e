# shellcheck shell=bash
# Paths, messages and checks that every command shares.

CLUSTER_DIR=${FIELDVEIL_CLUSTER_DIR:-$HERE/../../../.tools/cluster}
CLUSTER_DIR=$(realpath -m -- "$CLUSTER_DIR")
BIN=$CLUSTER_DIR/bin       # built once, kept
IMAGES=$CLUSTER_DIR/images # built once, kept
LOGS=$CLUSTER_DIR/logs     # of the last cluster, kept
RUN=$CLUSTER_DIR/run       # of the running cluster, removed by `down`

# The node sees CLUSTER_DIR as /run/cluster, so the files in config/ name fixed
# paths. These numbers stand in config/ and lib/node-init too.
INSIDE=/run/cluster
NODE_NAME=node-1
NODE_IP=10.222.0.1
POD_CIDR=10.244.0.0/24
SERVICE_CIDR=10.96.0.0/16

SYSTEM_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# Progress goes to stderr; stdout is for what was asked.
say() { printf 'cluster: %s\n' "$*" >&2; }

die() {
  printf 'cluster: %s\n' "$*" >&2
  exit 1
}

# A line with the seconds since the command began.
clock_start=$EPOCHREALTIME
step() { printf 'cluster: %7s  %s\n' "$(seconds_since "$clock_start")s" "$*" >&2; }
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

need_root() { ((EUID == 0)) || die "$1 must run as root"; }

need_built() {
  local name missing
  missing=$(missing_packages)
  [[ -z $missing ]] || die "missing: $missing; run \`cluster build\` first"
  for name in "${BINARIES[@]}"; do
    [[ -x $BIN/$name ]] || die "$name is not built: run \`cluster build\` first"
  done
  for name in "${BASE_IMAGES[@]}"; do
    [[ -f $IMAGES/$name.tar ]] || die "the $name image is not built: run \`cluster build\` first"
  done
}

# One build, up, down or load at a time for each CLUSTER_DIR. Whatever outlives
# the command must not inherit the lock: start it with {LOCK}>&-.
LOCK=
take_lock() {
  mkdir -p -- "$CLUSTER_DIR"
  exec {LOCK}>"$CLUSTER_DIR/lock"
  flock --nonblock "$LOCK" && return
  say "waiting for another cluster command"
  flock "$LOCK"
}
