"""llama-bench as the measuring method: an arm's settings in its words, and its answers as rows.

Invariant: what llama-bench cannot be told, or reports otherwise than it was told, is refused or said; a
setting that the arms differ in is never dropped on the way.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hio_validate.command import Command
from hio_validate.execute.arms import NotStartable, as_started
from hio_validate.execute.work import ArmWork
from hio_validate.models.plan import Plan
from hio_validate.observe import proc
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Repo
from hio_validate.settings.difference import NEEDS_A_ROW, difference
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.resolve import resolve
from hio_validate.settings.setting import Effective

PROGRAM = "llama-bench"
_HELP_S = 20
_SWITCH = {"on": "1", "off": "0"}

REPORTED = {
    "model": "model_filename",
    "threads": "n_threads",
    "batch-size": "n_batch",
    "ubatch-size": "n_ubatch",
    "cache-type-k": "type_k",
    "cache-type-v": "type_v",
    "flash-attn": "flash_attn",
    "gpu-layers": "n_gpu_layers",
    "n-cpu-moe": "n_cpu_moe",
    "split-mode": "split_mode",
    "main-gpu": "main_gpu",
    "mmap": "use_mmap",
    "poll": "poll",
}
"""Setting of llama-server that llama-bench has, too -> what its answer calls it."""

_SPELT = {"gpu-layers": "n-gpu-layers"}
"""Where llama-bench names it otherwise."""


def arm_of(arm: ArmWork, plan: Plan, settings: Settings, repo: Repo, service: str) -> ArmWork:
    """The same arm, measured by the llama-bench beside its server. Raises NotStartable."""
    program = Path(arm.command.program).with_name(PROGRAM)
    if not os.access(program, os.X_OK):
        raise NotStartable(
            f"{program} is no executable file: llama-bench is expected beside the server's program"
        )
    if plan.bench is None:
        raise NotStartable("the plan measures with llama-bench and does not say what: add bench")
    known = flags(_help(str(program)))
    effective = _effective(arm, settings, repo, service)
    inexpressible = [each for each in _differing(plan, settings, repo, service) if _flag(each, known) is None]
    if inexpressible:
        raise NotStartable(f"llama-bench cannot be told {', '.join(inexpressible)}: measure over http")
    arguments = [word for factor in REPORTED for word in _told(factor, arm, effective, known)]
    arguments += ["-p", str(plan.bench.prompt_tokens), "-n", str(plan.bench.generated_tokens)]
    arguments += ["-r", str(plan.bench.repetitions), "-o", "jsonl"]
    return replace(arm, command=Command(str(program), tuple(arguments), dict(arm.command.environment)))


def flags(text: str) -> frozenset[str]:
    """The long flags of a help text, without their dashes."""
    words = text.replace(",", " ").split()
    return frozenset(word.removeprefix("--") for word in words if word.startswith("--"))


def _help(program: str) -> str:
    try:
        asked = subprocess.run(
            [program, "--help"],
            capture_output=True,
            text=True,
            timeout=_HELP_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotStartable(f"{program} --help does not answer: {error}") from None
    return asked.stdout + asked.stderr


def _effective(arm: ArmWork, settings: Settings, repo: Repo, service: str) -> Effective:
    stack = repo.find("stack/v1", arm.stack.partition("@")[0], service)
    assert stack is not None
    started = as_started(stack.model, arm)
    return resolve(started, settings.knowledge(started, {}))


def _differing(plan: Plan, settings: Settings, repo: Repo, service: str) -> list[str]:
    """The factors in which the plan's arms differ, by what they are in force."""
    sides = []
    for arm in plan.arms.values():
        stack = repo.find("stack/v1", arm.stack, service)
        if stack is not None and stack.model is not None:
            changes = {name: _text(value) for name, value in arm.set.items()}
            sides.append(resolve(stack.model, settings.knowledge(stack.model, {}), changes))
    found = [
        each.address.partition(".")[2]
        for side in sides[1:]
        for each in difference(sides[0], side).touched
        if each.group in NEEDS_A_ROW
    ]
    return [each for each in dict.fromkeys(found) if not each.startswith(("build", "lib.", "artifact."))]


def _text(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _flag(factor: str, known: frozenset[str]) -> str | None:
    name = _SPELT.get(factor, factor)
    return f"--{name}" if factor in REPORTED and name in known else None


def _told(factor: str, arm: ArmWork, effective: Effective, known: frozenset[str]) -> Iterator[str]:
    """The flag and value of a setting that somebody set; a default of llama-server is said, too, where it is known."""
    setting = effective.settings.get(f"{arm.role}.{factor}")
    flag = _flag(factor, known)
    if (
        setting is None
        or flag is None
        or not (setting.set_by_a_person or factor in ("batch-size", "ubatch-size"))
    ):
        return
    value = setting.declared or setting.value
    yield from (flag, _SWITCH.get(value, value) if factor == "mmap" else value)


def files_of(command: Command) -> list[str]:
    """The model that a command names."""
    return [
        value
        for flag, value in zip(command.arguments, command.arguments[1:], strict=False)
        if flag == "--model"
    ]


def has_mapped(pid: int, command: Command) -> bool:
    """Whether a process has mapped its model, so that a capture shows all that it runs."""
    try:
        mapped = {each.path for each in proc.mapped_files(pid)}
    except Unobservable:
        return False
    return {os.path.realpath(each) for each in files_of(command)} <= mapped


def rows(stdout: str, started: str) -> list[dict[str, Any]]:
    """One row for each repetition, with `bench_prefill_tps` and `bench_decode_tps` in token/s where they were measured.

    Raises ValueError.
    """
    found: list[dict[str, Any]] = []
    for data in _answers(stdout):
        metric, count = _TESTS[data["n_gen"] > 0]
        for number, value in enumerate(data["samples_ts"], 1):
            if number > len(found):
                found.append({"phase": "measured", "request": number, "started": started, "status": "ok"})
            found[number - 1] |= {metric: float(value), count: data["n_gen"] or data["n_prompt"]}
    return found


_TESTS = {False: ("bench_prefill_tps", "evaluated"), True: ("bench_decode_tps", "generated")}
"""Whether a test generates -> its metric, and the count of its tokens."""


def _answers(stdout: str) -> Iterator[Mapping[str, Any]]:
    """The tests that llama-bench answered. Raises ValueError."""
    for line in stdout.splitlines():
        data = json.loads(line) if line.startswith("{") else {}
        if data and not {"n_prompt", "n_gen", "samples_ts"} <= data.keys():
            raise ValueError(f"llama-bench answered a line without samples: {line[:80]}")
        if data:
            yield data


def contradictions(stdout: str, command: Command) -> list[str]:
    """What llama-bench reports otherwise than it was told, one sentence each. Raises ValueError."""
    told = dict(zip(command.arguments[::2], command.arguments[1::2], strict=False))
    found = []
    for data in _answers(stdout):
        for factor, key in REPORTED.items():
            asked = told.get(f"--{_SPELT.get(factor, factor)}")
            if asked is not None and key in data and not _agree(asked, data[key]):
                found.append(f"llama-bench reports {key} {data[key]}, but was told {factor} {asked}")
    return list(dict.fromkeys(found))


def _agree(asked: str, reported: Any) -> bool:
    said = {"on": "1", "off": "0", "true": "1", "false": "0"}
    one, other = (said.get(text, text) for text in (asked.lower(), str(reported).lower()))
    return asked in ("auto", "-1") or one == other
