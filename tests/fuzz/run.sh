#!/usr/bin/env bash
# Runs the libFuzzer harnesses of this folder. A finding is written to BUILD/fuzz/findings; give it to the harness to repeat it.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: tests/fuzz/run.sh [-b BUILD] [-t SECONDS] [-n INPUTS] [-s SEED]... [HARNESS]...
  -b BUILD    folder of the build (default: build-fuzz; cmake --preset fuzz && cmake --build build-fuzz)
  -t SECONDS  for each harness and seed (default: without end, one harness; 60, several)
  -n INPUTS   ends each after so many inputs: -t 0 -n 1000000
  -s SEED     a number, or "fresh" for another one each time (default: fresh)
  HARNESS     read_csv, ... (default: all)
The corpus is made of tests/fuzz/seeds/HARNESS and of the first kilobytes of files in SCULLERY_DATA. Without -s 1, what a run finds
is added to BUILD/fuzz/corpus, with which the next one goes on.
TEXT
}

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build-fuzz
seconds=
inputs=-1
seeds=()
while getopts 'b:t:n:s:h' option; do
  case $option in
  b) build=$OPTARG ;;
  t) seconds=$OPTARG ;;
  n) inputs=$OPTARG ;;
  s) seeds+=("$OPTARG") ;;
  h) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ ${#seeds[@]} -gt 0 ] || seeds=(fresh)
harnesses=("$@")
if [ ${#harnesses[@]} -eq 0 ]; then
  for file in "$here"/read_*.c "$here"/write_*.c; do harnesses+=("$(basename "$file" .c)"); done
fi
[ -n "$seconds" ] || { [ ${#harnesses[@]} -eq 1 ] && seconds=0 || seconds=60; }

# The first kilobytes of data files whose names end in one of the words, plain and packed.
heads() {
  local to=$1 file word
  shift
  mkdir -p "$to"
  [ -n "${SCULLERY_DATA:-}" ] || return 0
  for word in "$@"; do
    for file in "$SCULLERY_DATA"/*"$word"; do
      [ -f "$file" ] || continue
      head -c 3000 "$file" >"$to/$(basename "$file")"
      case $file in
      *.gz) { gzip -dc "$file" 2>/dev/null | head -c 3000; } >"$to/$(basename "$file" .gz)" || true ;;
      esac
    done
  done
}

heads_of() {
  case $1 in
  read_csv | read_csv_stream) heads "$2" .csv .csv.gz .data .txt ;;
  read_libsvm) heads "$2" .libsvm .libsvm.gz .svm .scale ;;
  read_npy) heads "$2" .npy .npy.gz ;;
  read_idx) heads "$2" ubyte ubyte.gz ;;
  read_gzip) heads "$2" .gz ;;
  read_model | read_predictor) mkdir -p "$2" && "$build/scullery" "$here/make_models.lua" "$2" ;;
  read_hdf5) mkdir -p "$2" && cp "$here/../plugins/reader/numbers.h5" "$2" ;;
  *) mkdir -p "$2" ;;
  esac
}

failed=0
for name in "${harnesses[@]}"; do
  program=$build/tests/fuzz/$name
  [ -x "$program" ] || { echo "run.sh: there is no $program: cmake --preset fuzz && cmake --build build-fuzz" >&2; exit 2; }
  [ -d "$build/fuzz/heads/$name" ] || heads_of "$name" "$build/fuzz/heads/$name"
  mkdir -p "$build/fuzz/findings"
  for seed in "${seeds[@]}"; do
    corpus=$build/fuzz/corpus/$name
    [ "$seed" = fresh ] && seed=$((($(date +%s%N) / 1000) % 4000000000 + 2))
    if [ "$seed" = 1 ]; then corpus=$(mktemp -d); fi # the same start each time
    mkdir -p "$corpus"
    printf 'run.sh: %s, seed %s (again: tests/fuzz/run.sh -t %s -n %s -s %s %s)\n' "$name" "$seed" "$seconds" "$inputs" "$seed" "$name"
    leaks=1
    [ "$name" = read_hdf5 ] && leaks=0 # libhdf5 loses some memory of damaged files
    ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=$leaks UBSAN_OPTIONS=print_stacktrace=1 \
      "$program" -seed="$seed" -max_total_time="$seconds" -runs="$inputs" -detect_leaks=$leaks -timeout=10 -rss_limit_mb=2560 -malloc_limit_mb=2048 -max_len=16000 \
      -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/fuzz/findings/$name-" \
      "$corpus" $([ -d "$here/seeds/$name" ] && echo "$here/seeds/$name") "$build/fuzz/heads/$name" 2>&1 | grep -vE '^(INFO|"|###|\tNEW_FUNC|stat::(new|peak|slow|average))' || true
    status=${PIPESTATUS[0]}
    if [ "$seed" = 1 ]; then rm -rf "$corpus"; fi
    [ "$status" -eq 0 ] || { failed=1; printf 'run.sh: %s found something with seed %s\n' "$name" "$seed"; }
  done
done
exit "$failed"
