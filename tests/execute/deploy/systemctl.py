"""A stand-in for systemctl that really starts what a unit says: no systemd, one process a unit, its id in a file.

    systemctl [--user] daemon-reload | start UNIT | stop UNIT | show -p MainPID|LoadState --value UNIT

$STANDIN_UNITS is the folder of the units. `daemon-reload` is what makes a unit known: `start` runs what was there then.
"""  # fmt: skip

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from hio_validate.execute import owned
from hio_validate.observe.units import read_unit

UNITS = Path(os.environ.get("STANDIN_UNITS", "/nowhere"))


def loaded() -> dict[str, tuple[list[str], dict[str, str]]]:
    file = UNITS / "loaded.json"
    return json.loads(file.read_text()) if file.exists() else {}


def reload() -> None:
    known = {}
    for unit in UNITS.glob("*.service"):
        seen = read_unit(unit)
        assert seen.argv is not None and not seen.unresolved, seen.unresolved
        known[unit.name] = (list(seen.argv), seen.env)
    (UNITS / "loaded.json").write_text(json.dumps(known))


def main_pid(unit: str) -> int:
    with suppress(OSError, ValueError):
        data = json.loads((UNITS / f"{unit}.pid").read_text())
        if owned.is_alive(owned.identity_from(data)):
            return int(data["pid"])
    return 0


def start(unit: str) -> int:
    if main_pid(unit):
        return 0
    if unit not in loaded():
        print(f"Failed to start {unit}: Unit {unit} not found.", file=sys.stderr)
        return 5
    argv, env = loaded()[unit]
    with subprocess.Popen(argv, env=env, cwd="/", start_new_session=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # fmt: skip
        who = owned.identity_of(process.pid)
        assert who
        (UNITS / f"{unit}.pid").write_text(json.dumps(who.as_data()))
        process.returncode = 0
    return 0


def stop(unit: str) -> int:
    pid = main_pid(unit)
    if pid:
        os.kill(pid, signal.SIGTERM)
        while main_pid(unit):
            time.sleep(0.02)
    return 0


def main(words: list[str]) -> int:
    match [word for word in words if word != "--user"]:
        case ["daemon-reload"]:
            reload()
            return 0
        case ["start", unit]:
            return start(unit)
        case ["stop", unit]:
            return stop(unit)
        case ["show", "-p", "MainPID", "--value", unit]:
            print(main_pid(unit))
            return 0
        case ["show", "-p", "LoadState", "--value", unit]:
            print("loaded" if unit in loaded() else "not-found")
            return 0
    print(f"unknown words {words}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
