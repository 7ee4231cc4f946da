"""An acknowledgement that allows nothing: for another run, for two runs, without an act that is needed, or already over.

Stopping a service, touching a cluster or publishing needs somebody's yes. Contract 10.3: it lists its acts, is bound to
one run id and is used once; it is a field of the campaign and never an argument of a command. A run id is the day, the
campaign's name and, from the second of that day on, a number. Computed from the plans of the cells: which acts are needed.
Whether it has ended by now, `hio campaign check` says.

How to fix: write one acknowledgement for the run id that `hio campaign check` names, with every act it lists.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.campaign import acts_needed, first_run_id, is_run_id_of
from hio_validate.models.campaign import Acknowledgement, Campaign
from hio_validate.moment import moment
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at


def check(item: Item, view: View) -> Iterator[Problem]:
    campaign: Campaign = item.model
    needed = acts_needed(item, view.repo)
    seen: dict[str, int] = {}
    for index, given in enumerate(campaign.acknowledgements):
        if seen.setdefault(given.run_id, index) != index:
            yield Problem(
                at(item, "acknowledgements", index, "run_id"),
                f"{given.run_id} is acknowledged twice",
                "one acknowledgement for a run, with all of its acts",
                (("the first one", at(item, "acknowledgements", seen[given.run_id], "run_id")),),
            )
        yield from _of_another_run(item, index, given, view)
        lacks = [act for act in needed if act not in given.acts]
        if lacks:
            yield Problem(
                at(item, "acknowledgements", index, "acts"),
                f"it does not allow {' and '.join(lacks)}, which {', '.join(needed[lacks[0]][:4])} needs",
                "list every act, or change what needs it",
            )
        if moment(given.until) <= moment(given.at):
            yield Problem(
                at(item, "acknowledgements", index, "until"),
                f"it ends at {given.until}, before it is given ({given.at})",
                "write when it ends",
            )


def _of_another_run(item: Item, index: int, given: Acknowledgement, view: View) -> Iterator[Problem]:
    place = at(item, "acknowledgements", index, "run_id")
    if not is_run_id_of(given.run_id, item.name):
        yield Problem(
            place,
            f"{given.run_id} is no run of this campaign",
            f"its runs are called like {first_run_id(item.name, given.at[:10])}",
        )
    used = view.repo.find("campaign-run/v1", given.run_id, item.service)
    if used is not None and used.model is not None and not used.model.campaign.endswith(item.document.digest):
        yield Problem(
            place,
            f"{given.run_id} has been run with other bytes of this campaign: an acknowledgement is used once",
            "acknowledge the next run by its own id",
            (("that run", at(used, "campaign")),),
        )


RULE = Rule(
    "unusable-acknowledgement", Scope.DOCUMENT, Severity.ERROR, "an acknowledgement of a campaign allows nothing", check,
    kinds=("campaign/v1",), contract=("10.3",), since=5,
)  # fmt: skip
