"""Family 1, less active work: tokens that are drafted and verified together; padded tokens and logits that nobody needs.

Drafting is proposed where the engine has it and none is in force. What it pays hangs on the acceptance: as a
person states it, else as a run of the same prompt counted it, else between nothing and everything; the break-even is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hio_validate.costs.composition import longest_of_groups
from hio_validate.costs.interval import Interval
from hio_validate.costs.speculation import break_even_share
from hio_validate.costs.units import amount, base
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.candidates.accepted import Counted, counted
from hio_validate.estimating.candidates.mechanism import Found, Lever, Mechanism, Seen, times_of
from hio_validate.estimating.candidates.profiled import named_parts
from hio_validate.estimating.context.inputs import Inputs
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
    offered = _offered(lever)
    if (
        lever is None
        or not offered
        or seen.inputs.workload.drafting
        or seen.inputs.path not in ("decode-token", "request")
        or "weights" not in seen.times
    ):
        return
    before = counted(seen.inputs, lever.address)
    if before is not None and before.kind not in offered:
        before = None
    kind, length = before.kind if before else offered[0], _length(seen, before)
    if length is None:
        found.missing.append(
            "how many tokens a pass would draft is not known, so that drafting is not bounded: --assume draft-tokens=N"
        )
        return
    then, assumes = _drafted(seen.inputs, f"{lever.address} {kind}", length, before)
    verify = _verify_cost(seen, then, length)
    even = break_even_share(length, base(then.stated["draft-cost"]).value, verify)
    if even is None:
        found.said.append(
            f"{lever.address} {kind}: a pass of {length + 1:.3g} tokens takes {verify:.3g} times a pass of one, so that "
            "drafting loses even if every token is accepted: not proposed"
        )
        return
    accepted = base(then.stated["acceptance"])
    yield Mechanism(
        f"draft-{kind}", 1, f"draft {length:.3g} tokens a pass from the text and verify them in one pass: "
        f"{1 + accepted.value * length:.3g} tokens for one reading of the weights where {100 * accepted.value:.0f} % are accepted",
        term="weights", lever=lever, to=kind, then=then, assumes=assumes,
        confidence="low" if assumes and before is None else "medium",
        stop_if=f"no more than {100 * even:.0f} % of the drafted tokens are accepted (break-even), or the answers differ",
        needs=("the same answers as without drafting: a check or a task set", *_lengths_said(seen)),
    )  # fmt: skip


def _verify_cost(seen: Seen, then: Inputs, length: float) -> float:
    """How many passes of one token one that verifies `length` drafted ones costs, by the ledger: more where arithmetic bounds it."""
    every = {"acceptance": amount(Interval.exact(1.0), "1"), "draft-cost": amount(Interval.exact(0.0), "1")}
    ledger = terms_of(replace(then, stated={**then.stated, **every}))
    each_token = longest_of_groups(ledger.groups, times_of(ledger))
    return each_token.value * (length + 1) / seen.whole.value if seen.whole.value else 1.0


def _lengths_said(seen: Seen) -> list[str]:
    """A plan with drafting asks a fixture that says its lengths (rule missing-sampling-chain)."""
    fixture = seen.inputs.fixture
    if fixture is None or fixture.model.draft is not None:
        return []
    return [f"a fixture like {fixture.name} that says draft: {{min: ..., max: ...}}"]


def _offered(lever: Lever | None) -> list[str]:
    """The values that could be proposed, ones that the build offers; none where drafting is in force already."""
    if lever is None or lever.option is None or not lever.unused:
        return []
    words = {*lever.option.choices, *lever.option.metavar.split(",")}
    return [kind for kind in _KINDS if kind in words]


def _length(seen: Seen, before: Counted | None) -> float | None:
    """Tokens that a pass would draft: as stated, as counted, as the build's default says."""
    stated = seen.inputs.stated.get("draft-tokens")
    if stated is not None:
        return base(stated).value or None
    if before is not None:
        return before.drafted
    lever = seen.lever(*_LENGTHS)
    return float(lever.number) if lever is not None and lever.number else None


def _drafted(
    inputs: Inputs, drafting: str, length: float, before: Counted | None
) -> tuple[Inputs, tuple[Assumption, ...]]:
    """The same workload with drafting, and what is assumed for it."""
    assumes = []
    said = {"draft-tokens": amount(Interval.exact(length), "1"), **inputs.stated}
    if "acceptance" not in said:
        said["acceptance"] = amount(before.accepted if before else ACCEPTANCE, "1")
        source = (
            f"counted by {before.run} with the same prompt: the median leg, from the least to the most"
            if before
            else "nobody stated or measured it: between no drafted token and every one"
        )
        assumes.append(Assumption(name="acceptance", amount=said["acceptance"], source=source))
    said.setdefault("draft-cost", amount(Interval.exact(0.0), "1"))
    workload = inputs.workload.model_copy(update={"drafting": drafting})
    return replace(inputs, workload=workload, stated=said), tuple(assumes)
