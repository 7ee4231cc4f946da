#!/bin/sh
# The main job, on this repository's own recorded documents: validate, read a matrix, and see one setting
# that was changed behind the matrix's back refused.
set -eu
cd "$(dirname "$0")/.."
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

say hio validate
hio validate

say hio matrix show base-to-threads-2
hio matrix show base-to-threads-2

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT INT TERM
cp -r matrix ledger manifests "$copy"
stack=manifests/services/lab/gemma-270m/stacks/threads-2.yaml
sed 's/"--flash-attn", "off"/"--flash-attn", "on"/' "$stack" > "$copy/$stack"
if cmp -s "$stack" "$copy/$stack"; then echo "demo: nothing was changed in $stack"; exit 1; fi

say "sed -i 's/\"--flash-attn\", \"off\"/\"--flash-attn\", \"on\"/' $stack   # in a copy"
say hio validate
status=0
hio validate --repo "$copy" || status=$?
if [ "$status" -ne 1 ]; then echo "demo: expected the change to be refused with exit code 1, got $status"; exit 1; fi
printf '\nThe change that no row documents is refused: exit code %s.\n' "$status"
