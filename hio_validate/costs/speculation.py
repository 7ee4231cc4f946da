"""What drafting tokens can pay: the share of them that has to be accepted.

A pass that verifies k drafted tokens yields 1 + share * k tokens, whichever of them are accepted, and costs k c + v passes of
one token. Source: Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023 (theorem
3.8). There verifying costs one pass (v = 1); where a pass of k + 1 tokens costs more than a pass of one, as on a processor whose
arithmetic is the limit, v says how much more.
"""

from __future__ import annotations


def break_even_share(drafted: float, draft_cost: float, verify_cost: float) -> float | None:
    """The share of the drafted tokens at which drafting neither gains nor loses: (k c + v - 1) / k.

    drafted: k > 0, tokens drafted a pass in the mean; draft_cost: c >= 0 for each of them, verify_cost: v > 0, both in passes of
    one token. Zero where it costs no more than such a pass, None where even all of them do not pay. Raises ValueError.
    """
    if drafted <= 0 or draft_cost < 0 or verify_cost <= 0:
        raise ValueError(f"no drafting: k = {drafted}, c = {draft_cost}, v = {verify_cost}")
    share = max(0.0, drafted * draft_cost + verify_cost - 1) / drafted
    return share if share <= 1 else None
