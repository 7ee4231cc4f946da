"""docker run --env-file: NAME=value to the end of the line, as it is; nothing is quoted, escaped or expanded.

Source: opts/file.go of docker/cli, read through a scanner of lines whose longest is 64 KiB.
"""

from __future__ import annotations

from hio_validate.render.carrying import CannotCarry, refuse_impossible

LONGEST_BYTES = 64 * 1024 - 1


def quote(value: str) -> str:
    """The value as it stands behind NAME=: itself. Raises CannotCarry."""
    refuse_impossible(value)
    if "\n" in value:
        raise CannotCarry(
            "docker's --env-file has no way to write a line feed: use compose, or put the value into a file"
        )
    if value.endswith("\r"):
        raise CannotCarry("docker's --env-file drops a carriage return at the end of a value")
    if len(value.encode()) > LONGEST_BYTES - 256:
        raise CannotCarry("docker's --env-file reads no line longer than 64 KiB: put the value into a file")
    return value
