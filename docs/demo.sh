#!/bin/sh
# The main job, on this repository's own recorded documents: validate, read a matrix, see one setting that was
# changed behind the matrix's back refused, and read the review page of a change that was prepared properly.
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

# A proper change: a new stack names the later build and two threads; its matrix says what awaits a measurement.
cp "$stack" "$copy/$stack"
kept() { git -C "$copy" -c user.name=demo -c user.email=demo@example.org -c commit.gpgsign=false "$@"; }
kept init -q
kept checkout -q -b main
kept add -A
kept commit -q -m 'what serves today'
kept checkout -q -b next-build
sed -e 's/^name: .*/name: next/' -e 's/^about: .*/about: two threads on the later build/' -e 's/b10001/b11434/' "$stack" \
  > "$copy/manifests/services/lab/gemma-270m/stacks/next.yaml"
hio matrix new --repo "$copy" --parent base --candidate next > /dev/null
matrix="$copy/matrix/lab/gemma-270m/base-to-next.yaml"
sed 's/disposition: undecided/disposition: retest/' "$matrix" > "$copy/decided" && mv "$copy/decided" "$matrix"
kept add -A
kept commit -q -m 'two threads on the later build'

say "hio review main..next-build   # a new stack and its matrix, in a copy"
status=0
hio review --repo "$copy" main..next-build || status=$?
if [ "$status" -ne 0 ]; then echo "demo: expected a review in which nothing blocks merging, got exit code $status"; exit 1; fi
printf '\nThe reviewer saw what no line of the diff says: exit code %s, and deployment waits for its measurements.\n' "$status"
