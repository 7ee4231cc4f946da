"""A trial that is interrupted somewhere, and goes on: for small engines and for the real one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hio_validate.execute import launch, lock, recovery
from hio_validate.execute.jobs import Job
from hio_validate.execute.work import Work
from tests.execute import tiny
from tests.execute.conftest import Begin, Trial

ORDER = ("one", "two", "one")
WHERE = {
    "in the first leg": [],
    "in a leg between": [1],
    "in the last leg": [1, 2],
    "between two legs": [1],
    "while the service is restored": [1],
    "while the run is recorded": [1],
}
"""Where the supervisor is killed -> places of the legs that are complete by then."""


def interrupted(begin: Begin, what: Work, where: str, loading: Path | None = None) -> Trial:
    """A trial of ORDER whose supervisor was killed somewhere, and that its guardian closed.

    `loading` keeps the service from being ready while it is there.
    """
    trial = begin(what, at={"in the first leg": 1, "in the last leg": 3, "between two legs": 1}.get(where, 2))
    supervisor = trial.supervisor
    if where == "between two legs":
        trial.is_in_leg(1)
        trial.hold(tiny.BETWEEN)
        trial.release()
        trial.reaches("leg-ended")
    else:
        trial.is_in_leg(1 + len(WHERE[where]))
    if where.startswith("while"):
        trial.hold(tiny.RECORDING)
        if loading and "restored" in where:
            loading.touch()
        os.kill(supervisor, signal.SIGTERM)
        trial.reaches("restoring" if "restored" in where else "restored")
    os.kill(supervisor, signal.SIGKILL)
    holds = [trial.folder / each for each in (tiny.HOLD, tiny.BETWEEN, tiny.RECORDING)]
    for each in [*holds, *([loading] if loading else [])]:
        each.unlink(missing_ok=True)
    trial.ends()
    return trial


def goes_on(trial: Trial) -> Job:
    """Resume a job, as `hio run --resume` does, and wait for its end."""
    assert recovery.why_not_resumable(trial.job, tiny.PARTS) is None
    with lock.take() as taken:
        recovery.resume(trial.job)
        trial.guardian.wait()
        trial.guardian = launch.start(trial.folder, taken, tiny.GUARDIAN).process
    trial.reaches("guarded", 2)
    return trial.ends()


def assert_only_the_rest_ran(before: Job, job: Job, done: list[int]) -> None:
    """The same plan came to its end, and no leg that was complete was run again."""
    left = [place for place in (1, 2, 3) if place not in done]
    assert [leg["place"] for leg in before.legs] == done
    assert job.events[: len(before.events)] == before.events
    anew = [each.data["place"] for each in job.events[len(before.events) :] if each.event == "leg-started"]
    assert anew == left == job.current("resumed")["left"]  # type: ignore[index]
    assert [leg["place"] for leg in job.legs] == [1, 2, 3]
    assert [leg["arm"] for leg in job.legs] == list(ORDER)
    assert len({leg["number"] for leg in job.legs}) == len(ORDER)
    assert job.work_is_as_prepared
    assert job.last("closed")["outcome"] == "completed"  # type: ignore[index]
