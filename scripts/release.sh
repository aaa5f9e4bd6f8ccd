#!/usr/bin/env bash
# scripts/release.sh FOLDER: the files of a release from the last commit (CONTRIBUTING.md), each made twice in different folders and
# compared. Needs git, cmake, ninja, cpack, dpkg-deb, lintian, zip, luarocks, and python3 with build, setuptools and wheel.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${1:?takes a folder}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C TZ=UTC
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER # a cache would give the first object twice
umask 022

die() { printf 'release: %s\n' "$*" >&2; exit 1; }
say() { printf '== %s\n' "$*"; }

for tool in git cmake ninja cpack dpkg-deb lintian zip luarocks; do
  command -v "$tool" >/dev/null || die "$tool is not here"
done
python=
for one in python3 /usr/bin/python3; do
  "$one" -c 'import build, setuptools, wheel' 2>/dev/null && python=$one && break
done
[ -n "$python" ] || die "python3 with build, setuptools and wheel is not here"

# ------------ one version everywhere

version=$(sed -n 's/^project(scullery VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
grep -qx "__version__ = \"$version\"" "$source/scripts/python/scullery/__init__.py" || die "the Python package is not of version $version"
grep -qx "version: $version" "$source/CITATION.cff" || die "CITATION.cff is not of version $version"
grep -m 1 '^## \[' "$source/CHANGELOG.md" | grep -qF "## [$version] - " || die "CHANGELOG.md does not begin with version $version"
grep -m 1 '^## \[' "$source/CHANGELOG.md" | grep -q unreleased && say "CHANGELOG.md has no date yet: this is a rehearsal"
[ -z "$(git -C "$source" status --porcelain)" ] || die "the tree has changes that are not committed"
commit=$(git -C "$source" rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH

# ------------ the files, to the folder $1

# The objects and their paths to libraries name no folder of this machine.
make_all() {
  local to=$1 name=scullery-$version
  local tree=$to/$name
  mkdir -p "$to/files"
  git -C "$source" archive --format=tar --prefix="$name/" "$commit" | gzip -9n >"$to/files/$name.tar.gz"
  tar -xzf "$to/files/$name.tar.gz" -C "$to"

  say "$to: Debian package"
  CFLAGS="-ffile-prefix-map=$to=." CXXFLAGS="-ffile-prefix-map=$to=." \
    cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON >/dev/null
  cmake --build "$tree/build" --target product | tail -n 1
  (cd "$to" && cpack --config "$tree/build/CPackConfig.cmake" -G DEB -B "$to/deb" >cpack.log 2>&1) || { cat "$to/cpack.log"; die "no Debian package"; }
  cp "$to"/deb/*.deb "$to/files"

  say "$to: wheel"
  cp -r "$tree/scripts/python" "$to/python"
  (cd "$to" && "$python" -m build --wheel --no-isolation --outdir files python >wheel.log 2>&1) || { cat "$to/wheel.log"; die "no wheel"; }

  say "$to: rock"
  mkdir "$to/rock"
  cp "$to/files/$name.tar.gz" "$to/rock"
  sed -e "s/^version = .*/version = \"$version-1\"/" \
    -e "s|^source = .*|source = { url = \"file://$name.tar.gz\", dir = \"$name\" }|" "$tree/scullery-dev-1.rockspec" |
    grep -v '^-- ' >"$to/rock/$name-1.rockspec"
  find "$to/rock" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
  (cd "$to/rock" && zip -qX "$to/files/$name-1.src.rock" "$name-1.rockspec" "$name.tar.gz")
}

make_all "$scratch/first"
make_all "$scratch/second"
say "the same bytes twice"
for file in "$scratch"/first/files/*; do
  cmp "$file" "$scratch/second/files/$(basename "$file")" || die "$(basename "$file") is another one the second time"
done

# ------------ what they are worth

say "lintian"
found=$(lintian --allow-root "$scratch"/first/files/*.deb 2>&1) || true
[ -z "$found" ] || die "lintian has something to say: $found"
say "the package's command"
dpkg-deb -x "$scratch"/first/files/*.deb "$scratch/root"
"$scratch/root/usr/bin/scullery" --version | grep -F "$version" || die "the package's command is of another version"
say "the wheel, with the package's library"
mkdir "$scratch/wheel"
(cd "$scratch/wheel" && "$python" -m zipfile -e "$scratch"/first/files/*.whl .)
if "$python" -c 'import sklearn' 2>/dev/null; then
  (cd "$scratch/wheel" && SCULLERY_LIBRARY=$scratch/root/usr/lib PYTHONPATH=$scratch/wheel "$python" -c \
    "import scullery; assert scullery.version() == scullery.__version__ == '$version'") || die "the wheel does not load the library"
fi
say "the rock's source"
(mkdir "$scratch/unpacked" && cd "$scratch/unpacked" && luarocks unpack "$scratch"/first/files/*.src.rock >/dev/null) ||
  die "luarocks does not unpack the rock"

mkdir -p "$out"
cp "$scratch"/first/files/* "$out"
(cd "$scratch/first/files" && sha256sum -- *) >"$out/SHA256SUMS"
(cd "$out" && sha256sum --quiet -c SHA256SUMS)
say "in $out:"
cat "$out/SHA256SUMS"
