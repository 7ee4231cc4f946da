"""Files that hold results and are no text: what they are by their first bytes, and what makes text of them."""

from __future__ import annotations

from hio_validate.importing.results.source import Source

_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "it is compressed (gzip)", "unpack it first: gzip -dk FILE"),
    (b"\x28\xb5\x2f\xfd", "it is compressed (zstd)", "unpack it first: zstd -d FILE"),
    (b"\xfd7zXZ\x00", "it is compressed (xz)", "unpack it first: xz -dk FILE"),
    (b"BZh", "it is compressed (bzip2)", "unpack it first: bzip2 -dk FILE"),
    (b"PK\x03\x04", "it is a zip archive", "unpack it first, and import what is in it"),
    (
        b"SQLite format 3\x00",
        "it is a database (SQLite)",
        "one of nsys says its kernels so: nsys stats --report cuda_gpu_kern_sum --format csv FILE",
    ),
    (b"PAR1", "it is a table in Parquet", "write it as CSV or JSON lines"),
)  # fmt: skip
"""First bytes, what they say, and what to do."""


def refuse_no_text(source: Source) -> None:
    """Raises CannotImport for a file whose first bytes say that it is no text."""
    for first, what, help in _KINDS:
        if source.first.startswith(first):
            raise source.refuse(what, help)
