#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian 12 packages that building and testing need. As root or with sudo; does nothing when all
# are there, and asks for new package lists only if the present ones do not know a package.
#
#   bash platform/scripts/install.sh           installs
#   bash platform/scripts/install.sh --list    prints the packages
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi

packages=(
  g++ cmake ninja-build ccache pkg-config git patch python3 python3-yaml   # build
  python3-onnx python3-numpy glpk-utils coinor-cbc                   # compiler of graphs, its check and solvers
  libsystemc-dev verilator catch2 zlib1g-dev                         # simulation, RTL, tests, waves
  libboost1.81-dev libboost-program-options1.81-dev libboost-json1.81-dev
  libyaml-cpp-dev libelf-dev libssl-dev libsqlite3-dev libeigen3-dev libfmt-dev
  gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf lld-14        # firmware and kernels
  yosys z3                                                           # proofs
  gnuplot-nox                                                        # pictures of results
  clang-14 clang-format-14                                           # second compiler, layout
)

if [ "${1:-}" = --list ]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "all ${#packages[@]} packages are installed"
  exit 0
fi

release=$(. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}")
if [ "$release" != "debian 12" ]; then
  echo "install.sh: this is '$release', the packages are those of Debian 12; missing: ${missing[*]}" >&2
  exit 2
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install.sh: neither root nor sudo; as root: apt-get install ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 "$@"
}

known_to_apt() {
  local package
  for package in "${missing[@]}"; do
    LC_ALL=C apt-cache policy "$package" 2>/dev/null | grep -q 'Candidate: [0-9]' || return 1
  done
}

echo "to install (${#missing[@]}): ${missing[*]}"
known_to_apt || apt_get update
install=(install -y --no-install-recommends --no-remove "${missing[@]}")
if ! apt_get "${install[@]}"; then
  echo "install.sh: trying once more with new package lists"
  apt_get update
  if ! apt_get "${install[@]}"; then
    echo "install.sh: apt-get could not install the packages (its message is above)." >&2
    echo "If it wants to remove libboost1.74-dev packages: they conflict with Boost 1.81; remove them first:" >&2
    echo "  apt-get remove 'libboost*1.74-dev'" >&2
    exit 1
  fi
fi
