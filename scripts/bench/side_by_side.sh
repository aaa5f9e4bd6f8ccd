#!/usr/bin/env bash
# Scullery's figures and its peers' in one run: needs python3-sklearn and python3-pandas, and SCULLERY_DATA.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${SCULLERY_DATA:?names the folder of the data}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build/scullery bench maps data solvers
build/scullery scripts/bench/svm.lua "$folder"
/usr/bin/python3 scripts/bench/svm.py "$folder"
/usr/bin/python3 scripts/bench/peers.py
