"""hio stop: end a trial, and only what is the trial's."""

from __future__ import annotations

import signal

import click

from hio_validate.cli.shared import show
from hio_validate.cli.shared import stop as refuse
from hio_validate.execute import jobs, owned


@click.command()
@click.argument("job", required=False)
@click.option("--yes", is_flag=True, help="Do it; without it the page only says what would be ended.")
def stop(job: str | None, yes: bool) -> None:
    """End JOB (default: the one that runs): its processes, then the service is brought back and proven."""
    state = jobs.state_folder()
    running = [each for each in jobs.all_jobs(state) if each.state == "running"]
    chosen = jobs.find(state, job) if job else running[0] if running else None
    if chosen is None:
        refuse(f"no job is called {job}; hio runs lists them" if job else "no job runs on this host", 2)
    if chosen.state == "unsafe":
        refuse(f"nobody is left to stop {chosen.name}: hio runs --recover {chosen.name} ends what is left", 1)
    if chosen.state != "running":
        show(f"{chosen.name} does not run: it is {chosen.state}\n")
        return
    show("".join([f"{chosen.name}: ends\n", *_ended(chosen)]))
    if not yes:
        show("nothing has happened yet; add --yes to stop it\n")
        return
    supervisor = chosen.keepers.get("supervisor")
    if supervisor is None or not owned.send(supervisor, signal.SIGTERM):
        show("its supervisor is gone already; its guardian brings the host back\n")
    show(f"asked; hio runs {chosen.name} --follow tells when the host is back\n")


def _ended(job: jobs.Job) -> list[str]:
    seen = {}
    for each in job.events:
        if each.event == "process":
            seen[owned.identity_from(each.data["who"])] = each.data["role"]
    lines = [f"  {role} (process {who.pid})\n" for who, role in seen.items() if owned.is_alive(who)]
    back = (
        "  and what they started; then the service is restored\n"
        if job.work.serving
        else "  and what they started\n"
    )
    return [*(lines or ["  no process of a leg at this moment\n"]), back]
