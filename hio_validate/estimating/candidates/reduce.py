"""Family 1, less active work: tokens that are drafted and verified together; padded tokens and logits that nobody needs.

Drafting is proposed where the engine has it and none is in force. What it pays hangs on the acceptance, which a person
states; where nobody does, it lies between nothing and everything, and the break-even is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hio_validate.costs.composition import longest_of_groups
from hio_validate.costs.interval import Interval
from hio_validate.costs.speculation import accepted_share, break_even
from hio_validate.costs.units import amount, base
from hio_validate.estimating.candidates.mechanism import Found, Lever, Mechanism, Seen, times_of
from hio_validate.estimating.candidates.profiled import named_parts
from hio_validate.estimating.inputs import Inputs
from hio_validate.estimating.ledger import terms_of
from hio_validate.models.estimate import Assumption

_KINDS = ("ngram-mod", "ngram-simple", "ngram-cache")
"""Values that draft from the text itself, so that no second model is needed (llama.cpp common/arg.cpp, --spec-type)."""

_LENGTHS = ("spec-draft-n-max",)
ACCEPTANCE = Interval(0.5, 0.0, 1.0)
"""Where nobody states it: between nothing and everything."""


def find(seen: Seen, found: Found) -> None:
    """Drafting, and what a profile shows of padding and logits."""
    found.mechanisms += _drafting(seen, found)
    found.mechanisms += named_parts(
        seen, 1, r"\bpad(ding|ded)?\b|_pad_", "padded-tokens", "evaluate no tokens that only fill a shape up"
    )
    found.mechanisms += named_parts(
        seen, 1, r"logit|lm_head", "smaller-logits", "compute logits of no token that is not sampled"
    )


def _drafting(seen: Seen, found: Found) -> Iterator[Mechanism]:
    lever = seen.lever("spec-type")
    kind = _kind_of(lever)
    if (
        lever is None
        or kind is None
        or seen.inputs.workload.drafting
        or seen.inputs.path not in ("decode-token", "request")
        or "weights" not in seen.times
    ):
        return
    length = _length(seen)
    if length is None:
        found.missing.append(
            "how many tokens a pass would draft is not known, so that drafting is not bounded: --assume draft-tokens=N"
        )
        return
    then, assumes = _drafted(seen.inputs, f"{lever.address} {kind}", length)
    verify = _verify_cost(seen, then, length)
    even = break_even(length, base(then.stated["draft-cost"]).value, verify)
    if even is None:
        found.said.append(
            f"{lever.address} {kind}: a pass of {length + 1} tokens takes {verify:.3g} times a pass of one, so that drafting loses "
            "even if every token is accepted: not proposed"
        )
        return
    accepted = base(then.stated["acceptance"])
    yield Mechanism(
        f"draft-{kind}", 1, f"draft {length} tokens a pass from the text and verify them in one pass: "
        f"{1 + accepted.value * length:.3g} tokens for one reading of the weights where {100 * accepted.value:.0f} % are accepted",
        term="weights", lever=lever, to=kind, then=then, assumes=assumes,
        confidence="low" if assumes else "medium",
        stop_if=f"no more than {100 * accepted_share(even, length):.0f} % of the drafted tokens are accepted (break-even), or the answers differ",
        needs=("the same answers as without drafting: a check or a task set",),
    )  # fmt: skip


def _verify_cost(seen: Seen, then: Inputs, length: int) -> float:
    """How many passes of one token one that verifies `length` drafted ones costs, by the ledger: more where arithmetic bounds it."""
    every = {"acceptance": amount(Interval.exact(1.0), "1"), "draft-cost": amount(Interval.exact(0.0), "1")}
    ledger = terms_of(replace(then, stated={**then.stated, **every}))
    each_token = longest_of_groups(ledger.groups, times_of(ledger))
    return each_token.value * (length + 1) / seen.whole.value if seen.whole.value else 1.0


def _kind_of(lever: Lever | None) -> str | None:
    """The value that is proposed: one that the build offers; None where drafting is in force or needs a second model."""
    if lever is None or lever.option is None or not lever.unused:
        return None
    offered = {*lever.option.choices, *lever.option.metavar.split(",")}
    return next((kind for kind in _KINDS if kind in offered), None)


def _length(seen: Seen) -> int | None:
    stated = seen.inputs.stated.get("draft-tokens")
    if stated is not None:
        return max(1, round(base(stated).value))
    lever = seen.lever(*_LENGTHS)
    return lever.number if lever is not None else None


def _drafted(inputs: Inputs, drafting: str, length: int) -> tuple[Inputs, tuple[Assumption, ...]]:
    """The same workload with drafting, and what is assumed for it."""
    assumes = []
    said = {"draft-tokens": amount(Interval.exact(float(length)), "1"), **inputs.stated}
    if "acceptance" not in said:
        said["acceptance"] = amount(ACCEPTANCE, "1")
        assumes.append(
            Assumption(
                name="acceptance",
                amount=said["acceptance"],
                source="nobody stated or measured it: between no drafted token and every one",
            )
        )
    said.setdefault("draft-cost", amount(Interval.exact(0.0), "1"))
    workload = inputs.workload.model_copy(update={"drafting": drafting})
    return replace(inputs, workload=workload, stated=said), tuple(assumes)
