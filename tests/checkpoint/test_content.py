"""What a file is by its first bytes: real files where this machine makes them, magics elsewhere."""

from __future__ import annotations

import io
import json
import pickle
import sys
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.checkpoint.content import refusal


def _safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4)


def _zip() -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("archive/data.pkl", b"\x80\x02.")
        return file.getvalue()


def _python() -> bytes:
    with open(sys.executable, "rb") as file:
        return file.read(4096)


REFUSED = {
    "GGUF": b"GGUF\x03\x00\x00\x00",
    "GGML": b"tjgg\x01\x00\x00\x00",
    "safetensors": _safetensors(),
    "pickle": pickle.dumps({"w": [1.0]}, protocol=4),
    "zip": _zip(),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(8),
    "LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "GGSQ": (0x67677371).to_bytes(4, "little") + bytes(12),
    "GGSN": (0x6767736E).to_bytes(4, "little") + bytes(12),
    "ELF": _python(),
    "static library": b"!<arch>\n",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_known_by_its_content_whatever_its_name(what: str) -> None:
    found = refusal("notes.md", REFUSED[what])
    assert found is not None
    assert what in found.reason


def test_a_slot_saved_on_a_big_endian_machine_is_one_too() -> None:
    found = refusal("x", (0x67677371).to_bytes(4, "big"))
    assert found is not None and "GGSQ" in found.reason


def test_what_belongs_into_a_repository_passes() -> None:
    documents = [b"", b"hio: stack/v1\n", b'{"dtype": 1}', b"\x80", b"\x80\x04not a pickle", b"\x1f\x8b\x08compressed rows",
                 b"\x89PNG\r\n\x1a\n", b"GGU", b"MZ and text"]  # fmt: skip
    assert [raw for raw in documents if refusal("x", raw)] == []


@given(
    st.text(min_size=1).filter(
        lambda text: not text.startswith(("GGUF", "PK\x03\x04", "PK\x05\x06", "!<arch>", "\x7fELF"))
    )
)
def test_text_is_never_taken_for_weights(text: str) -> None:
    raw = text.encode()
    if not raw[:4].endswith(b"gg") and not raw.startswith(b"gg"):
        assert refusal("x", raw) is None
