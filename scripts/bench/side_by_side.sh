#!/usr/bin/env bash
# Rows of `scullery bench` and the same work by other tools, one run, each in a process of its own: ours, peer, ratio. Options: --help.
# The peers need Debian's python3-sklearn and python3-pandas, all of them SCULLERY_DATA.
exec /usr/bin/python3 "$(dirname "$0")/side_by_side.py" "$@"
