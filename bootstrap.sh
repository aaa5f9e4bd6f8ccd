#!/usr/bin/env bash
# Set up, build, and run: ./bootstrap.sh demo | test | install [--prefix DIR]
set -euo pipefail
cd "$(dirname "$0")"

packages="build-essential cmake ninja-build pkg-config liblua5.4-dev lua5.4 libopenblas-dev librandom123-dev libsleef-dev libedit-dev libmd-dev
libcurl4-openssl-dev zlib1g-dev lua-unit lua-argparse"

say() { printf '== %s\n' "$*"; }

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh demo               install what is missing, build, learn the shipped data set
       ./bootstrap.sh test               the same, then all tests (SCULLERY_DATA names the folder of larger data sets)
       ./bootstrap.sh install [--prefix DIR]   the same, then install (default /usr/local)
TEXT
}

# Only what is missing is installed, so that a machine that has all needs no network.
install_packages() {
  local missing=""
  for package in $packages; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  say "installing:$missing"
  local root=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "these packages are missing and sudo is not there to install them:$missing" >&2; exit 1; }
    root=sudo
  fi
  $root apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing
}

build() {
  say "building"
  cmake -S . -B build -G Ninja "$@" >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
  cmake --build build >>build.log 2>&1 || { tail -n 60 build.log; rm -f build.log; exit 1; }
  rm -f build.log
}

command=${1:-}
[ $# -gt 0 ] && shift
case "$command" in
  demo)
    install_packages
    build
    say "build/scullery scripts/demo.lua"
    build/scullery scripts/demo.lua "$@"
    ;;
  test)
    install_packages
    build
    say "tests"
    ctest --test-dir build --output-on-failure "$@"
    ;;
  install)
    prefix=/usr/local
    if [ "${1:-}" = --prefix ]; then prefix=${2:?--prefix needs a folder}; fi
    install_packages
    build -DCMAKE_INSTALL_PREFIX="$prefix"
    cmake --install build >/dev/null
    command -v ldconfig >/dev/null && [ "$(id -u)" -eq 0 ] && ldconfig
    say "installed: $prefix/bin/scullery"
    ;;
  *)
    usage
    [ -z "$command" ] && exit 1
    [ "$command" = --help ] || [ "$command" = -h ] || exit 1
    ;;
esac
