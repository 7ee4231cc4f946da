"""The console script: starts the command line and turns what nobody foresaw into one sentence and exit 3."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run hio and exit with its code (docs/adr/0006-exit-codes.md)."""
    try:
        from hio_validate.cli import cli

        cli.main(prog_name="hio")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if os.environ.get("HIO_DEBUG"):
            raise
        print(
            f"hio: internal error: {type(error).__name__}: {error}\n"
            "This is a fault of hio, not of your documents. HIO_DEBUG=1 shows where it happened.",
            file=sys.stderr,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
