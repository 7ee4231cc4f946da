"""How a value is written so that its consumer reads exactly that value: one dialect a file.

Invariant: `quote(value)` gives text from which the dialect's consumer reads back `value`, or raises CannotCarry; what
a value holds never becomes a directive, a section, a shell word or a tag.
"""

from __future__ import annotations

from collections.abc import Callable

from hio_validate.render.dialects import (
    compose,
    compose_env_file,
    docker_env_file,
    environment_file,
    kubernetes,
    llama_swap,
    shell,
    unit,
    yaml11,
)

FILTERS: dict[str, Callable[..., str]] = {
    "environment_file": environment_file.quote,
    "unit_word": unit.word,
    "unit_program": unit.program,
    "unit_path": unit.path,
    "docker_env_file": docker_env_file.quote,
    "compose_env_file": compose_env_file.quote,
    "sh": shell.quote,
    "sh_word": shell.word,
    "yaml": yaml11.quote,
    "compose": compose.quote,
    "kubernetes": kubernetes.quote,
    "llama_swap_word": llama_swap.word,
    "llama_swap": llama_swap.text,
}
"""Name of a filter in the templates -> the dialect that quotes."""
