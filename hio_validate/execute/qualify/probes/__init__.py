"""The probes, in the order in which they are asked; each has NAME and `ask`."""

from __future__ import annotations

from hio_validate.execute.qualify.probes import (
    append_reuse,
    disconnect,
    identity,
    populated_context,
    slots,
    streaming,
)

ALL = (identity, streaming, append_reuse, disconnect, slots, populated_context)
