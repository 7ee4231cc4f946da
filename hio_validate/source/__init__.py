"""YAML in and out: bytes become a Document; edits become bytes again. The only importer of YAML libraries."""

from hio_validate.source.characters import LARGEST_DOCUMENT
from hio_validate.source.document import Allowance, Document, digest_of, read
from hio_validate.source.dump import dump
from hio_validate.source.edit import Append, Edit, Remove, Set, edit
from hio_validate.source.fault import Fault

__all__ = [
    "LARGEST_DOCUMENT",
    "Allowance",
    "Append",
    "Document",
    "Edit",
    "Fault",
    "Remove",
    "Set",
    "digest_of",
    "dump",
    "edit",
    "read",
]
