"""What the kernel says of a process against its command: words, environment, socket, start, threads, swap.

Invariant: a word or value that may be a secret is compared, and in no check that is returned.
"""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from hio_validate.command import Command
from hio_validate.execute.interpreted import as_executed, interpreter
from hio_validate.execute.owned import CAMPAIGN, TRIAL
from hio_validate.execute.verified import Check, judged, unseen
from hio_validate.models.capture import CapturedProcess
from hio_validate.observe import privacy, proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import holders_of, listeners
from hio_validate.settings.credentials import Grammar
from hio_validate.settings.places import PLACE_HOLDER
from hio_validate.settings.secrets import WITHHELD

SURROUNDINGS = frozenset(
    {
        "HOME", "LANG", "LOGNAME", "MAIL", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "USER", "_",
        "INVOCATION_ID", "JOURNAL_STREAM", "MAINPID", "MANAGERPID", "SYSTEMD_EXEC_PID",
    }
)  # fmt: skip
"""Variables by which a login or a service manager says who started a process and where (POSIX; systemd.exec(5)): they
set nothing in an engine, so that they may be there beside those of the command."""

GIVEN_BY_HIO = frozenset({"PATH", "LANG", "HOME", TRIAL, CAMPAIGN})
"""Variables that a command has without its stack saying so (execute/arms.py, execute/owned.py)."""

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_SHOWN = 40


def argv(pid: int, named: Command, whole: Command) -> Check:
    """Word for word, from the first argument on; `whole` has the secrets of `named` in their places."""
    try:
        seen, expected = proc.argv(pid), as_executed(whole)
    except Unobservable as error:
        return unseen("argv", f"{len(named.argv)} words", error.reason)
    declared = f"{len(expected)} words"
    if seen[1:] == expected[1:]:
        return judged("argv", declared, "the same words", True)
    at = next(
        (n for n in range(1, min(len(seen), len(expected))) if seen[n] != expected[n]),
        min(len(seen), len(expected)),
    )
    wished = [*expected[: len(expected) - len(named.arguments)], *named.arguments]
    return judged(
        "argv",
        f"{declared}; word {at + 1}{_after(wished, at)} is {_word(wished, at)}",
        f"{len(seen)} words; it is {_word(seen, at, is_secret=_names_secret(wished, at))}",
        False,
    )


def program(pid: int, whole: Command) -> Check:
    """Whether what runs is the file that the site names, or for a script its interpreter."""
    declared = whole.program
    try:
        path, deleted = proc.executable_path(pid)
    except Unobservable as error:
        return unseen("program", declared, error.reason)
    shown = f"{path} (deleted)" if deleted else path
    script = interpreter(whole.program)
    if script and Path(script[0]).name == "env":
        return unseen("program", declared, f"a script, run by {shown}: which one its first line leaves open")
    try:
        same = os.path.samefile(f"/proc/{pid}/exe", script[0] if script else whole.program)
    except OSError as error:
        return unseen("program", declared, f"{shown}: not comparable: {error.strerror}")
    return judged("program", declared, shown, same)


def environ(pid: int, named: Command, whole: Command) -> Check:
    """Exactly the given variables with their values, beside those that say who started it and where."""
    given = whole.environment
    declared = f"exactly {len(given)} variables" if given else "no variable"
    try:
        seen = proc.environ(pid)
    except Unobservable as error:
        return unseen("environ", declared, error.reason)
    wrong = sorted(name for name, value in given.items() if seen.get(name) != value)
    more = sorted(seen.keys() - given.keys() - SURROUNDINGS)
    if not wrong and not more:
        spared = sorted((seen.keys() - given.keys()) & SURROUNDINGS)
        beside = f", beside {', '.join(spared)}" if spared else ""
        return judged("environ", declared, f"{len(given)} equal{beside}", True)
    kept = _shown_values(named.environment), _shown_values(seen)
    told = [f"{name}={_value(name, kept[0])}" for name in wrong]
    found = [
        f"{name}={_value(name, kept[1], name in _secret_names(named))}" if name in seen else f"no {name}"
        for name in [*wrong, *more]
    ]
    return judged("environ", f"{declared}{': ' if told else ''}{', '.join(told)}", ", ".join(found), False)


def socket(pid: int, port: int, host: str | None) -> Check:
    """Whether the process alone listens at the declared address and port."""
    declared = f"{host}:{port}, alone" if host else f"port {port}, alone"
    try:
        found = [each for each in listeners(pid) if each.port == port]
        holders = holders_of({each.inode for each in found})
    except Unobservable as error:
        return unseen("socket", declared, error.reason)
    if not found:
        return judged("socket", declared, f"nobody listens on port {port}", False)
    foreign = [each for each in found if not holders.get(each.inode)]
    if foreign:
        return unseen("socket", declared, f"who listens on {foreign[0]} needs user {foreign[0].uid} or root")
    pids = sorted({each for held in holders.values() for each in held})
    where = ", ".join(str(each) for each in found)
    if pids != [pid]:
        return judged("socket", declared, f"{where} by process {' and '.join(map(str, pids))}", False)
    fits = host is None or all(_is_address(each.address, host) for each in found)
    return judged("socket", declared, f"{where}, alone", fits)


def listens(pid: int, port: int) -> bool:
    """Whether a process, perhaps with others, listens on a port."""
    try:
        inodes = {each.inode for each in listeners(pid) if each.port == port}
        return any(pid in held for held in holders_of(inodes).values())
    except Unobservable:
        return False


def started_after(pid: int, file: Path) -> Check:
    """Whether the process started after a configuration file was last changed (mtime and ctime).

    A start is known to one clock tick, and a change within that tick counts as before it.
    """
    name, declared = f"started after {file}", "later than its last change"
    try:
        began = _began(pid)
        seen = file.stat()
    except Unobservable as error:
        return unseen(name, declared, error.reason)
    except OSError as error:
        return unseen(name, declared, f"the file cannot be looked at: {error.strerror}")
    apart = began - max(seen.st_mtime_ns, seen.st_ctime_ns) / 1e9
    told = f"{abs(apart):.2f} s {'after' if apart >= 0 else 'before'} it"
    return judged(name, declared, told, apart >= -_TICK_S)


def swap(process: CapturedProcess) -> Check:
    swapped = process.memory.swap_bytes
    if swapped is None:
        return unseen("swap", "0 bytes", "the kernel does not say")
    return judged("swap", "0 bytes", f"{swapped} bytes", swapped == 0)


def threads(process: CapturedProcess, settings: Mapping[str, str]) -> Check:
    """Whether there are as many threads as decode and batch need; `settings` are factor -> value in force."""
    wanted = {
        name: int(settings[name])
        for name in ("threads", "threads-batch")
        if settings.get(name, "").isdecimal()
    }
    seen = process.threads.count
    if not wanted:
        return unseen("threads", "unknown", f"{seen} threads; how many the stack asks for is not known")
    told = ", ".join(f"{name} {count}" for name, count in wanted.items())
    declared = f"{max(wanted.values())} or more ({told})"
    if seen is None:
        return unseen("threads", declared, "the kernel does not say")
    return judged("threads", declared, f"{seen} threads", seen >= max(wanted.values()))


def affinity(process: CapturedProcess, settings: Mapping[str, str]) -> Check:
    """Where the threads may run: as a mask or range of the stack says, else wherever this host lets its first process."""
    seen = process.threads.affinity
    told = ", ".join(f"{count} on {cpus}" for cpus, count in seen.items())
    asked = _asked_cpus(settings)
    if asked is None:
        try:
            whole = next(iter(proc.affinities(1)))
        except (Unobservable, StopIteration):
            return unseen("affinity", "every processor", f"{told}; which there are cannot be seen")
        return judged("affinity", f"every thread on {whole}", told or "no thread", set(seen) == {whole})
    sets = [_cpus(each) for each in seen]
    return judged("affinity", f"a thread on {asked[0]} alone", told or "no thread", asked[1] in sets)


def _word(words: Sequence[str], at: int, is_secret: bool = False) -> str:
    """A word as it may be shown."""
    if at >= len(words):
        return "missing"
    kept = [word for line in privacy.keep(words, {}, Grammar(None, None)).argv for word in line]
    return WITHHELD if is_secret else _short(kept[at])


def _after(words: Sequence[str], at: int) -> str:
    """The flag that a word follows, where it follows one."""
    flag = words[at - 1] if 0 < at <= len(words) else ""
    return f" (after {flag})" if flag.startswith("-") else ""


def _names_secret(words: Sequence[str], at: int) -> bool:
    """Whether a word, or one before it, is a secret: where words are missing, any later one may be its value."""
    return any(PLACE_HOLDER.search(word) for word in words[: at + 1])


def _shown_values(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Variable -> its value as it may be shown; None where it is secret."""
    kept = privacy.keep(["program"], environment, Grammar(None, None))
    return {
        name: None if name in kept.environ_withheld or any(each in value for each in kept.secrets if each)
        else value
        for name, value in environment.items()
    }  # fmt: skip


def _secret_names(named: Command) -> frozenset[str]:
    return frozenset(name for name, value in named.environment.items() if PLACE_HOLDER.search(value))


def _value(name: str, shown: Mapping[str, str | None], is_secret: bool = False) -> str:
    value = None if is_secret else shown.get(name)
    return WITHHELD if value is None else _short(value)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _is_address(address: str, host: str) -> bool:
    if host == "localhost":
        return ipaddress.ip_address(address).is_loopback
    try:
        return ipaddress.ip_address(address) == ipaddress.ip_address(host)
    except ValueError:
        return False


def _began(pid: int) -> float:
    """The start of a process in seconds since the epoch, to one clock tick, by the clock as it is now."""
    boot = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)
    return boot + proc.identity(pid).ticks * _TICK_S


def _asked_cpus(settings: Mapping[str, str]) -> tuple[str, frozenset[int]] | None:
    """What a mask or range of the stack names: in its words, and as processors."""
    mask, range_ = settings.get("cpu-mask", ""), settings.get("cpu-range", "")
    try:
        if mask:
            bits = int(mask, 16)
            chosen = frozenset(n for n in range(bits.bit_length()) if bits >> n & 1)
            return (f"the processors of mask {mask}", chosen) if chosen else None
        return (f"processors {range_}", _cpus(range_)) if range_ else None
    except ValueError:
        return None


def _cpus(text: str) -> frozenset[int]:
    """`0-2,5` as numbers. Raises ValueError."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)
