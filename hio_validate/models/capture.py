"""capture/v1: what a process WAS. Written once by hio, never edited; what is absent is unknown.

Written by hio_validate/compile.py from definitions/capture.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    AT_LEAST_ONE,
    COUNT,
    HOW,
    NAME,
    REFERENCE,
    SCALAR,
    SERVICE,
    SHA256,
    TEXT,
    TIME,
)
from hio_validate.models.record import Record, field


class Mapped(Record):
    """A file as the process has it mapped: the hash is of those bytes, never of a path (contract 1.6)."""

    path: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Path under which the process mapped it.', default=None)
    sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the mapped bytes; absent = unknown.', default=None)
    bytes: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Size of the file in bytes.', default=None)
    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'hash where the mapped bytes were read, else unknown.')
    note: str | None = field({'type': 'nullable', 'schema': TEXT}, 'e.g. (deleted), or why the hash is unknown.', default=None)


class Artifact(Mapped):
    """A model, draft, projector or adapter file."""

    gguf: dict[str, str | bool | int | float] | None = field({'type': 'nullable', 'schema': {'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': SCALAR}}, 'Header facts: architecture, quantisation, context, tokenizer and template hashes, sampling.', default=None)


class Host(Record):
    """The machine, by readings that stay the same between two boots."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How these are known.')
    id: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 over the stable readings below.', default=None)
    cpu: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Model name of the processor.', default=None)
    cores: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Logical processors.', default=None)
    memory_bytes: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Installed memory in bytes.', default=None)
    kernel: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Kernel release.', default=None)
    os: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Distribution and version.', default=None)
    devices: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Accelerators and drivers seen.', default_factory=list)


class Arguments(Record):
    """The command line of the process."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How it is known.')
    value: list[list[str]] | None = field({'type': 'nullable', 'schema': {'type': 'list', 'items_schema': {'type': 'list', 'items_schema': {'type': 'str'}}}}, 'All words, the program first, one flag with its values a line.', default=None)
    withheld: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Flags whose secret values are not kept.', default_factory=list)


class Environ(Record):
    """The environment of the process: all names, values only of settings."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How it is known.')
    names: list[str] = field({'type': 'list', 'items_schema': TEXT}, "Every variable's name.", default_factory=list)
    values: dict[str, str] = field({'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': {'type': 'str'}}, 'Values of variables that set something.', default_factory=dict)
    withheld: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Names whose values are secret, hence unknown.', default_factory=list)


class Threads(Record):
    """Threads and their affinity, from /proc/PID/task."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How they are known.')
    count: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Number of threads.', default=None)
    affinity: dict[str, int] = field({'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': {'type': 'int'}}, 'CPU list -> threads allowed exactly there.', default_factory=dict)


class Memory(Record):
    """Memory of the process by source, in bytes; a sum of resident sets is no total (contract 5.8)."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How it is known.')
    anonymous_bytes: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Resident anonymous memory.', default=None)
    file_bytes: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Resident file-backed memory.', default=None)
    shared_bytes: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Resident shared memory.', default=None)
    swap_bytes: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Swapped out.', default=None)


class Listening(Record):
    """The listening socket, owned by this process and by no other."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How it is known.')
    address: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Address it listens on.', default=None)
    port: int | None = field({'type': 'nullable', 'schema': {'type': 'int', 'ge': 1, 'le': 65535}}, 'TCP port.', default=None)
    inode: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Inode of the socket.', default=None)


class Reported(Record):
    """What the process says about itself over HTTP or in its log; never anyone's prompts (contract 1.8)."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How it is known.')
    facts: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': SCALAR}, 'Dotted name -> value.', default_factory=dict)
    note: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why there is nothing, e.g. the endpoint is switched off.', default=None)


class Started(Record):
    """When the process started."""

    how: Literal['declared', 'proc', 'hash', 'health', 'props', 'slots', 'models', 'log', 'gguf', 'profile', 'unknown'] = field(HOW, 'How it is known.')
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'Start of the process.', default=None)
    ticks: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Start in clock ticks since boot, which with pid is its identity.', default=None)


class CapturedProcess(Record):
    """One process as it was."""

    pid: int = field(AT_LEAST_ONE, 'Process id at that moment.')
    family: str = field(NAME, 'Engine family whose grammar reads the arguments; unknown where none does.')
    build: str | None = field({'type': 'nullable', 'schema': NAME}, 'Engine document with the same executable, if there was one.', default=None)
    started: Started = field(Started.core, 'When it started.')
    executable: Mapped = field(Mapped.core, 'The program as it is mapped.')
    libraries: dict[str, Mapped] = field({'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': Mapped.core}, 'Every mapped library, by file name.', default_factory=dict)
    artifacts: dict[str, Artifact] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Artifact.core}, 'Model and companions, by role.', default_factory=dict)
    argv: Arguments = field(Arguments.core, 'The command line.')
    environ: Environ = field(Environ.core, 'The environment.')
    threads: Threads = field(Threads.core, 'Threads and affinity.')
    memory: Memory = field(Memory.core, 'Memory by source.')
    listening: Listening | None = field({'type': 'nullable', 'schema': Listening.core}, 'The listening socket.', default=None)
    health: Reported | None = field({'type': 'nullable', 'schema': Reported.core}, '/health.', default=None)
    props: Reported | None = field({'type': 'nullable', 'schema': Reported.core}, "/props, without the template's text.", default=None)
    slots: Reported | None = field({'type': 'nullable', 'schema': Reported.core}, '/slots, without prompts.', default=None)
    models: Reported | None = field({'type': 'nullable', 'schema': Reported.core}, '/v1/models.', default=None)
    log: Reported | None = field({'type': 'nullable', 'schema': Reported.core}, "Facts read from the server's log.", default=None)


class Capture(Record):
    """What one or more processes of a service were at one moment."""

    hio: Literal['capture/v1'] = field({'type': 'literal', 'expected': ['capture/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str | None = field({'type': 'nullable', 'schema': SERVICE}, 'The service it belongs to.', default=None)
    stack: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The stack it claims to be.', default=None)
    site: str | None = field({'type': 'nullable', 'schema': NAME}, 'The site it ran at.', default=None)
    at: str = field(TIME, 'When it was taken.')
    by: str = field(TEXT, 'The tool that wrote it, e.g. hio 0.1.0.')
    host: Host = field(Host.core, 'The machine.')
    processes: dict[str, CapturedProcess] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': CapturedProcess.core, 'min_length': 1}, 'The processes, by role.')


DOCUMENT = Capture.core
