"""The command line: verbs in groups, each imported when it is called. Parse, call, print, exit; no logic."""

from __future__ import annotations

from importlib import import_module

import click

from hio_validate import __version__
from hio_validate.spelling import nearest

_GROUPS = {
    "What runs": {
        "capture": ("capture:capture", "Write down what a live process is."),
        "engine": ("engine:engine", "Learn the settings of an engine's build."),
        "import": ("import_:import_", "Read results, and configurations, of other tools."),
        "settings": ("settings:settings", "Show the settings of a stack in force, with their origin."),
        "diff": (
            "diff:diff",
            "Say what differs between two stacks, captures, processes, units or command lines.",
        ),
    },
    "What is inherited": {
        "matrix": ("matrix:matrix", "Scaffold and show inheritance matrices."),
        "validate": ("validate:validate", "Check the documents of a repository."),
        "explain": ("explain:explain", "Say what a rule means and how to satisfy it."),
        "schema": ("schema:schema", "Write or check the JSON Schemas."),
    },
    "What is measured": {
        "probe": ("probe:probe", "Measure what this machine can do at best; read a model's shape."),
        "estimate": ("estimate:estimate", "Say what bounds a workload before anybody measures it."),
        "plan": ("plan:plan", "Begin a prespecified experiment, and check it before it runs."),
        "run": ("run_plan:run", "Run a prespecified experiment on this host, under guard."),
        "runs": ("runs:runs", "List the trials of this host; recover one that nobody ended."),
        "stop": ("stop:stop", "End a trial, and only what is the trial's."),
        "campaign": ("campaign:campaign", "Run several plans around one question, under one run id."),
        "champion": (
            "champion:champion",
            "Say which cell of a campaign is the best measured one, if any is.",
        ),
        "quality": ("quality:quality", "Keep what harnesses said of answers, and gate one by another."),
        "verdict": ("verdict:verdict", "Say what a run shows, and what it may be used for."),
        "baseline": (
            "baseline:baseline",
            "Record what later runs are held against, and hold one against it.",
        ),
        "compare": ("compare:compare", "Compare two measurements, or say why they are not comparable."),
    },
    "What is decided": {
        "ledger": ("ledger:ledger", "Append to the ledger of a service and read it."),
        "status": ("status:status", "Say how far every stack has come, and what it lacks."),
        "log": ("log:log", "Tell the life of one setting."),
    },
    "What serves": {
        "known-good": ("known_good:known_good", "Keep what a model needs, and hold a stack against it."),
        "qualify": ("qualify:qualify", "Try on a live process what serving needs, and write the receipt."),
        "render": ("render:render", "Render a stack as the files that start it, each read back."),
        "deploy": ("deploy:deploy", "Switch what serves on this host, prove it, or take it back."),
        "verify": ("verify:verify", "Prove that what serves is the stack."),
        "rollback": ("rollback:rollback", "Go back to what served before the deployment, and prove it."),
    },
    "What is published": {
        "report": (
            "report:report",
            "Publish a run or a campaign: what serves, what was chosen, how far it holds.",
        ),
        "export": ("export:export", "Write a run in the format of another tool, with its tier."),
    },
    "What is kept": {
        "review": ("review:review", "Say what a change of documents changes in what serves."),
        "checkpoint": ("checkpoint:checkpoint", "Commit the files that are yours, judged before."),
        "audit": ("audit:audit", "Prove from git that no recorded document was ever altered."),
    },
}
"""Verbs as a person meets them: heading -> verb -> where it is, and what it does."""

_VERBS = {name: verb for group in _GROUPS.values() for name, verb in group.items()}


class _Verbs(click.Group):
    """Imports a verb's module only when that verb is called: start-up costs what the verb costs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        module, _, name = _VERBS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"hio_validate.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            near = nearest(args[0], _VERBS)
            ctx.fail(
                f"no verb {args[0]!r}." + (f" Did you mean {near}?" if near else " hio --help lists them.")
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, _VERBS))
        for heading, group in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), summary) for name, (_, summary) in group.items()])


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="hio %(version)s")
def cli() -> None:
    """Keep what serves your model as reviewed YAML, and block every undocumented difference.

    Exit codes: 0 no error; 1 errors, or gates that were asked for; 2 usage; 3 could not check.
    """


def run() -> int:
    """Run what the command line asks for; its exit code."""
    try:
        code = cli.main(prog_name="hio", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    return code if isinstance(code, int) else 0
