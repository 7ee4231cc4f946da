"""What to type for an experiment: commands that begin its plan, ready but for what only a person can say."""

from __future__ import annotations

import shlex

from hio_validate.costs.routes import ROUTES
from hio_validate.estimating.bounds.command import command
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.recorded import Recorded
from hio_validate.estimating.context.spelled import SPELLED
from hio_validate.evidence.dialects import engine_of
from hio_validate.models.estimate import Candidate
from hio_validate.settings.request import DIALECTS

_ESTIMATE = "hio estimate STACK --fixture FIXTURE"
_PROBED = ("memory-read", "matmul")
_FILES = frozenset(name for names in SPELLED["weights-file"].values() for name in names)


def plan_of(inputs: Inputs, candidate: Candidate) -> str | None:
    """The command that begins the plan of a candidate; None where no setting's value says what is changed.

    FILE stands for the path of another file of weights, which only a person knows (the candidate's `needs`).
    """
    _, arrow, value = (candidate.change or "").partition(" -> ")
    if candidate.factor is None or not arrow:
        return None
    if candidate.factor.partition(".")[2] in _FILES:
        value = "FILE"
    return _typed(inputs, "--stack", inputs.stack.name, "--set", f"{candidate.factor}={value}")


def baseline_of(inputs: Inputs) -> str:
    """The command that begins the plan of the stack against itself: its baseline, and its noise."""
    return _typed(inputs, "--a-a", "--stack", inputs.stack.name)


def observed_of(inputs: Inputs) -> str:
    """The command that keeps what another program measured of the stack; RESULTS stands for the file that it wrote."""
    return shlex.join(
        ["hio", "import", "RESULTS", "--service", inputs.service, "--stack", inputs.stack.name, "--write"]
    )


def shape_of(inputs: Inputs) -> str:
    """The command that reads the shape of the model: of the file that a capture names, else of FILE."""
    view = inputs.view
    file = Recorded(view, inputs.service, inputs.stack).model_file if view is not None else None
    return shlex.join(
        ["hio", "probe", "model", file or "FILE", "--service", inputs.service, "--hash", "--write"]
    )


def again(inputs: Inputs, *assume: str) -> str:
    """The same estimate, all that was asked with it, and what a person is to state."""
    return command(
        inputs.service,
        inputs.workload,
        inputs.target,
        documents=inputs.named,
        stated=inputs.stated,
        ask=assume,
    )


def route_of(inputs: Inputs, route: str) -> str:
    """What to type for a route, one command a line, with what the inputs say in the place of its words in capitals."""
    builds = [process.build for process in inputs.stack.model.processes.values() if process.build]
    fixture = inputs.fixture.name if inputs.fixture is not None else "FIXTURE"
    known = {
        "STACK": inputs.stack.name,
        "FIXTURE": fixture,
        "PATH": inputs.path,
        **({"BUILD": builds[0]} if builds else {}),
    }
    lines = ROUTES[route].commands
    probes = any(line.startswith("hio probe engine") for line in lines)
    return "\n".join(
        _with_it(inputs, line.removeprefix(_ESTIMATE), probes)
        if line.startswith(_ESTIMATE)
        else " ".join(shlex.quote(known[word]) if word in known else word for word in line.split(" "))
        for line in lines
    )


def _with_it(inputs: Inputs, more: str, probes: bool) -> str:
    """This estimate again with what a route brought: its rates are used where neither statements nor documents go before them."""
    documents = [each for each in inputs.named if not (probes and each[0] == "--ceilings")]
    stated = {
        name: said
        for name, said in inputs.stated.items()
        if f" --assume {name}=" not in more and not (probes and name in _PROBED)
    }
    return command(inputs.service, inputs.workload, inputs.target, documents=documents, stated=stated) + more


def _typed(inputs: Inputs, *words: str) -> str:
    fixture = ["--fixture", inputs.fixture.name] if inputs.fixture is not None else []
    told = ["--service", inputs.service, *words, *fixture, "--metric", _seen(inputs)]
    return shlex.join(["hio", "plan", "new", *told])


_AS_SEEN = {"decode_tps": "tpot_ms", "prefill_tps": "ttft_ms"}


def _seen(inputs: Inputs) -> str:
    """The metric that decides in a plan: the target's, as a client sees it where the server does not time itself."""
    metric, engine = inputs.target.metric, engine_of(inputs.stack)
    timed = engine is None or DIALECTS[engine].times_itself
    return metric if timed else _AS_SEEN.get(metric, metric)
