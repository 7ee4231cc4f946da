"""What a trial would do to this host, in a page that is read before anybody says yes (contract 4.3, 4.9, 5.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hio_validate.execute.work import ArmWork, Ceilings, Question, Work
from hio_validate.quantity import span
from hio_validate.report.paragraph import paragraph
from hio_validate.report.summary import counted
from hio_validate.size import shown

WIDTH = 80


def as_text(work: Work, question: str, then: str, before: Mapping[str, Any], width: int = WIDTH) -> str:
    """The page. `question` and `then` (restore-parent, keep-winner) are the plan's, `before` is as run/v1 has `preflight`."""
    sections: list[tuple[str, Sequence[str]]] = [
        (f"{work.job}: what a run of {_name(work.plan)} does to this host", [question]),
        ("What happens to the service", [_service(work, then)]),
        ("What is started", list(_started(work))),
        ("What is asked", [_asked(work)]),
        ("When it ends", list(_ends(work.ceilings))),
        (
            "What it stands on",
            [f"{each.approves}: {_name(each.entry)}, valid until {each.until}" for each in work.approvals],
        ),
        ("What is written", list(_written(work))),
        ("What is known before the start", list(_known(before))),
    ]
    return "\n".join(
        paragraph(title, width, 0) + "".join(paragraph(f"  {each}", width) for each in sentences)
        for title, sentences in sections
    )


def as_shape(work: Work, question: str, then: str, before: Mapping[str, Any]) -> dict[str, object]:
    """The same as one object (version 1, which only gains optional fields)."""
    return {
        "version": 1,
        "job": work.job,
        "plan": work.plan,
        "service": work.service,
        "question": question,
        "during": work.during,
        "then": then,
        "order": list(work.order),
        "restart": work.restart,
        "method": work.method,
        "listens": f"{work.host}:{work.port}" if work.method == "http" else None,
        "commands": {name: arm.command.argv for name, arm in work.arms.items()},
        "requests": len(work.questions) * len(work.order),
        "tasks": None
        if work.tasks is None
        else {"tasks": work.tasks.pin, "items": len(work.tasks.questions), "legs": work.tasks.legs},
        "approvals": [
            {"entry": each.entry, "approves": each.approves, "until": each.until} for each in work.approvals
        ],
        "preflight": dict(before),
    }


def _service(work: Work, then: str) -> str:
    serving = work.serving
    if serving is not None:
        ending = {
            "restore-parent": "Afterwards, however the trial ends, the same command is started again and proven to serve.",
            "keep-winner": "Afterwards the previous stack serves again; the winner is deployed by hio deploy, not by this run.",
        }[then]
        return (
            f"{serving.name} on {serving.host}:{serving.port} is stopped before the first leg. {ending} "
            f"It comes back as the stack {_name(serving.stack or '')}: {' '.join(serving.command.argv if serving.command else ())}"
        )
    if work.during == "leave":
        return f"{work.service} keeps serving; it is not stopped, and it is slower meanwhile."
    return f"Nothing of {work.service} serves here by the plan, so nothing is stopped and nothing is brought back."


def _started(work: Work) -> Iterator[str]:
    times = Counter(work.order)
    yield f"{counted(len(work.order), 'leg')}, one after the other: {', '.join(work.order)}."
    for name, arm in work.arms.items():
        yield f"{name}, {_times(times[name])}: {_told(arm)}"
    if work.method == "llama-bench":
        yield "Each leg is one process of llama-bench; nothing listens on a port."
        return
    again = (
        "Each leg starts a server of its own"
        if work.restart == "every-leg"
        else "A server stays for the next leg of its arm"
    )
    yield f"{again} on {work.host}:{work.port}; the trial is refused where anybody else listens on port {work.port}."


def _told(arm: ArmWork) -> str:
    changes = ", ".join(f"{name} = {value}" for name, value in arm.set.items())
    what = f"the stack {_name(arm.stack)}" + (f" with {changes}" if changes else "")
    return f"{what}: {' '.join(arm.command.argv)}"


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def _asked(work: Work) -> str:
    if work.method == "llama-bench":
        tokens = f"{work.bench['prompt_tokens']} prompt tokens and {work.bench['generated_tokens']} generated tokens"
        return f"No request: llama-bench measures {tokens}, {_times(work.bench['repetitions'])} in each leg."
    phases = Counter(each.phase for each in work.questions)
    parts = [counted(number, f"{phase} request") for phase, number in phases.items()]
    whole = len(work.questions) * len(work.order)
    return (
        f"In each leg {', '.join(parts)}: {whole} in all, one at a time, to {_endpoints(work.questions)}, "
        f"at most {counted(_tokens(work.questions), 'generated token')} a leg, with a {work.cache} cache.{_task_set(work)}"
    )


def _task_set(work: Work) -> str:
    if work.tasks is None:
        return ""
    asked = counted(len(work.tasks.questions), "item")
    where = "in each leg" if work.tasks.legs == "every" else "in the first leg of each arm"
    return f" Then {asked} of the task set {_name(work.tasks.pin)}, {where}, at most {counted(_tokens(work.tasks.questions), 'generated token')}."


def _endpoints(questions: Sequence[Question]) -> str:
    return " and ".join(dict.fromkeys(each.endpoint for each in questions))


def _tokens(questions: Sequence[Question]) -> int:
    return sum(int(each.body.get("n_predict") or each.body.get("max_tokens") or 0) for each in questions)


def _ends(ceilings: Ceilings) -> Iterator[str]:
    yield (
        f"After {span(ceilings.total_s)} at the latest, restoration aside; a leg after {span(ceilings.leg_s)}, "
        f"a start after {span(ceilings.start_s)}."
    )
    limits = [
        f"its processes hold more than {shown(ceilings.memory)} of memory",
        f"the host has less than {shown(ceilings.available)} available",
        f"more than {shown(ceilings.swap)} of one of its processes is swapped out",
    ]
    if ceilings.others_cpu is not None:
        limits.append(f"others use more than {ceilings.others_cpu:g} processors")
    if ceilings.device_memory is not None:
        limits.append(f"more than {shown(ceilings.device_memory)} of device memory is in use")
    if ceilings.temperature_c is not None:
        limits.append(f"a sensor shows more than {ceilings.temperature_c:g} degrees Celsius")
    yield f"At once, and only the trial, where {', '.join(limits[:-1])} or {limits[-1]}."
    yield f"The host is looked at every {ceilings.sample_s:g} s; a leg with a gap of more than {ceilings.gap_s:g} s does not count."


def _written(work: Work) -> Iterator[str]:
    yield "While it runs: the job's folder, outside the repository (journal, logs, answers' times and hashes)."
    yield f"At its end: manifests/services/{work.service}/runs/{work.job}/ in {work.root}, in one piece. Nothing is committed."


def _known(before: Mapping[str, Any]) -> Iterator[str]:
    yield f"Running now: {'; '.join(before.get('active', ())) or 'nothing'}."
    yield f"Jobs that are not closed: {'; '.join(before.get('pending', ())) or 'none'}."
    for each in before.get("last") or ("none",):
        yield f"Last runs of this service: {each}."
    readings = [
        f"{name.replace('-', ' ')} {_reading(name, value)}" for name, value in before.get("host", {}).items()
    ]
    yield f"This host: {', '.join(readings) or 'no reading'}."


def _reading(name: str, value: Any) -> str:
    """A size where it is one: loads and temperatures are small numbers."""
    return shown(value) if isinstance(value, int) and not name.startswith("load") else f"{value}"


def _name(pin: str) -> str:
    return pin.partition("@")[0]
