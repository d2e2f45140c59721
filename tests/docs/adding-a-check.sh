#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The example of docs/adding-a-check.md, extracted, built and run against its fixtures in a copy of the tree. Uses what is
# already built in $BUILD (default: build), so that only the example itself is compiled.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

for part in Makefile core facts perf peer results rules checks judge report cli profiles fixtures tests; do
	[[ ! -e $part ]] || cp -a "$part" "$copy/"
done
mkdir "$copy/built"
[[ ! -d $build/obj ]] || cp -a "$build/obj" "$copy/built/"

# A block whose fence names a file ("```c checks/x.c") is that file.
awk -v top="$copy" '
	/^```/ && out { close(out); out = ""; next }
	/^```[a-z]+ [a-z_]+\// { out = top "/" $2; dir = out; sub("/[^/]*$", "", dir); system("mkdir -p \"" dir "\""); printf "" > out; n++; next }
	out { print > out }
	END { exit n != 5 }
' docs/adding-a-check.md || { echo "docs/adding-a-check.md: expected five blocks that name a file" >&2; exit 1; }

sanitize=
if nm "$copy"/built/obj/core/*.o 2>/dev/null | grep __asan_init >/dev/null; then sanitize=address,undefined; fi
cd "$copy"
make --no-print-directory -s BUILD=built SANITIZE="$sanitize" WERROR=1 built/unit/test_fixtures >make.log 2>&1 || { cat make.log; exit 1; }
CHECK=link_duplex built/unit/test_fixtures >run.log 2>&1 || { cat run.log; exit 1; }
# It would also pass if the example were not found at all.
grep '^2 fixture cases, 0 differ' run.log || { cat run.log; exit 1; }
