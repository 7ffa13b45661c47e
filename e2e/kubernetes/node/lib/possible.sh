# shellcheck shell=bash
# `cluster possible`: whether this machine can run a cluster, tried rather than guessed.

cluster_possible() {
  local why
  why=$(obstacle)
  [[ -n $why ]] || return 0
  die "not possible here: $why"
}

# The first thing that is in the way; nothing if none is.
obstacle() {
  local tool
  ((EUID == 0)) || { echo "it takes root" && return; }
  for tool in "${HOST_TOOLS[@]}"; do
    on_machine "$tool" || { echo "$tool is missing" && return; }
  done
  if [[ -n $(missing_packages) ]] && ! { command -v apt-get && command -v dpkg; } >/dev/null; then
    echo "missing, and no apt-get and dpkg to fetch it: $(missing_packages)" && return
  fi
  can_namespaces || { echo "namespaces or mounts can't be made" && return; }
  can_cgroups || { echo "cgroups can't be made under /sys/fs/cgroup" && return; }
}

# As lib/node-init will, on a small scale: a network device, a /proc, an overlay.
can_namespaces() {
  # shellcheck disable=SC2016 # expanded inside
  unshare --mount --net --pid --cgroup --fork -- bash -ec '
    mount -n -t proc proc /proc
    mount -n -t tmpfs tmpfs /mnt
    mkdir /mnt/lower /mnt/upper /mnt/work /mnt/all
    mount -n -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/all
    echo 1 >/proc/sys/net/ipv4/ip_forward
  ' >/dev/null 2>&1
}

can_cgroups() {
  local mount group=fieldveil-probe-$$ made=0
  for mount in $(cgroup_mounts); do
    mkdir -- "$mount/$group" 2>/dev/null || return 1
    rmdir -- "$mount/$group"
    made=1
  done
  ((made))
}
