#!/usr/bin/env bash
# From a fresh Debian 12 to a running Scullery: installs what is missing, configures, builds, and then does what is asked.
set -euo pipefail
started_in=$PWD
cd "$(dirname "$0")"

# What is needed, in one place.
build_packages=(build-essential cmake ninja-build pkg-config liblua5.4-dev lua5.4 libopenblas-pthread-dev librandom123-dev libsleef-dev libedit-dev
  libcjson-dev libcurl4-openssl-dev libmd-dev libsqlite3-dev libsnappy-dev libzstd-dev liblz4-dev libhdf5-dev zlib1g-dev lua-argparse)
picture_packages=(gnuplot-nox fonts-dejavu-core) # for SVG, PNG and PDF; everything else works without
test_packages=(lua-unit lua-check clang-format valgrind python3-ipykernel python3-nbclient python3-pexpect python3-pyte)
package_packages=(clang luarocks dpkg-dev lintian groff-base) # for tests of packages and of the headers, which are skipped without; in CI alone
# The Python package, and readers that tests compare ours with: in CI alone.
reference_packages=(python3-numpy python3-sklearn python3-pandas python3-build python3-setuptools python3-wheel)
mpi_packages=(openmpi-bin libopenmpi-dev mpich libmpich-dev) # for the transports by MPI, which are built where these are, in CI alone
cluster_packages=(parallel openssh-server) # for tests of the scripts of docs/clusters.md, in CI alone
browser_packages=(chromium pandoc) # read the reports that the tests write, and make the site, in CI alone
node_packages=(onnxruntime-node@1.30.0) # for tests against other readers and writers, in CI alone
fuzz_packages=(clang libclang-rt-14-dev) # for the harnesses of tests/fuzz, in CI alone

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh demo | test | install [--prefix DIR]
  demo      build, and learn a real data set with scripts/demo.lua
  test      build with the tests, and run them (with CI=true or SCULLERY_CI set: slow ones and attacks too, all once more
            under the sanitizers, and the fuzzing harnesses)
  install   build, and install to /usr/local or --prefix DIR, and say what finds it there
Packages that are missing are installed with apt-get. SCULLERY_DATA names a folder of data sets that the larger tests read.
TEXT
}

say() { printf 'bootstrap: %s\n' "$*"; }
die() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

in_ci() { [ "${CI:-}" = true ] || [ -n "${SCULLERY_CI:-}" ]; }

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root: $* (there is no sudo; run it as root, then start again)"
  fi
}

# Whether clang can link a harness of libFuzzer.
has_fuzzer() {
  echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d == 0 && n > 0; }' |
    clang -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null
}

install_packages() {
  command -v dpkg-query >/dev/null || die "this script knows Debian's packages only; elsewhere install the like of: $*"
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  as_root apt-get update -q || say "apt-get update failed; trying with the package lists that are here"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install ${missing[*]}; without network, install these by hand and start again"
}

install_needed() {
  install_packages "${build_packages[@]}" "$@"
  (install_packages "${picture_packages[@]}") || say "without ${picture_packages[*]}, pictures are drawn in Unicode alone"
}

# cached FOLDER NAME: a value of a build folder's cache; nothing where there is none.
cached() { sed -n "s/^$2:[^=]*=//p" "$1/CMakeCache.txt" 2>/dev/null || true; }

# Whether a build folder was made for another source folder or another place, as one is that came with a copied tree: CMake refuses it.
is_of_another_tree() {
  [ -e "$1/CMakeCache.txt" ] || return 1
  ! [ "$(cached "$1" CMAKE_HOME_DIRECTORY)" -ef . ] || ! [ "$(cached "$1" CMAKE_CACHEFILE_DIR)" -ef "$1" ]
}

# build command | product | tests: into build/, what runs scripts, or what is installed, or that and the tests. build PRESET: into build-PRESET/.
build() {
  local folder=build configure=() make
  case $1 in command | product | tests) ;; *) folder=build-$1 ;; esac
  say "building in $folder/"
  if is_of_another_tree "$folder"; then
    say "$folder/ was configured for $(cached "$folder" CMAKE_HOME_DIRECTORY): configuring it afresh"
    configure=(--fresh)
  fi
  if [ "$folder" != build ]; then
    configure+=(--preset "$1")
    make=(--preset "$1")
  else
    configure+=(-S . -B build)
    # A build folder keeps the generator that it was made with.
    [ -e build/CMakeCache.txt ] && [ "${configure[0]}" != --fresh ] || configure+=(-G Ninja)
    make=(build)
    local slow=OFF
    if in_ci; then slow=ON; fi
    if [ "$1" = tests ]; then configure+=(-DSCULLERY_SLOW_TESTS=$slow -DBUILD_TESTING=ON); else make+=(--target "$1"); fi
  fi
  local from=$SECONDS
  cmake "${configure[@]}" && cmake --build "${make[@]}" || return # where a condition is asked, "set -e" does not end it
  say "$folder/ is built: $((SECONDS - from)) seconds"
}

# Attacks, and tests that take long (label "slow"), are for CI. Those that took the most seconds are listed at the end.
run_tests() {
  local left_out=(-LE slow) log status=0
  if in_ci; then left_out=(); fi
  log=$(mktemp)
  say "testing in $1/"
  # Two tests more than there are processors: many wait for the clock or for other processes.
  local from=$SECONDS
  ctest --test-dir "$1" --output-on-failure --parallel "$(($(nproc) + 2))" "${left_out[@]}" | tee "$log" || status=$?
  say "tested in $1/: $((SECONDS - from)) seconds"
  local last=$1/Testing/Temporary/LastTest.log skipped
  skipped=$(sed -nE 's/^Ran .* ([0-9]+) skipped$/\1/p' "$last" | awk '{n += $1} END {print n + 0}')
  [ "$skipped" -eq 0 ] || say "$skipped parts of tests were skipped, most for want of data sets in SCULLERY_DATA ($last)"
  say "the slowest tests in $1/, in seconds:"
  sed -nE 's|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*|\2 \1|p' "$log" | sort -rn | sed 20q
  rm -f "$log"
  return "$status"
}

demo() {
  install_needed
  build command
  say "running scripts/demo.lua"
  build/scullery scripts/demo.lua
}

# Each harness for some seconds, with a fixed seed and with a fresh one.
fuzz() {
  has_fuzzer || (install_packages "${fuzz_packages[@]}") || true
  if has_fuzzer; then
    build fuzz && run_tests build-fuzz
  else
    say "SKIPPED: the fuzzing harnesses (tests/fuzz), as clang with libFuzzer is neither here nor to be had"
  fi
}

# Packages of npm that read or write what the tests compare with, in build-npm/. SCULLERY_ONNXRUNTIME is where the test of ONNX looks.
install_node_packages() {
  mkdir -p build-npm
  (cd build-npm && { npm ls "${node_packages[@]}" >/dev/null 2>&1 || ONNXRUNTIME_NODE_INSTALL=skip \
    npm install --silent --no-fund --no-audit --fetch-retries=1 --fetch-retry-mintimeout=2000 "${node_packages[@]}" >/dev/null; }) ||
    say "without ${node_packages[*]} of npm, some tests of files for other programs are skipped"
  export SCULLERY_ONNXRUNTIME=$PWD/build-npm
}

all_tests() {
  local failed=0
  install_needed "${test_packages[@]}"
  if in_ci; then
    (install_packages "${package_packages[@]}") || say "without ${package_packages[*]}, some tests of installations are skipped"
    (install_packages "${reference_packages[@]}") || say "without ${reference_packages[*]}, the Python package is not tested and the readers are not compared with others"
    (install_packages "${cluster_packages[@]}") || say "without ${cluster_packages[*]}, scripts of docs/clusters.md are not run"
    (install_packages "${mpi_packages[@]}") || say "without ${mpi_packages[*]}, processes are joined by fork alone"
    (install_packages "${browser_packages[@]}") || say "without ${browser_packages[*]}, no browser reads the reports, and no site is made"
    install_node_packages
  fi
  build tests
  run_tests build || failed=1
  if in_ci; then
    local preset
    for preset in asan tsan; do
      if build "$preset"; then run_tests "build-$preset" || failed=1; else failed=1; fi
    done
    fuzz || failed=1
  fi
  [ "$failed" -eq 0 ] || die "tests failed"
  say "all tests passed"
}

install_all() {
  local prefix=/usr/local
  case "${1:-}" in
  '') ;;
  --prefix) [ -n "${2:-}" ] || die "--prefix takes a folder"; prefix=$2 ;;
  --prefix=?*) prefix=${1#--prefix=} ;;
  *) usage >&2; die "install takes --prefix DIR, and got $1" ;;
  esac
  case $prefix in /*) ;; *) prefix=$started_in/$prefix ;; esac
  install_needed
  build product
  local place=$prefix
  while [ ! -e "$place" ]; do place=$(dirname "$place"); done
  say "installing to $prefix"
  if [ -w "$place" ]; then
    cmake --install build --prefix "$prefix"
  else
    as_root cmake --install build --prefix "$prefix"
  fi
  tell_paths "$(cd "$prefix" && pwd)"
}

# What other programs need to find an installation that lies where they do not look. Lua's ";;" stands for the folders where it looks anyway.
tell_paths() {
  local modules files libraries
  modules=$1/$(cached build SCULLERY_LUA_MODULES)
  files=$1/$(cached build SCULLERY_LUA_FILES)
  libraries=$1/$(cached build CMAKE_INSTALL_LIBDIR)
  say "installed: $1/bin/scullery"
  if [ "$1" != /usr/local ] && [ "$1" != /usr ]; then
    cat <<TEXT
The command needs nothing more. For the shell, the stock interpreter (lua5.4), and projects that use CMake or pkg-config:
  export PATH='$1/bin':"\$PATH"
  export LUA_PATH='$files/?.lua;$files/?/init.lua;;'
  export LUA_CPATH='$modules/?.so;;'
  export CMAKE_PREFIX_PATH='$1'
  export PKG_CONFIG_PATH='$libraries/pkgconfig'
TEXT
  fi
  say "cmake --build build --target uninstall removes it again"
}

case "${1:-}" in
demo | test)
  [ $# -eq 1 ] || { usage >&2; die "$1 takes nothing more, and got $2"; }
  if [ "$1" = demo ]; then demo; else all_tests; fi
  ;;
install) shift; install_all "$@" ;;
-h | --help | help) usage ;;
'') usage >&2; exit 1 ;;
*) usage >&2; die "unknown: $1" ;;
esac
