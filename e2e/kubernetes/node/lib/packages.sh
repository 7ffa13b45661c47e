# shellcheck shell=bash
# What the node needs of Debian and the machine lacks: downloaded by apt-get and
# unpacked below CLUSTER_DIR. Nothing is installed: lib/node-init lays the folder
# over /usr in the node's own mount namespace, so programs find their libraries.

DEBIAN=$CLUSTER_DIR/debian # unpacked packages; only what `usr` holds is used

# What must be there -> the Debian package that brings it.
declare -A PACKAGE_OF=(
  [busybox]=busybox-static
  [/usr/lib/cni/ptp]=containernetworking-plugins
  [etcd]=etcd-server
  [ip]=iproute2
  [iptables]=iptables
  [openssl]=openssl
  [runc]=runc
)
# The oldest that this Kubernetes works with. On an older Debian it comes from the release that has it, and
# runs there too: it needs no more than a C library of 2022. Its updates don't change this number.
declare -A OLDEST=([etcd]=3.5)
NEWER=(etcd-server)
NEWER_SUITE=trixie
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
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
    if [[ -x $DEBIAN/$folder/$name ]] && is_new_enough "$name" "$DEBIAN/$folder/$name"; then
      echo "$DEBIAN/$folder/$name"
      return
    fi
  done
}

on_machine() {
  local path
  path=$(PATH=$PATH:$SYSTEM_PATH command -v "$1") || return 1
  # Debian's dynamic busybox has the same path and does not run in an image alone.
  [[ $1 != busybox ]] || ! ldd "$path" >/dev/null 2>&1 || return 1
  is_new_enough "$1" "$path"
}

# is_new_enough NAME PROGRAM: by the first number with a dot in what `--version` prints.
is_new_enough() {
  local version
  [[ -v OLDEST[$1] ]] || return 0
  version=$("$2" --version 2>/dev/null | grep -oE -m 1 '[0-9]+\.[0-9.]+' | head -n 1)
  printf '%s\n' "${OLDEST[$1]}" "$version" | sort --check --version-sort 2>/dev/null
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

# apt-get's lists and archives are folders of our own; only its sources and what is installed are the machine's.
download() {
  local own=$CLUSTER_DIR/apt package mirror newer=() others=()
  mirror=$(debian_mirror)
  for package in "$@"; do
    if [[ -n $mirror && " ${NEWER[*]} " == *" $package "* ]]; then newer+=("$package"); else others+=("$package"); fi
  done
  rm -rf -- "$own"
  mkdir -p -- "$DEBIAN"
  # With what they depend on, as far as the machine lacks it.
  ((${#others[@]} == 0)) || fetch "$own/machine" install --yes --no-install-recommends --download-only "${others[@]}" || return
  # Without: they depend on what an installation would start them with.
  ((${#newer[@]} == 0)) || fetch "$own/$NEWER_SUITE" download "${newer[@]}" || return
  find "$own" -name '*.deb' -exec dpkg --extract {} "$DEBIAN" \; || return
  merge_usr
  use_iptables_nft
  rm -rf -- "$own"
}

# fetch FOLDER APT-GET-WORD...: leaves the archives somewhere in the folder. One that is named by
# NEWER_SUITE reads that alone.
fetch() {
  local own=$1 apt=(apt-get -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Acquire::Languages=none)
  shift
  mkdir -p -- "$own/lists/partial" "$own/archives/partial"
  apt+=(-o "Dir::State::Lists=$own/lists" -o "Dir::Cache=$own")
  if [[ ${own##*/} == "$NEWER_SUITE" ]]; then
    echo "deb [signed-by=$KEYRING] $(debian_mirror) $NEWER_SUITE main" >"$own/sources.list"
    apt+=(-o "Dir::Etc::SourceList=$own/sources.list" -o Dir::Etc::SourceParts=/dev/null)
  fi
  (cd -- "$own" && "${apt[@]}" update && "${apt[@]}" "$@")
}

# Where the machine has Debian's packages from; nothing where it is another system.
debian_mirror() {
  # shellcheck disable=SC2016 # expanded by apt-get
  [[ ! -e $KEYRING ]] || apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$' || true
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
