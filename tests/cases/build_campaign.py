"""A small campaign with the shape of real ones: a two-process parent whose help nobody kept, a one-process
candidate with another vocabulary, imported history, a change, an exclusion, what was conditional on it, a
bundle, and a hand-kept table that leaves things out.

The documents are written here rather than kept as files because they pin each other.
"""

from __future__ import annotations

from pathlib import Path

from hio_validate.source import digest_of

SERVICE = "desk/tiny"
ROOM = f"manifests/services/{SERVICE}"

PARENT = """\
hio: stack/v1
name: P0
processes:
  prefill:
    engine: unknown
    facts: {ubatch-size: 256, attention-mode: f32}
  worker:
    engine: llama-server
    argv:
      - ["--model", "${model}"]
      - ["--threads", "8"]
      - ["--threads-batch", "16"]
      - ["--ctx-size", "65536"]
      - ["--batch-size", "1024"]
      - ["--cache-type-k", "f16"]
      - ["--spec-draft-n-max", "3"]
      - ["--model-draft", "${draft}"]
      - ["--host", "${host}"]
    env: {SMALL_BATCH: "1", TILE4: "1", TILE3: "1", IO_PROFILE: "0"}
implicit:
  worker.threadpools: {value: "8/16", because: created by common_init}
  worker.top-k: {value: 64, because: sampling metadata of the model}
"""

CANDIDATE = """\
hio: stack/v1
name: Z2
processes:
  server:
    engine: one-process-server
    argv:
      - ["--model", "${model}"]
      - ["--draft", "${draft}"]
      - ["--host", "${host}"]
      - ["--threads", "8"]
      - ["--threads-batch", "16"]
      - ["--ctx-size", "16384"]
      - ["--batch-size", "256"]
      - ["--ubatch-size", "256"]
      - ["--draft-max", "3"]
      - ["--threadpools", "0"]
      - ["--model-sampling", "1"]
    env: {ATTENTION_MODE: f32, VISIBLE_DEVICES: "0"}
implicit:
  server.four-row-schedule: {value: "on", because: compiled in}
  server.cache-type-k: {value: F16, because: source code}
"""

FAMILY = """\
hio: family/v1
name: one-process-server
classes: {locator: [model, draft], endpoint: [host]}
case-insensitive: [cache-type-k]
"""

MATRIX = """\
hio: matrix/v1
name: P0-to-Z2
service: desk/tiny
parent: P0
candidate: Z2
as_of: [schedule]
workload: {fixture: focused-512, regime: cold}
pairs:
  draft.n-max: [worker --spec-draft-n-max, server --draft-max]
  draft.model: [worker --model-draft, server --draft]
  attention-mode: [prefill attention-mode, server ATTENTION_MODE]
  small-batch: [worker SMALL_BATCH, server SMALL_BATCH]
  tile4: [worker TILE4, server TILE4]
  tile3: [worker TILE3, server TILE3]
rows:
  - preserved: [threads, threads-batch, ubatch-size, attention-mode, draft.n-max]
  - preserved: [cache-type-k, top-k]
    through: implicit
  - {factor: four-row-schedule, from: absent, to: "on", disposition: changed, evidence: schedule}
  - {factor: threadpools, from: "8/16", to: "0", disposition: excluded, evidence: pools}
  - {factor: small-batch, from: "1", to: absent, disposition: excluded, evidence: small-batch}
  - {factor: tile4, from: "1", to: absent, disposition: excluded, requires: small-batch}
  - {factor: tile3, from: "1", to: absent, disposition: excluded, requires: tile4}
  - bundle: capacity
    disposition: changed
    members: [ctx-size, batch-size]
    question: does one process replace the pair for prompts up to 16k?
defaults: {parent: unknown, candidate: unknown, disposition: retest, because: neither help text was kept}
"""

SCHEDULE_ROWS = """\
leg\tarm\tdecode_tps\tdrafted\taccepted
1\toff\t20.10\t96\t93
2\ton\t22.40\t96\t93
3\ton\t22.20\t96\t93
4\toff\t19.90\t96\t93
"""

SMALL_BATCH_ROWS = """\
leg\tarm\tdecode_tps\tdrafted\taccepted
1\toff\t20.00\t96\t93
2\ton\t13.00\t96\t93
3\ton\t13.20\t96\t93
4\toff\t20.20\t96\t93
"""

POOLS_ROWS = """\
leg\tarm\tdecode_tps\tdrafted\taccepted
1\toff\t20.00\t96\t93
2\ton\t19.90\t96\t93
3\ton\t19.50\t96\t93
4\toff\t20.10\t96\t93
"""

BATCH_THREADS_ROWS = """\
leg\tarm\tdecode_tps\tdrafted\taccepted
1\tb16\t20.00\t96\t93
2\tb12\t16.90\t96\t93
3\tb8\t14.80\t96\t93
4\tb8\t14.90\t96\t93
5\tb12\t16.80\t96\t93
6\tb16\t20.40\t96\t93
"""

MATCHED_ROWS = """\
leg\tarm\tdecode_tps\tgenerated\tdrafted\taccepted\ttarget_batches
1\twhole\t10.00\t21\t15\t12\t
2\tsplit\t9.52\t21\t14\t13\t7
3\tlocal\t9.30\t21\t15\t12\t8
4\tthree\t11.80\t21\t18\t14\t6
"""
"""One run a row, and other work in each: the shape of a table that somebody kept by hand."""


class Campaign:
    """Writes documents in the order in which they came to be, pinning what was there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tip = ""

    def write(self, file: str, text: str) -> str:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return digest_of(text.encode())

    def stack(self, text: str) -> str:
        name = text.partition("name: ")[2].partition("\n")[0]
        return f"{name}@{self.write(f'{ROOM}/stacks/{name}.yaml', text)}"

    def run(self, name: str, stack: str, deltas: dict[str, str], rows: str) -> str:
        self.write(f"{ROOM}/runs/{name}/rows.tsv", rows)
        arms = "".join(
            f'  "{arm}": {{stack: "{stack}", set: {{{delta}}}}}\n' for arm, delta in deltas.items()
        )
        sha256 = digest_of(rows.encode()).removeprefix("sha256:")
        text = (
            f"hio: run/v1\nname: {name}\nservice: {SERVICE}\nimported: true\n"
            f"scope: {{fixture: focused-512, regime: cold}}\narms:\n{arms}"
            f'raw: {{file: rows.tsv, sha256: "{sha256}", format: tsv, rows: {rows.count(chr(10)) - 1}, arm: arm}}\n'
            "columns:\n  leg: {unit: '1'}\n  arm: {unit: text}\n  decode_tps: {unit: token/s, better: higher}\n"
            + "".join(f"  {name}: {{unit: '1'}}\n" for name in rows.split("\n")[0].split("\t")[3:])
            + "unknown: [leg timestamps, server log]\n"
        )
        return f"{name}@{self.write(f'{ROOM}/runs/{name}/run.yaml', text)}"

    def entry(self, id_: str, kind: str, at: str, body: str) -> None:
        text = (
            f"hio: entry/v1\nid: {id_}\nservice: {SERVICE}\nafter: [{self.tip}]\nkind: {kind}\nby: ada\n"
            f'at: "{at}"\nimported: true\n{body}'
        )
        self.tip = f'"{id_}@{self.write(f"ledger/{SERVICE}/2026/{id_}.yaml", text)}"'


def build(root: Path) -> Campaign:
    """The campaign as its authors kept it."""
    campaign = Campaign(root)
    campaign.write("manifests/engines/one-process-server/family.yaml", FAMILY)
    parent, candidate = campaign.stack(PARENT), campaign.stack(CANDIDATE)
    first = campaign.stack(
        CANDIDATE.replace("name: Z2", "name: Z1").replace(
            '{value: "on", because: compiled in}', '{value: "off", because: not compiled in}'
        )
    )
    pools = campaign.run("pools", first, {"off": 'threadpools: "0"', "on": 'threadpools: "1"'}, POOLS_ROWS)
    small = campaign.run("small-batch", first, {"off": "", "on": 'SMALL_BATCH: "1"'}, SMALL_BATCH_ROWS)
    schedule = campaign.run(
        "schedule", candidate, {"off": 'four-row-schedule: "off"', "on": ""}, SCHEDULE_ROWS
    )
    campaign.run(
        "batch-threads",
        candidate,
        {f"b{n}": f'threads-batch: "{n}"' for n in (16, 12, 8)},
        BATCH_THREADS_ROWS,
    )
    campaign.entry("baseline", "baseline", "2026-09-11T06:00:00Z", f'pins: {{stack: "{parent}"}}\n')
    campaign.entry("first", "baseline", "2026-09-16T08:00:00Z", f'pins: {{stack: "{first}"}}\n')
    campaign.entry(
        "pools", "negative-control", "2026-09-16T09:00:00Z",
        f'factor: threadpools\npins: {{run: "{pools}"}}\n'
        'result: {metric: decode_tps, from: "off", to: "on", statistic: mean, change_percent: -1.98}\n',
    )  # fmt: skip
    campaign.entry(
        "small-batch", "negative-control", "2026-09-16T10:00:00Z",
        f'factor: SMALL_BATCH\npins: {{run: "{small}"}}\nblocks: [TILE4, TILE3]\n'
        'result: {metric: decode_tps, from: "off", to: "on", statistic: mean, change_percent: -34.83}\n',
    )  # fmt: skip
    campaign.entry(
        "schedule", "increment", "2026-09-16T23:00:00Z",
        f'factor: four-row-schedule\npins: {{run: "{schedule}", stack: "{candidate}"}}\n'
        'result: {metric: decode_tps, from: "off", to: "on", statistic: mean, change_percent: 11.5}\n',
    )  # fmt: skip
    campaign.write(f"matrix/{SERVICE}/P0-to-Z2.yaml", MATRIX)
    return campaign


def build_matched(root: Path) -> None:
    """The campaign, and a table of matched runs beside it."""
    campaign = build(root)
    stack = (root / f"{ROOM}/stacks/Z2.yaml").read_text(encoding="utf-8")
    deltas = {name: f"global-stream: {name}" for name in ("split", "local", "three")}
    campaign.run("matched", f"Z2@{digest_of(stack.encode())}", {"whole": ""} | deltas, MATCHED_ROWS)
