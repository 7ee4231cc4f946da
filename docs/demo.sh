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

# Measured evidence: one short experiment on the real engine where `make lab` has built it, else a recorded one.
lab=${HIO_LAB:-/opt/hio-lab}
run=2026-11-30-threads
if [ -x "$lab/llama-10001/bin/llama-server" ]; then
  run=one-or-two-threads
  documents="$copy/manifests/services/lab/gemma-270m"
  kept checkout -q main
  sed -i "s|/opt/hio-lab|$lab|" "$copy/manifests/sites/lab.yaml"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  tomorrow=$(python3 -c 'import time; print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86400)))')
  # The recorded plan, shortened to a look: four legs of one request, beside whatever serves here, however busy it is.
  sed -e "s/^name: .*/name: $run/" -e 's/^stage: .*/stage: screening/' -e "s/^requests: .*/requests: {warm_up: 0, measured: 1}/" -e '/noise:/d' -e '/^reproduces:/d' \
    -e 's/^order: .*/order: [base, threads-2, threads-2, base]/' -e "s/^serving: .*/serving: {during: none}\nport: $port/" \
    -e 's/ others_cpu: [0-9.]*,//' "$documents/plans/threads.yaml" > "$documents/plans/$run.yaml"
  hio ledger append approval --repo "$copy" --service lab/gemma-270m --approves load-test --plan "$run" --until "$tomorrow" \
    --scope "the demo on this machine" > /dev/null
  export HIO_STATE="$copy/state"

  say "hio run $run   # the page: what would happen to this host"
  hio run --repo "$copy" "$run"

  say "hio run $run --yes   # about a minute"
  hio run --repo "$copy" "$run" --name "$run" --yes | sed '1,/^What is known/d'
else
  printf '\nNo engine in %s (make lab builds one): what a recorded experiment shows instead.\n' "$lab"
fi

say "hio verdict $run"
hio verdict --repo "$copy" "$run"

# Deployment: what a person started by hand is replaced, proven, broken, and taken back.
started='' service=''
serving() { hio verify --repo "$here" "$1" --service "$service" --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"] or "")'; }
ended() { # only what this demo started
  [ -n "$service" ] || return 0
  python3 docs/by_hand.py kill "$copy/state" "$service" || true
  for pid in $started $(serving "$base" 2> /dev/null || true); do kill "$pid" 2> /dev/null || true; done
}
trap 'ended; rm -rf "$copy"' EXIT INT TERM
export HIO_STATE="$copy/state"
tomorrow=$(python3 -c 'import time; print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86400)))')
if [ -x "$lab/llama-10001/bin/llama-server" ]; then
  here=$copy service=lab/gemma-270m base=base next=threads-2
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  sed -i "s/port: 18434/port: $port/" "$copy/manifests/sites/lab.yaml"
  started=$(python3 docs/by_hand.py start "$here" "$service" "$base")
else
  printf '\nNo engine here: a small HTTP server with llama-server'"'"'s flags stands in for one.\n'
  here="$copy/stand-in/repo" service=here/tiny base=base next=renamed
  started=$(python3 docs/by_hand.py stand-in "$copy/stand-in")
fi
approve() { hio ledger append approval --repo "$here" --service "$service" --approves "$1" --until "$tomorrow" --scope "the demo on this machine" > /dev/null; }
approve load-test
approve deploy

say "hio qualify $next --yes   # what serving needs, tried on a process of its own"
hio qualify --repo "$here" "$next" --service "$service" --yes
[ -f "$here/matrix/$service/$base-to-$next.yaml" ] || hio matrix new --repo "$here" --parent "$base" --candidate "$next" --service "$service" 2> /dev/null

say "hio deploy $next --yes   # instead of $base, which somebody started by hand"
hio deploy --repo "$here" "$next" --service "$service" --yes

say "hio verify $next"
hio verify --repo "$here" "$next" --service "$service"

say "kill -9   # the service and what keeps it"
python3 docs/by_hand.py kill "$copy/state" "$service"
status=0
hio verify --repo "$here" "$next" --service "$service" --brief || status=$?
if [ "$status" -eq 0 ]; then echo "demo: a service that is gone was called proven"; exit 1; fi

say "hio rollback   # the page for 3 a.m."
hio rollback --repo "$here" "$service"

say "hio rollback --yes"
hio rollback --repo "$here" "$service" --yes | sed -n '/^[0-9][0-9]:/,$p'

say "hio verify $base"
hio verify --repo "$here" "$base" --service "$service"
