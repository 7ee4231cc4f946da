"""The part of ggml's public C interface that a matrix product needs, called through ctypes.

The library itself chooses the kernel, the layout of the weights and how threads share the work, as it does for a model:
weights are put into the first of its buffer types that supports the product, which is the choice of
src/llama-model-loader.cpp (weight_buft_supported) with ggml/src/ggml-cpu/repack.cpp (ggml_repack_get_optimal_repack_type).

Invariant: this module is only loaded by the child process (kernels_child.py); foreign code may end it at any time.
Signatures: ggml/include/{ggml.h,ggml-alloc.h,ggml-backend.h,ggml-cpu.h} of llama.cpp.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TYPES = {
    "F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10, "Q3_K": 11, "Q4_K": 12,
    "Q5_K": 13, "Q6_K": 14, "IQ2_XXS": 16, "IQ2_XS": 17, "IQ3_XXS": 18, "IQ1_S": 19, "IQ4_NL": 20, "IQ3_S": 21,
    "IQ2_S": 22, "IQ4_XS": 23, "IQ1_M": 29, "BF16": 30, "TQ1_0": 34, "TQ2_0": 35, "MXFP4": 39,
}  # fmt: skip
"""Number format -> its number (enum ggml_type in ggml/include/ggml.h, which model files keep for good)."""
TENSORS = 8192
"""Tensors that one context may hold; a graph holds 2048 (GGML_DEFAULT_GRAPH_SIZE)."""
ASKED_WITH = 512
"""Vectors of the product with which the loader asks whether a buffer type multiplies a weight (weight_buft_supported)."""


class Unsupported(Exception):
    """This build cannot do it; says what."""


class _Params(ctypes.Structure):
    """struct ggml_init_params."""

    _fields_ = (("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool))


BASE: dict[str, tuple[object, tuple[object, ...]]] = {
    "ggml_init": (c_void_p, (_Params,)),
    "ggml_free": (None, (c_void_p,)),
    "ggml_tensor_overhead": (c_size_t, ()),
    "ggml_graph_overhead": (c_size_t, ()),
    "ggml_new_tensor_2d": (c_void_p, (c_void_p, c_int, c_int64, c_int64)),
    "ggml_mul_mat": (c_void_p, (c_void_p, c_void_p, c_void_p)),
    "ggml_new_graph": (c_void_p, (c_void_p,)),
    "ggml_build_forward_expand": (None, (c_void_p, c_void_p)),
    "ggml_type_name": (c_char_p, (c_int,)),
    "ggml_blck_size": (c_int64, (c_int,)),
    "ggml_row_size": (c_size_t, (c_int, c_int64)),
    "ggml_quantize_chunk": (
        c_size_t,
        (c_int, POINTER(c_float), c_void_p, c_int64, c_int64, c_int64, POINTER(c_float)),
    ),
    "ggml_backend_alloc_ctx_tensors_from_buft": (c_void_p, (c_void_p, c_void_p)),
    "ggml_backend_buffer_free": (None, (c_void_p,)),
    "ggml_backend_buft_name": (c_char_p, (c_void_p,)),
    "ggml_backend_tensor_set": (None, (c_void_p, c_void_p, c_size_t, c_size_t)),
    "ggml_backend_tensor_get": (None, (c_void_p, c_void_p, c_size_t, c_size_t)),
    "ggml_backend_graph_compute": (c_int, (c_void_p, c_void_p)),
    "ggml_backend_free": (None, (c_void_p,)),
    "ggml_backend_dev_supports_op": (c_bool, (c_void_p, c_void_p)),
    "ggml_backend_reg_dev_get": (c_void_p, (c_void_p, c_size_t)),
    "ggml_backend_reg_get_proc_address": (c_void_p, (c_void_p, c_char_p)),
    "ggml_backend_cpu_buffer_type": (c_void_p, ()),
}
CPU: dict[str, tuple[object, tuple[object, ...]]] = {
    "ggml_backend_cpu_init": (c_void_p, ()),
    "ggml_backend_cpu_set_n_threads": (None, (c_void_p, c_int)),
    "ggml_backend_cpu_reg": (c_void_p, ()),
}


@dataclass(frozen=True)
class Matrices:
    """Matrices of weights, all of one size and format, in buffers of the type that the library chose."""

    tensors: tuple[int, ...]
    width: int
    rows: int
    bytes: int
    """Of all of them, as the model file stores them."""
    kind: str
    """The buffer type, e.g. CPU_REPACK."""
    held: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Products:
    """The products of matrices with the same vectors, ready to be put into graphs."""

    tensors: tuple[int, ...]
    """One product of each matrix, in their order."""
    outputs: int
    """Numbers in one product."""
    held: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Graph:
    """Some of the products, computed together."""

    graph: int
    products: int
    held: tuple[tuple[str, int], ...]


class Library:
    """libggml-base and libggml-cpu of one build. Raises OSError where they cannot be loaded, Unsupported."""

    def __init__(self, base: Path, cpu: Path) -> None:
        self._c = {
            **_declared(ctypes.CDLL(str(base), ctypes.RTLD_GLOBAL), BASE, base.name),
            **_declared(ctypes.CDLL(str(cpu)), CPU, cpu.name),
        }
        self._backend = self("ggml_backend_cpu_init")
        self._plain = self("ggml_backend_cpu_buffer_type")
        registry = self("ggml_backend_cpu_reg")
        self._device = self("ggml_backend_reg_dev_get", registry, 0)
        self._special = self._buffer_types(registry)

    def __call__(self, name: str, *arguments: object) -> Any:
        return self._c[name](*arguments)

    def _buffer_types(self, registry: int) -> list[int]:
        address = self("ggml_backend_reg_get_proc_address", registry, b"ggml_backend_dev_get_extra_bufts")
        if not address:
            return []
        types = ctypes.CFUNCTYPE(POINTER(c_void_p), c_void_p)(address)(self._device)
        found: list[int] = []
        while types and (each := types[len(found)]):
            found.append(each)
        return found

    def type_of(self, dtype: str) -> int:
        number = TYPES.get(dtype.upper())
        if number is None:
            raise Unsupported(f"hio knows no number format {dtype}; known are {', '.join(TYPES)}")
        named = self("ggml_type_name", number).decode()
        if named.upper() != dtype.upper():
            raise Unsupported(f"this build has no {dtype}: it calls number {number} {named}")
        return number

    def block(self, dtype: str) -> int:
        """Numbers of one block: a row is a multiple of it."""
        return int(self("ggml_blck_size", self.type_of(dtype)))

    def row(self, dtype: str, width: int) -> int:
        """Bytes of one row of `width` numbers."""
        return int(self("ggml_row_size", self.type_of(dtype), width))

    def quantised(self, dtype: str, numbers: ctypes.Array[c_float], rows: int, width: int) -> ctypes.Array:  # type: ignore[type-arg]
        """`rows` rows of `width` numbers in the format `dtype`; each number counts alike."""
        number, alike = self.type_of(dtype), (c_float * width)(*([1.0] * width))
        target = ctypes.create_string_buffer(self.row(dtype, width) * rows)
        wrote = self("ggml_quantize_chunk", number, numbers, target, 0, rows, width, alike)
        if wrote != len(target):
            raise Unsupported(f"{dtype}: {wrote} bytes were written, expected {len(target)}")
        return target

    def matrices(self, dtype: str, width: int, rows: int, count: int) -> Matrices:
        """`count` matrices of `rows` rows of `width` numbers, not yet filled. Raises Unsupported."""
        for kind in (*self._special, self._plain):
            found = self._try(kind, dtype, (width, rows, count))
            if found is not None:
                return found
        raise Unsupported(f"this build has no product of {dtype}")

    def _try(self, kind: int, dtype: str, size: tuple[int, int, int]) -> Matrices | None:
        """In buffers of one type; None where that type does not multiply them, asked as the loader asks: by many vectors."""
        width, rows, count = size
        weights = self._context()
        held: list[tuple[str, int]] = [("ggml_free", weights)]
        tensors = tuple(self._tensor(weights, self.type_of(dtype), width, rows) for _ in range(count))
        held.insert(0, self._room(weights, kind, dtype))
        trial = self._context()
        product = self(
            "ggml_mul_mat", trial, tensors[0], self._tensor(trial, self.type_of("F32"), width, ASKED_WITH)
        )
        does = self("ggml_backend_dev_supports_op", self._device, product)
        self("ggml_free", trial)
        if not does:
            self.free(held)
            return None
        name = self("ggml_backend_buft_name", kind).decode()
        return Matrices(tensors, width, rows, self.row(dtype, width) * rows * count, name, tuple(held))

    def fill(self, matrices: Matrices, rows: ctypes.Array, size: int) -> None:  # type: ignore[type-arg]
        """Fill every matrix with the bytes of `rows`, `size` each."""
        for matrix in matrices.tensors:
            self("ggml_backend_tensor_set", matrix, rows, 0, size)

    def products(self, matrices: Matrices, activations: ctypes.Array[c_float], vectors: int) -> Products:
        """The product of each matrix with the first `vectors` vectors of `activations`."""
        work = self._context()
        held: list[tuple[str, int]] = [("ggml_free", work)]
        operand = self._tensor(work, self.type_of("F32"), matrices.width, vectors)
        products = tuple(self("ggml_mul_mat", work, matrix, operand) for matrix in matrices.tensors)
        held.insert(0, self._room(work, self._plain, "the results"))
        size = ctypes.sizeof(c_float) * matrices.width * vectors
        self("ggml_backend_tensor_set", operand, activations, 0, size)
        return Products(products, matrices.rows * vectors, tuple(held))

    def graph(self, products: Products, which: slice) -> Graph:
        """Some of the products, to be computed one after the other."""
        context = self._context(0)
        graph = self("ggml_new_graph", context)
        chosen = products.tensors[which]
        for product in chosen:
            self("ggml_build_forward_expand", graph, product)
        return Graph(graph, len(chosen), (("ggml_free", context),))

    def compute(self, graph: Graph, threads: int) -> None:
        self("ggml_backend_cpu_set_n_threads", self._backend, threads)
        status = self("ggml_backend_graph_compute", self._backend, graph.graph)
        if status:
            raise Unsupported(f"the library answered with status {status}")

    def result(self, products: Products) -> list[float]:
        """The numbers of the last product."""
        target = (c_float * products.outputs)()
        self("ggml_backend_tensor_get", products.tensors[-1], target, 0, ctypes.sizeof(target))
        return list(target)

    def free(self, held: Iterable[tuple[str, int]]) -> None:
        """What matrices, products or a graph hold."""
        for how, what in held:
            self(how, what)

    def _context(self, tensors: int = TENSORS) -> int:
        size = self("ggml_tensor_overhead") * tensors + 2 * self("ggml_graph_overhead")
        return int(self("ggml_init", _Params(size, None, True)))

    def _tensor(self, context: int, number: int, width: int, rows: int) -> int:
        return int(self("ggml_new_tensor_2d", context, number, width, rows))

    def _room(self, context: int, kind: int, what: str) -> tuple[str, int]:
        buffer = self("ggml_backend_alloc_ctx_tensors_from_buft", context, kind)
        if not buffer:
            raise Unsupported(f"there is no memory for {what}")
        return ("ggml_backend_buffer_free", buffer)


def _declared(
    library: ctypes.CDLL, functions: dict[str, tuple[object, tuple[object, ...]]], name: str
) -> dict[str, ctypes._NamedFuncPointer]:
    found = {}
    for function, (gives, takes) in functions.items():
        try:
            found[function] = library[function]
        except AttributeError:
            raise Unsupported(f"{name} has no function {function}") from None
        found[function].restype = gives  # type: ignore[assignment]
        found[function].argtypes = takes  # type: ignore[assignment]
    return found
