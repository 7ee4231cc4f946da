"""In whose words the arms of a plan are asked: the dialect of each arm's engine.

Invariant: arms of one plan are asked the same, so that they can do the same work; two dialects are two plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hio_validate.models.plan import Plan
from hio_validate.repo import Item, Repo
from hio_validate.settings.request import DIALECTS, LLAMA, Dialect


class SeveralDialects(Exception):
    """Arms that cannot be asked the same; one clause, `a is of vllm and b is of sglang, which read different requests`."""


def engine_of(stack: Item) -> str | None:
    """The family that a stack serves with, as far as it is known how that is asked; None where several or none are."""
    families = {process.engine for process in stack.model.processes.values()} & set(DIALECTS)
    return families.pop() if len(families) == 1 else None


def dialects_of(plan: Item, repo: Repo) -> dict[str, Dialect]:
    """Arm -> how it is asked; arms whose stack cannot be read, or whose engine nobody knows how to ask, are left out."""
    model: Plan = plan.model
    return of_stacks({name: arm.stack for name, arm in model.arms.items()}.items(), plan.service, repo)


def of_stacks(named: Iterable[tuple[str, str]], service: str | None, repo: Repo) -> dict[str, Dialect]:
    """Name -> dialect of the stack that it stands for."""
    found: dict[str, Dialect] = {}
    for name, stack in named:
        item = repo.find("stack/v1", stack, service)
        engine = engine_of(item) if item is not None and item.model is not None else None
        if engine is not None:
            found[name] = DIALECTS[engine]
    return found


def one_dialect(found: Mapping[str, Dialect]) -> Dialect:
    """In whose words all arms are asked, llama-server's where no engine is known. Raises SeveralDialects.

    vLLM and SGLang share the fields that are known here and are two dialects all the same: each counts its cache in its
    own way.
    """
    families = {dialect.family: arm for arm, dialect in found.items()}
    if len(families) > 1:
        told = " and ".join(f"{arm} is of {family}" for family, arm in families.items())
        raise SeveralDialects(f"{told}, which read different requests")
    return next(iter(found.values()), DIALECTS[LLAMA])
