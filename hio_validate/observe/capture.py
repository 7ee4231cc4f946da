"""Captures a live process: puts together what the other files here observe (capture/v1).

Invariant: all of it is of one process. Its identity is checked again at the end; if it changed, nothing is
kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TypedDict

from hio_validate import __version__
from hio_validate.models.capture import (
    Arguments,
    Artifact,
    Capture,
    CapturedProcess,
    Environ,
    Listening,
    Mapped,
    Memory,
    Reported,
    Started,
    Threads,
)
from hio_validate.models.family import Family
from hio_validate.observe import artifacts, endpoints, mapped, privacy, proc
from hio_validate.observe.hashing import HashCache, Progress, default_cache, sha256_of
from hio_validate.observe.host import observe_host
from hio_validate.observe.log_facts import log_facts
from hio_validate.observe.proc import watch_identity
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.sockets import Listener, listening_of
from hio_validate.settings.argv import read_argv
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.credentials import Grammar
from hio_validate.settings.environment import read_environment

SHORT_FACTORS = {"m": "model", "md": "spec-draft-model", "mm": "mmproj"}
"""llama.cpp's short flags for files, for when no catalogue is at hand."""

VOLATILE_FIELDS = (
    "pid",
    "started",
    "memory",
    "listening.inode",
    "slots.facts.*.is_processing",
)
"""Fields of a process that differ between two captures of the same stack."""

OBSERVED_FIELDS = (
    "started.at",
    "started.ticks",
    "executable.sha256",
    "libraries.*.sha256",
    "artifacts.model.sha256",
    "artifacts.model.gguf.general.architecture",
    "artifacts.model.gguf.quantisation",
    "artifacts.model.gguf.*.context_length",
    "artifacts.model.gguf.tokenizer.ggml.model",
    "artifacts.model.gguf.tokenizer.ggml.tokens.sha256",
    "argv.value",
    "environ.names",
    "environ.values",
    "threads.count",
    "threads.affinity",
    "memory.anonymous_bytes",
    "memory.file_bytes",
    "memory.shared_bytes",
    "memory.swap_bytes",
    "listening.address",
    "listening.port",
    "listening.inode",
    "health.facts.status",
    "props.facts.build_info",
    "props.facts.chat_template_sha256",
    "props.facts.default_generation_settings.n_ctx",
    "props.facts.default_generation_settings.params.samplers",
    "props.facts.default_generation_settings.params.temperature",
    "props.facts.model_ftype",
    "props.facts.model_path",
    "props.facts.total_slots",
    "slots.facts.0.n_ctx",
    "models.facts.0.id",
    "models.facts.0.meta.n_ctx_train",
    "log.facts.kv_unified",
    "log.facts.n_ctx_slot",
    "log.facts.n_slots",
)
"""What must come out observed of a llama-server with a mapped model and its log; a lab test holds it."""

OBSERVED_IN_VERBOSE_LOG = (
    "log.facts.cache_type_k",
    "log.facts.cache_type_v",
    "log.facts.flash_attn",
    "log.facts.n_batch",
    "log.facts.n_ctx",
    "log.facts.n_ctx_seq",
    "log.facts.n_threads",
    "log.facts.n_threads_batch",
    "log.facts.n_ubatch",
)
"""What a log at verbosity 4 (`-lv 4`) must show beyond that."""


def capture_process(
    pid: int,
    family: Family | None,
    catalogue: Catalogue | None,
    *,
    progress: Progress | None = None,
    deadline: float = 60.0,
    log: str | None = None,
    build: str | None = None,
    port: int | None = None,
    explained: Collection[int] = (),
    cache: HashCache | None = None,
) -> CapturedProcess:
    """One process as it is now.

    `deadline` limits the seconds to wait for a model that still loads; `log` is the text of the server's log;
    `port` must be named where it listens on several; `explained` are pids that hold its socket without
    answering. Raises Unobservable, whose reason is one sentence for the user.
    """
    remembered = default_cache() if cache is None else cache
    with watch_identity(pid) as identity:
        listener = listening_of(pid, port, explained)
        reports = _reports(pid, listener, deadline)
        hasher = partial(sha256_of, cache=remembered, progress=progress)
        look = artifacts.Look(pid, hasher, proc.start_seconds(identity.ticks))
        kept = privacy.keep(proc.argv(pid), proc.environ(pid), Grammar(family, catalogue))
        captured = CapturedProcess(
            pid=pid,
            family=family.name if family else "unknown",
            build=build,
            listening=_listening(listener),
            log=Reported(how="log", facts=log_facts(log.split("\n"))) if log is not None else None,
            **_state(identity, kept),
            **_files(look, family, catalogue),
            **reports,
        )
        if listening_of(pid, port, explained) != listener:
            raise Unobservable(f"the socket of process {pid} changed during the capture: capture it again")
    remembered.save()
    return _without(captured, kept.secrets)


def capture(
    name: str,
    processes: Mapping[str, CapturedProcess],
    *,
    service: str | None = None,
    stack: str | None = None,
    site: str | None = None,
    at: datetime | None = None,
) -> Capture:
    """The document of what the processes of a service, by role, were at one moment (`at`, else now)."""
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    return Capture(
        hio="capture/v1",
        name=name,
        service=service,
        stack=stack,
        site=site,
        at=moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        by=f"hio {__version__}",
        host=observe_host(),
        processes=dict(processes),
    )


class _State(TypedDict):
    started: Started
    argv: Arguments
    environ: Environ
    threads: Threads
    memory: Memory


class _Files(TypedDict):
    executable: Mapped
    libraries: dict[str, Mapped]
    artifacts: dict[str, Artifact]


class _Reports(TypedDict, total=False):
    health: Reported
    props: Reported
    slots: Reported
    models: Reported


def _state(identity: proc.Identity, kept: privacy.Kept) -> _State:
    return {
        "started": Started(how="proc", at=proc.started_at(identity.ticks), ticks=identity.ticks),
        "argv": Arguments(how="proc", value=kept.argv, withheld=kept.argv_withheld),
        "environ": Environ(how="proc", names=kept.names, values=kept.values, withheld=kept.environ_withheld),
        "threads": _threads(identity.pid),
        "memory": _memory(identity.pid),
    }


def _files(look: artifacts.Look, family: Family | None, catalogue: Catalogue | None) -> _Files:
    files = proc.mapped_files(look.pid)
    lines = privacy.grouped(proc.argv(look.pid), Grammar(family, catalogue))[1:]
    settings, _ = read_environment(proc.environ(look.pid), family, catalogue)
    argued, _ = read_argv(lines, family, catalogue)
    short = SHORT_FACTORS if family and family.help == "llama" else {}
    pairs = [(short.get(given.factor, given.factor), given.value) for given in [*settings, *argued]]
    named = artifacts.named_files(pairs, proc.working_directory(look.pid))
    return {
        "executable": mapped.executable(look.pid, look.hasher),
        "libraries": mapped.libraries(look.pid, files, look.hasher, look.since),
        "artifacts": artifacts.artifacts(look, files, named),
    }


def _reports(pid: int, listener: Listener | None, deadline_s: float) -> _Reports:
    """What the server says of itself; /health first, since the rest is right only once it has loaded."""
    if listener is None:
        return {}
    if not proc.shares_network(pid):
        note = "not asked: the process is in a network namespace of its own"
        unknown = Reported(how="unknown", note=note)
        return {"health": unknown, "props": unknown, "slots": unknown, "models": unknown}
    server = endpoints.Server.behind(listener)
    return {
        "health": endpoints.wait_until_loaded(server, deadline_s),
        "props": endpoints.props(server),
        "slots": endpoints.slots(server),
        "models": endpoints.models(server),
    }


def _threads(pid: int) -> Threads:
    affinities = proc.affinities(pid)
    count = sum(affinities.values()) or None
    return Threads(how="proc", count=count, affinity=dict(sorted(affinities.items())))


def _memory(pid: int) -> Memory:
    seen = proc.memory(pid)
    return Memory(
        how="proc",
        anonymous_bytes=seen.anonymous,
        file_bytes=seen.file,
        shared_bytes=seen.shared,
        swap_bytes=seen.swap,
    )


def _listening(listener: Listener | None) -> Listening | None:
    if listener is None:
        return None
    return Listening(how="proc", address=listener.address, port=listener.port, inode=listener.inode)


def _without(captured: CapturedProcess, secrets: Collection[str]) -> CapturedProcess:
    """The same without any secret that another field repeats, such as a path or an endpoint's answer."""
    plain = captured.model_dump(by_alias=True)
    clean = privacy.scrubbed(plain, secrets)
    return captured if clean == plain else CapturedProcess.model_validate(clean)
