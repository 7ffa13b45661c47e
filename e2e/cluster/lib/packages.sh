# shellcheck shell=bash
# What the node needs of Debian and the machine lacks: downloaded by apt-get and
# unpacked below CLUSTER_DIR. Nothing is installed: lib/node-init lays the folder
# over /usr in the node's own mount namespace, so programs find their libraries.

DEBIAN=$CLUSTER_DIR/debian # unpacked packages; only what `usr` holds is used

# What must be there -> the Debian package that brings it.
declare -A PACKAGE_OF=(
  [busybox]=busybox-static
  [/usr/lib/cni/ptp]=containernetworking-plugins
  [ip]=iproute2
  [iptables]=iptables
  [openssl]=openssl
  [runc]=runc
)
# These run outside the node too.
HOST_TOOLS=(awk findmnt flock mount nsenter python3 setsid unshare)

# The names that are neither on the machine nor in DEBIAN.
missing_packages() {
  local probe missing=()
  for probe in "${!PACKAGE_OF[@]}"; do
    [[ -n $(find_program "$probe") ]] || missing+=("${PACKAGE_OF[$probe]}")
  done
  echo "${missing[*]}"
}

# find_program NAME|PATH: the machine's own, else the unpacked one.
find_program() {
  local name=$1 folder
  if on_machine "$name"; then
    PATH=$PATH:$SYSTEM_PATH command -v "$name"
    return
  fi
  for folder in "" usr/bin usr/sbin; do
    if [[ -x $DEBIAN/$folder/$name ]]; then
      echo "$DEBIAN/$folder/$name"
      return
    fi
  done
}

on_machine() {
  local path
  path=$(PATH=$PATH:$SYSTEM_PATH command -v "$1") || return 1
  # Debian's dynamic busybox has the same path and does not run in an image alone.
  [[ $1 != busybox ]] || ! ldd "$path" >/dev/null 2>&1
}

need_host_tools() {
  local tool
  for tool in "${HOST_TOOLS[@]}"; do
    on_machine "$tool" || die "$tool is missing: install it (util-linux, mount, mawk, python3)"
  done
}

fetch_packages() {
  local missing
  need_host_tools
  missing=$(missing_packages)
  if [[ -z $missing ]]; then
    step "Debian packages: all there"
    return
  fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    die "no apt-get and dpkg here; install by other means: $missing"
  fi
  # Into an empty folder: so all that the machine itself lacks, not only what is new.
  rm -rf -- "$DEBIAN"
  missing=$(missing_packages)
  # shellcheck disable=SC2086 # one word a package
  download $missing >"$CLUSTER_DIR/apt.log" 2>&1 || die "apt-get could not download $missing; see $CLUSTER_DIR/apt.log"
  missing=$(missing_packages)
  [[ -z $missing ]] || die "still missing after the download: $missing; see $CLUSTER_DIR/apt.log"
  step "Debian packages: downloaded and unpacked"
}

# With what they depend on, as far as the machine lacks it. apt-get's lists and
# archives are folders of our own; only what is installed is read from the machine.
download() {
  local own=$CLUSTER_DIR/apt package
  local apt=(apt-get -o "Dir::State::Lists=$own/lists" -o "Dir::Cache=$own" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  rm -rf -- "$own"
  mkdir -p -- "$own/lists/partial" "$own/archives/partial" "$DEBIAN"
  "${apt[@]}" update || return
  "${apt[@]}" install --yes --no-install-recommends --download-only "$@" || return
  for package in "$own"/archives/*.deb; do
    dpkg --extract "$package" "$DEBIAN" || return
  done
  merge_usr
  use_iptables_nft
  rm -rf -- "$own"
}

# /bin, /sbin and /lib are links into /usr on the machine: so let the folders be here.
merge_usr() {
  local folder
  for folder in bin sbin lib lib64; do
    [[ -d $DEBIAN/$folder && ! -L $DEBIAN/$folder ]] || continue
    mkdir -p -- "$DEBIAN/usr/$folder"
    cp -a -- "$DEBIAN/$folder/." "$DEBIAN/usr/$folder/"
    rm -rf -- "${DEBIAN:?}/$folder"
  done
}

# The link that the package's installation would make by way of /etc/alternatives.
use_iptables_nft() {
  local name
  [[ -e $DEBIAN/usr/sbin/xtables-nft-multi ]] || return 0
  for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -sf xtables-nft-multi "$DEBIAN/usr/sbin/$name"
  done
}
