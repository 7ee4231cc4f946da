"""The two tools, each in a fresh environment of its own, and how they are called on the same files."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Command

CHECKOUT = Path(__file__).resolve().parent.parent
KINDS = ("stack", "site", "engine", "family", "capture", "matrix", "run", "entry")


@dataclass(frozen=True)
class Tools:
    """Where both are installed, and the schema that lets the peer check every kind in one invocation."""

    hio: Path
    peer: Path
    schema: Path


def install(folder: Path, source: Path, requirement: str) -> Tools:
    """hio as a wheel built from a checkout, the peer from the package index, both byte-compiled."""
    wheels = folder / "wheels"
    builder = _environment(folder / "build")
    _pip(builder, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(_exported(source, folder / "source")))
    hio, peer = _environment(folder / "hio"), _environment(folder / "peer")
    _pip(hio, "install", *(str(wheel) for wheel in wheels.glob("hio_validate-*.whl")))
    _pip(peer, "install", requirement)
    for python in (hio, peer):
        subprocess.run([python, "-m", "compileall", "-q", str(python.parent.parent / "lib")], check=False)
    schema = folder / "documents.schema.json"
    schema.write_text(json.dumps(combined_schema(source / "schemas")), encoding="utf-8")
    return Tools(hio.parent / "hio", peer.parent / "check-jsonschema", schema)


def _exported(source: Path, target: Path) -> Path:
    """What the wheel is built from, apart from the checkout, so that building leaves nothing behind there."""
    wanted = (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "hio_validate",
        "schemas",
        "templates",
        "docs",
    )
    target.mkdir()
    for name in wanted:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (source / name).exists():
            shutil.copy(source / name, target / name)
    return target


def _environment(folder: Path) -> Path:
    """The interpreter of a fresh virtual environment, without the settings of the one that runs this."""
    venv.create(folder, with_pip=True)
    return folder / "bin/python"


def _pip(python: Path, *words: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pip {words[0]} failed:\n{done.stderr[-3000:]}")


def combined_schema(schemas: Path) -> dict[str, Any]:
    """One schema for all kinds: `hio:` chooses, so that each document meets its own schema and no other."""
    kinds = {
        kind: json.loads((schemas / f"{kind}.schema.json").read_text(encoding="utf-8"))
        | {"$id": f"urn:hio:{kind}"}
        for kind in KINDS
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["hio"],
        "properties": {"hio": {"enum": [f"{kind}/v1" for kind in KINDS]}},
        "allOf": [
            {"if": {"properties": {"hio": {"const": f"{kind}/v1"}}}, "then": {"$ref": f"urn:hio:{kind}"}}
            for kind in KINDS
        ],
        "$defs": kinds,
    }


def hio_command(tools: Tools, folder: Path, files: Sequence[str], expected: int, *options: str) -> Command:
    return Command("hio", (str(tools.hio), "validate", *options, *files), folder, expected)


def peer_command(
    tools: Tools, folder: Path, files: Sequence[str], expected: int, schema: Path | None = None, *options: str
) -> Command:
    """check-jsonschema with one kind's schema, or with the combined one."""
    words = (str(tools.peer), "--schemafile", str(schema or tools.schema), *options, *files)
    return Command("check-jsonschema", words, folder, expected)


def versions(tools: Tools) -> dict[str, dict[str, str]]:
    """What each environment holds."""
    found = {}
    for name, script in (("hio", tools.hio), ("peer", tools.peer)):
        command = [str(script.parent / "python"), "-m", "pip", "list", "--format", "json"]
        listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        found[name] = {
            each["name"]: each["version"] for each in listed if each["name"] not in ("pip", "setuptools")
        }
    return found


def machine() -> dict[str, Any]:
    """The machine, as far as it says how to read the figures."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    cpu = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "git": subprocess.run(
            ["git", "--version"], capture_output=True, text=True, check=True
        ).stdout.split()[-1],
    }
