"""Family 1, less active work: tokens that are drafted and verified together; padded tokens and logits that nobody needs.

Drafting is proposed where the engine has it and none is in force. What it pays hangs on the acceptance: as a
person states it, else as a run of the same prompt counted it, else between nothing and everything; the break-even is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hio_validate.costs.composition import longest_of_groups
from hio_validate.costs.interval import Interval
from hio_validate.costs.speculation import break_even_share
from hio_validate.costs.units import amount, base
from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.bounds.operands import ONE
from hio_validate.estimating.bounds.passes import ACCEPTANCE
from hio_validate.estimating.candidates.accepted import Counted, counted
from hio_validate.estimating.candidates.levers import Way
from hio_validate.estimating.candidates.mechanism import Found, Lever, Mechanism, Seen
from hio_validate.estimating.candidates.profiled import named_parts
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.estimate import Assumption


def find(seen: Seen, found: Found) -> None:
    """Drafting, and what a profile shows of padding and logits."""
    for mechanism in ("draft-own-layers", "draft-from-text"):
        found.mechanisms += _drafting(seen, found, mechanism)
    found.mechanisms += named_parts(
        seen, 1, r"\bpad(ding|ded)?\b|_pad_", "padded-tokens", "evaluate no tokens that only fill a shape up"
    )
    found.mechanisms += named_parts(
        seen, 1, r"logit|lm_head", "smaller-logits", "compute logits of no token that is not sampled"
    )


def _drafting(seen: Seen, found: Found, mechanism: str) -> Iterator[Mechanism]:
    own_layers = mechanism == "draft-own-layers"
    if (
        seen.inputs.workload.drafting
        or seen.inputs.path not in ("decode-token", "request")
        or "weights" not in seen.times
        or (own_layers and not _draft_layers(seen))
    ):
        return
    for lever, way in seen.ways(mechanism):
        offered = lever.offered(way.to)
        before = counted(seen.inputs, lever.address)
        kind = _counted_kind(before, offered)
        if kind is None:
            before = None
        length = _length(seen, way, kind or (offered[0] if offered else ""), before)
        if offered and length is None:
            found.missing.append(
                "how many tokens a pass would draft is not known, so that drafting is not bounded: --assume draft-tokens=N"
            )
        elif offered and length is not None:
            to = (kind or offered[0]).replace("{n}", f"{max(1, round(length))}")
            yield from _proposed(seen, found, lever, way, to, length, before)


def _proposed(
    seen: Seen, found: Found, lever: Lever, way: Way, to: str, length: float, before: Counted | None
) -> Iterator[Mechanism]:
    own_layers = way.mechanism == "draft-own-layers"
    then, assumes = _drafted(seen.inputs, f"{lever.address} {to}", length, before, free=not own_layers)
    accepted = base(then.stated["acceptance"])
    yields = accepted * length + ONE
    measured = (
        before.times if before and not {"acceptance", "draft-tokens"} & seen.inputs.stated.keys() else None
    )
    verify = _verify_cost(seen, then, length)
    if measured is not None and before is not None:
        if measured[1].value >= measured[0].value:
            found.said.append(
                f"{lever.address} {to}: {before.run} measured no gain of it: not proposed again"
            )
            return
        verify = max(1.0, yields.value * measured[1].value / measured[0].value)
    cost = _draft_cost(seen, then, length) if own_layers else base(then.stated["draft-cost"]).value
    even = break_even_share(length, cost, verify)
    if even is None:
        found.said.append(
            f"{lever.address} {to}: a pass of {length + 1:.3g} tokens takes {verify + length * cost:.3g} times a pass of one, so "
            "that drafting loses even if every token is accepted: not proposed"
        )
        return
    source = "with the model's own draft layers" if own_layers else "from the text"
    yield Mechanism(
        f"draft-{_kind(to)}", 1, f"draft {length:.3g} tokens a pass {source} and verify them in one pass: "
        f"{1 + accepted.value * length:.3g} tokens{_at_what_cost(seen, verify)} where {100 * accepted.value:.0f} % are accepted",
        term="weights", lever=lever, to=to, then=then, most=yields, measured=measured, assumes=assumes,
        confidence="low" if assumes and before is None else "medium",
        stop_if=f"{_loses(even)}, or the answers differ",
        needs=(*way.needs, "the same answers as without drafting: a check or a task set", *_lengths_said(seen, lever)),
    )  # fmt: skip


def _loses(even: float) -> str:
    if even < 0.005:
        return "none of the drafted tokens is accepted"
    return f"no more than {100 * even:.0f} % of the drafted tokens are accepted (break-even)"


def _draft_layers(seen: Seen) -> bool:
    shape = seen.shape
    return shape is not None and any(each.role == "draft" for each in shape.weights)


def _kind(value: str) -> str:
    """What drafts, as a part of a name: the value, or the method that it names."""
    method = re.search(r'"method":\s*"([\w-]+)"', value)
    return (method[1] if method else value).lower()


def _counted_kind(before: Counted | None, offered: Sequence[str]) -> str | None:
    """The offered value with which a run has drafted this prompt."""
    if before is None:
        return None
    return next((each for each in offered if _kind(each) == _kind(before.kind)), None)


def _draft_cost(seen: Seen, then: Inputs, length: float) -> float:
    """Drafting one token with the model's own layers, in passes of one token, by the ledger."""
    times = terms_of(then).times
    tokens = 1 + base(then.stated["acceptance"]).value * length
    draft = times["draft"].value * tokens / length if "draft" in times else 0.0
    return draft / seen.whole.value if seen.whole.value else 0.0


def _verify_cost(seen: Seen, then: Inputs, length: float) -> float:
    """How many passes of one token one that verifies `length` drafted ones costs, by the ledger: more where arithmetic bounds it.

    Never less: what is cheaper by the ledger had its price from another measurement.
    """
    every = {"acceptance": amount(Interval.exact(1.0), "1"), "draft-cost": amount(Interval.exact(0.0), "1")}
    ledger = terms_of(replace(then, stated={**then.stated, **every}))
    each_token = longest_of_groups(ledger.groups, ledger.times)
    return max(1.0, each_token.value * (length + 1) / seen.whole.value) if seen.whole.value else 1.0


def _at_what_cost(seen: Seen, verify: float) -> str:
    """What such a pass shares: reading the weights, where memory bounds it; else what its arithmetic makes of it."""
    if seen.bounded_by("weights") == "memory":
        return " for one reading of the weights"
    longer = f"{verify:.3g} times as long" if verify > 1.005 else "no longer than one of a single token"
    return f" of a pass that takes {longer}"


def _lengths_said(seen: Seen, lever: Lever) -> list[str]:
    """A plan of llama-server with drafting asks a fixture that says its lengths (rule missing-sampling-chain)."""
    fixture = seen.inputs.fixture
    if fixture is None or fixture.model.draft is not None or ".spec-" not in lever.address:
        return []
    return [f"a fixture like {fixture.name} that says draft: {{min: ..., max: ...}}; hio plan new writes one"]


def _length(seen: Seen, way: Way, kind: str, before: Counted | None) -> float | None:
    """Tokens that a pass would draft: as stated, as counted, as the build's default says, as it is proposed.

    llama.cpp has a length of its own for most kinds (common/arg.cpp, --spec-ngram-mod-n-max, --spec-ngram-simple-size-m).
    """
    stated = seen.inputs.stated.get("draft-tokens")
    if stated is not None:
        return base(stated).value or None
    if before is not None:
        return before.drafted
    lever = seen.lever(f"spec-{kind}-n-max", f"spec-{kind}-size-m", "spec-draft-n-max")
    if lever is not None and lever.number:
        return float(lever.number)
    if way.mechanism == "draft-own-layers" and seen.shape is not None and seen.shape.draft_layers:
        return float(seen.shape.draft_layers)
    return float(way.drafts) if way.drafts else None


def _drafted(
    inputs: Inputs, drafting: str, length: float, before: Counted | None, *, free: bool
) -> tuple[Inputs, tuple[Assumption, ...]]:
    """The same workload with drafting, and what is assumed for it; looking drafts up is free where nobody says else."""
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
    if free:
        said.setdefault("draft-cost", amount(Interval.exact(0.0), "1"))
    workload = inputs.workload.model_copy(update={"drafting": drafting})
    return replace(inputs, workload=workload, stated=said), tuple(assumes)
