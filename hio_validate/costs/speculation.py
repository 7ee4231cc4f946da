"""What drafting tokens can pay: tokens a pass, its cost, and the acceptance at which both are even.

Source: Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023
(equation 1, theorem 3.8). There verifying costs one pass (v = 1); where a pass of k + 1 tokens costs more than a pass
of one, as on a processor whose arithmetic is the limit, v says how much more.
"""

from __future__ import annotations


def expected_tokens(acceptance: float, drafted: int) -> float:
    """Tokens that one pass of the model yields, the one that it samples itself included: (1 - a^(k+1)) / (1 - a).

    `acceptance` is the chance that one drafted token is accepted, in [0, 1], alike and independent for each; `drafted`
    is k >= 0. Raises ValueError.
    """
    _check(acceptance, drafted)
    return sum(acceptance**place for place in range(drafted + 1))


def accepted_share(acceptance: float, drafted: int) -> float:
    """The share of all drafted tokens that is accepted, as engines count it: what follows a refused token is refused, too.

    From the chance for one token: (expected tokens - 1) / k; with nothing drafted the chance itself. Raises ValueError.
    """
    return (expected_tokens(acceptance, drafted) - 1) / drafted if drafted else acceptance


def cost(drafted: float, draft_cost: float, verify_cost: float = 1.0) -> float:
    """Time of one drafted pass, in passes of one token: k c + v. Raises ValueError."""
    if drafted < 0 or draft_cost < 0 or verify_cost <= 0:
        raise ValueError(f"no cost: k = {drafted}, c = {draft_cost}, v = {verify_cost}")
    return drafted * draft_cost + verify_cost


def speedup(acceptance: float, drafted: int, draft_cost: float, verify_cost: float = 1.0) -> float:
    """How many times as fast decoding becomes; below 1 it becomes slower. Raises ValueError."""
    return expected_tokens(acceptance, drafted) / cost(drafted, draft_cost, verify_cost)


def break_even(drafted: int, draft_cost: float, verify_cost: float = 1.0) -> float | None:
    """The acceptance at which drafting neither gains nor loses; None where it loses even if all is accepted.

    Zero where it costs no more than a pass without drafting. Raises ValueError.
    """
    wanted = cost(drafted, draft_cost, verify_cost)
    if wanted <= 1:
        return 0.0
    if wanted > drafted + 1:
        return None
    low, high = 0.0, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if expected_tokens(middle, drafted) < wanted else (low, middle)
    return high


def break_even_share(drafted: float, draft_cost: float, verify_cost: float = 1.0) -> float | None:
    """The share of all drafted tokens that has to be accepted, where a mean of `drafted` > 0 are drafted a pass: (k c + v - 1) / k.

    A pass yields 1 + share * k tokens, whichever of them are accepted. None where even all of them do not pay.
    Raises ValueError.
    """
    if drafted <= 0:
        raise ValueError(f"more than 0 tokens are drafted, not {drafted}")
    share = max(0.0, cost(drafted, draft_cost, verify_cost) - 1) / drafted
    return share if share <= 1 else None


def _check(acceptance: float, drafted: int) -> None:
    if not 0 <= acceptance <= 1:
        raise ValueError(f"an acceptance lies between 0 and 1, not at {acceptance}")
    if drafted < 0:
        raise ValueError(f"no fewer than 0 tokens are drafted, not {drafted}")
