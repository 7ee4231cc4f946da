"""What a file is by its first bytes, where that is nothing to keep in git: weights, saved state, build products.

Invariant: names say nothing here; a renamed model is still a model.
"""

from __future__ import annotations

from hio_validate.checkpoint.plan import Refusal

_WEIGHTS = {
    b"GGUF": "model weights (GGUF)",
    b"lmgg": "model weights (GGML)",
    b"fmgg": "model weights (GGML)",
    b"tjgg": "model weights (GGML)",
    b"algg": "a model adapter (GGLA)",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file, as weights are kept in",
    b"PK\x03\x04": "a zip archive, as PyTorch keeps weights in and wheels are",
    b"PK\x05\x06": "a zip archive",
    b"version https://git-lfs.github.com/spec/": "a pointer to a file in LFS, as weights are kept in",
}
_STATE = {
    b"qsgg": "a saved slot of llama-server (KV cache, GGSQ), which holds what users wrote",
    b"nsgg": "a saved session of llama.cpp (KV cache, GGSN), which holds what users wrote",
}
"""llama.cpp include/llama.h: LLAMA_STATE_SEQ_MAGIC and LLAMA_SESSION_MAGIC, 32 bits, little-endian."""
_BUILT = {
    b"\x7fELF": "a build product (ELF)",
    b"!<arch>\n": "a build product (static library)",
    b"\xcf\xfa\xed\xfe": "a build product (Mach-O)",
    b"\xca\xfe\xba\xbe": "a build product (Mach-O or Java)",
    b"MZ\x90\x00": "a build product (Windows)",
}
_HELP = "keep it outside and name it by its sha256 in a document"


def refusal(path: str, raw: bytes) -> Refusal | None:
    """Why this content is nothing to commit; None where it may be."""
    # Big-endian machines write llama.cpp's 32 bits the other way around.
    turned = raw[:4][::-1]
    for known in (_WEIGHTS, _STATE, _BUILT):
        for magic, what in known.items():
            if raw.startswith(magic) or (len(magic) == 4 and magic.endswith(b"gg") and turned == magic):
                return Refusal(path, f"is {what}", _HELP)
    if _is_safetensors(raw):
        return Refusal(path, "is model weights (safetensors)", _HELP)
    if _is_pickle(raw):
        return Refusal(path, "is a Python pickle, as weights are kept in", _HELP)
    return None


def _is_safetensors(raw: bytes) -> bool:
    """Eight bytes of length, then a JSON object that long, which names its tensors or its metadata."""
    length = int.from_bytes(raw[:8], "little")
    header = raw[8 : 8 + length]
    return header[:1] == b"{" and (b'"dtype"' in header or b'"__metadata__"' in header)


def _is_pickle(raw: bytes) -> bool:
    """Protocol 2 and later begin with an opcode and their number; a pickle ends with a full stop."""
    return (
        len(raw) > 3 and raw[0] == 0x80 and raw[1] in (2, 3, 4, 5) and (raw.endswith(b".") or len(raw) > 4096)
    )
