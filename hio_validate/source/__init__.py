"""YAML in and out: bytes become a Document; edits become bytes again. The only importer of YAML libraries.

Writing (dump, edit) is imported from its own module: who only reads does not wait for it.
"""

from hio_validate.source.characters import LARGEST_DOCUMENT
from hio_validate.source.document import Allowance, Document, digest_of, read
from hio_validate.source.fault import Fault

__all__ = [
    "LARGEST_DOCUMENT",
    "Allowance",
    "Document",
    "Fault",
    "digest_of",
    "read",
]
