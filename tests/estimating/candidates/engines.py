"""A service for each engine that hints know, whose build has every setting of the table, in the layout of its real help text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hio_validate.estimating.candidates.levers import NOTHING, WAYS, Way
from hio_validate.estimating.context.spelled import SPELLED
from hio_validate.settings.request import DIALECTS, LLAMA
from tests.estimating.candidates.workbench import FIXTURE
from tests.estimating.tiny import CEILINGS, SHAPE, changed, put
from tests.small_repo import ROOM, SERVICE, baseline, committed, pin, sha

ENGINES = ("llama-server", "vllm", "sglang")
PROGRAMS = {"vllm": "vllm serve", "sglang": "launch_server.py"}
MODELS = {"llama-server": "model", "vllm": "model", "sglang": "model-path"}


def help_of(engine: str, lacks: Iterable[str] = (), more: tuple[str, str] | None = None) -> str:
    """Every setting of an engine that the table or the workload names, but some, as its help prints one of that kind; `more`: a number of
    llama-server with its default."""
    factors = {each.factor: each for each in WAYS if each.engine == engine and each.factor not in lacks}
    named = {factor for each in SPELLED.values() for factor in each.get(engine, ())} - {*lacks}
    others = [
        each for each in ("port", "spec-draft-n-max", "spec-draft-n-min") if engine == "llama-server"
    ] or ["port"]
    lines = [_option(engine, factor, factors.get(factor)) for factor in sorted({*factors, *named, *others})]
    if more:
        lines.append(f"--{more[0]} N\n{'':40}said in one sentence (default: {more[1]})\n")
    if engine == "llama-server":
        return "----- common params -----\n\n" + "".join(lines)
    return (
        f"usage: {PROGRAMS[engine]} [options]\n\noptions:\n"
        + "".join(lines)
        + "\nWhat follows is told in the guide.\n"
    )


def _option(engine: str, factor: str, way: Way | None) -> str:
    is_switch = way is not None and {*way.now, *way.to} <= {"on", "off"} and bool(way.to)
    if engine == "llama-server":
        value = (
            ""
            if is_switch and factor != "flash-attn"
            else " on|off|auto"
            if factor == "flash-attn"
            else " VALUE"
        )
        flags = f"--{factor}, --no-{factor}" if is_switch and not value else f"--{factor}{value}"
        default = {
            "spec-draft-n-max": " (default: 3)",
            "spec-draft-n-min": " (default: 0)",
            "spec-type": " (default: none)",
        }
        return f"{flags}\n{'':40}said in one sentence{default.get(factor, '')}\n"
    if is_switch:
        flags = f"--{factor}, --no-{factor}" if engine == "vllm" else f"--{factor}"
    else:
        flags = f"--{factor} {factor.upper().replace('-', '_')}"
    beside = f"{flags:<20}  " if len(flags) <= 20 else f"{flags}\n{'':24}"
    return f"  {beside}Said in one sentence.{' (default: None)' if engine == 'vllm' else ''}\n"


def stack_of(engine: str, settings: Mapping[str, str]) -> str:
    """A stack `base` with these settings; switches that are on are bare flags, vLLM's off ones negations."""
    lines = [[f"--{MODELS[engine]}", "/models/tiny"], ["--port", "8080"]]
    for factor, value in settings.items():
        way = next((each for each in WAYS if each.engine == engine and each.factor == factor), None)
        is_switch = (
            way is not None
            and {*way.now, *way.to} <= {"on", "off"}
            and factor != "flash-attn"
            and bool(way.to)
        )
        if value in NOTHING:
            continue
        lines.append(
            ([f"--{factor}"] if value == "on" else [f"--no-{factor}"])
            if is_switch
            else [f"--{factor}", value]
        )
    if engine == "sglang":  # its switches are off where nobody gives them
        lines = [each for each in lines if not each[0].startswith("--no-")]
    argv = "".join(f"      - {json.dumps(each)}\n" for each in lines)
    return f"hio: stack/v1\nname: base\nprocesses:\n  server:\n    engine: {engine}\n    build: b1\n    argv:\n{argv}"


CHECKED: dict[str, Any] = FIXTURE | {
    "name": "sum", "prompt": "1+1=", "max_tokens": 2, "expect": {"source": "arithmetic", "contains": ["2"]},
}  # fmt: skip
del CHECKED["ignore_eos"]


def service(
    root: Path,
    engine: str,
    settings: Mapping[str, str],
    *documents: Mapping[str, Any],
    lacks: Iterable[str] = (),
    more: tuple[str, str] | None = None,
    **shape: Any,
) -> Path:
    """A repository with one service of that engine, a shape, ceilings of a host with four devices, and other documents."""
    help_, stack = help_of(engine, lacks, more), stack_of(engine, settings)
    folder = f"manifests/engines/{engine}/b1"
    committed(
        root,
        {
            f"{folder}/engine.yaml": f"hio: engine/v1\nname: b1\nfamily: {engine}\n"
            f'help: {{file: help.txt, sha256: "{sha(help_)}"}}\nsource: {{revision: b1}}\n',
            f"{folder}/help.txt": help_,
            "manifests/sites/lab.yaml": "hio: site/v1\nname: lab\n",
            f"{ROOM}/stacks/base.yaml": stack,
            f"ledger/{SERVICE}/2026/b0.yaml": baseline(pinned=pin("base", stack)),
        },
    )
    ceilings = changed(
        CEILINGS,
        per="host" if engine == "llama-server" else "device",
        devices=[{"name": "a device", "count": 4, "tool": "a tool 1.0"}],
    )
    for threads, value in ((1, 50.0), (2, 80.0)):
        for quantity, unit in (("memory-read", "MB/s"), ("matmul", "GFLOP/s")):
            ceilings["rates"][f"{quantity}-by-{threads}"] = {
                "quantity": quantity, "value": value if unit == "MB/s" else float(threads), "unit": unit, "threads": threads,
                "method": "streams", **({"dtype": "f32"} if quantity == "matmul" else {}),
            }  # fmt: skip
    put(
        root,
        changed(SHAPE, **shape),
        ceilings,
        in_words_of(engine, FIXTURE),
        in_words_of(engine, CHECKED),
        *documents,
    )
    return root


def in_words_of(engine: str, fixture: Mapping[str, Any]) -> dict[str, Any]:
    """The fixture as this engine is asked."""
    dialect = DIALECTS[engine]
    return (
        {**fixture}
        if engine == LLAMA
        else {**fixture, "endpoint": dialect.endpoints[0], "sampling": dialect.greedy}
    )
