"""The console script: starts the command line and turns what nobody foresaw into one sentence and exit 3."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn


def main() -> None:
    """Run hio and exit with its code (docs/adr/0006-exit-codes.md)."""
    # One command, then the process ends: documents stay until then, and hunting for cycles costs a tenth of it.
    gc.disable()
    _need_an_output()
    try:
        run = _called(sys.argv[1:])
    except ImportError as error:
        _fail(f"this installation is not complete: {error}")
    try:
        sys.exit(run())
    except KeyboardInterrupt:
        print(file=sys.stderr)  # ends the line on which a terminal shows ^C
        sys.exit(130)
    except BrokenPipeError:
        _discard_output()
        sys.exit(3)
    except OSError as error:
        _discard_output()
        _fail(f"could not go on: {error}")
    except Exception as error:
        if os.environ.get("HIO_DEBUG"):
            raise
        _fail(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a fault of hio, not of your documents. HIO_DEBUG=1 shows where it happened."
        )


def _need_an_output() -> None:
    """A closed standard output leaves nowhere to answer; without a standard error, refusals are only exit codes."""
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        _fail("standard output is closed: there is nowhere to answer")


def _called(words: Sequence[str]) -> Callable[[], int]:
    """What a command line calls, and nothing more, is imported. Raises ImportError."""
    # Imported here: even an installation that cannot be imported ends in one sentence.
    from hio_validate.hook import call_of

    call = call_of(words)
    if call is None:
        from hio_validate.cli import run

        return run
    from pathlib import Path

    from hio_validate.validating import judge

    return lambda: judge([Path(path) for path in call.paths], staged=call.staged, frozen=call.frozen)


def _discard_output() -> None:
    """What could not be written is not tried again at exit, which would end in another code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(message: str) -> NoReturn:
    print(f"hio: {message}", file=sys.stderr)
    sys.exit(3)


if __name__ == "__main__":
    main()
