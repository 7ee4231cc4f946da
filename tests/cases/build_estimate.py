"""A campaign as far as an estimate needs it: a model of which little is stated, four tokens verified a pass, and speeds.

The stack drafts three tokens a pass and nearly all of them are accepted; decode was measured with 16 batch threads and
fewer, and grew with each of them. Nobody measured the machine.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tests.cases.build_campaign import ROOM, SERVICE, Campaign

MODEL = sha256(b"a model file that is not kept").hexdigest()
HOST = sha256(b"a machine under a desk").hexdigest()

FIXTURE = """\
hio: fixture/v1
name: focused-512
prompt: Write on.
max_tokens: 512
ignore_eos: true
seed: 1
sampling: {temperature: 0}
draft: {min: 1, max: 3}
"""

STACK = """\
hio: stack/v1
name: P1
processes:
  server:
    engine: llama-server
    argv:
      - ["--model", "${model}"]
      - ["--threads", "8"]
      - ["--threads-batch", "16"]
      - ["--ubatch-size", "256"]
      - ["--cache-type-k", "f16"]
      - ["--cache-type-v", "f16"]
      - ["--spec-type", "draft-mtp"]
      - ["--spec-draft-n-max", "3"]
      - ["--port", "${port}"]
"""

SHAPE = f"""\
hio: shape/v1
name: tiny-q4
service: {SERVICE}
about: four thousand million weights that count, by the name of its file; nobody read its header
source: {{format: stated, sha256: "{MODEL}", says: the name of the file}}
attention:
  - {{layers: 28, kv_heads: 2, key_size: 256, value_size: 256, window: 512}}
  - {{layers: 7, kv_heads: 2, key_size: 256, value_size: 256}}
weights:
  - {{role: feed-forward, type: Q4_0, elements: 4000000000, bytes: 2250000000, tensors: 200}}
unknown: [the header of the file, layers that draft]
"""

THREADS = """\
leg\tarm\tdecode_tps\tevaluated\tcached\tgenerated\tdrafted\taccepted
1\tb16\t23.00\t340\t0\t512\t384\t381
2\tb12\t19.40\t340\t0\t512\t384\t381
3\tb8\t15.20\t340\t0\t512\t384\t381
4\tb8\t15.10\t340\t0\t512\t384\t381
5\tb12\t19.30\t340\t0\t512\t384\t381
6\tb16\t23.50\t340\t0\t512\t384\t381
"""

STREAMED_STACK = """\
hio: stack/v1
name: S1
processes:
  server:
    engine: llama-server
    argv:
      - ["--model", "${model}"]
      - ["--threads", "12"]
      - ["--threads-batch", "1"]
      - ["--ubatch-size", "768"]
      - ["--spec-type", "draft-mtp"]
      - ["--port", "${port}"]
    env: {STREAM_PAIRS: "2"}
"""

STREAMED_SHAPE = f"""\
hio: shape/v1
name: large-q4
service: {SERVICE}
about: more than its device holds, so that a part is sent there for each pass; by the name of its file
source: {{format: stated, sha256: "{MODEL}", says: the name of the file}}
weights:
  - {{role: feed-forward, type: Q4_K, elements: 27000000000, bytes: 15187500000, tensors: 500}}
unknown: [the header of the file, how its layers attend, which tensors are sent for each pass]
"""

STREAMED = """\
leg\tarm\tdecode_tps\tevaluated\tcached\tgenerated\tdrafted\taccepted
1\twhole\t6.70\t8010\t0\t64\t45\t40
"""
"""A model larger than its device, a part of it sent there for each pass; one run."""


def _run(campaign: Campaign, name: str, stack: str, fixture: str, deltas: dict[str, str], rows: str) -> None:
    campaign.run(name, stack, deltas, rows)
    file = campaign.root / f"{ROOM}/runs/{name}/run.yaml"
    said = file.read_text(encoding="utf-8")
    scope = f'scope: {{fixture: focused-512, regime: "cold, one request at a time", model: "{MODEL}", host: "{HOST}"}}'
    said = said.replace("scope: {fixture: focused-512, regime: cold}", f'{scope}\nfixtures: ["{fixture}"]')
    file.write_text(said, encoding="utf-8")


def build_estimated(root: Path, rows: str = THREADS, stack: str = STACK) -> None:
    """One stack, its model as stated, the sweep of its batch threads; no ceilings."""
    campaign = Campaign(root)
    made = campaign.stack(stack)
    fixture = f"focused-512@{campaign.write(f'{ROOM}/fixtures/focused-512.yaml', FIXTURE)}"
    campaign.write(f"{ROOM}/shapes/tiny-q4.yaml", SHAPE)
    deltas = {"b16": "", "b12": 'threads-batch: "12"', "b8": 'threads-batch: "8"'}
    _run(campaign, "batch-threads", made, fixture, deltas, rows)


def build_streamed(root: Path, rows: str = STREAMED) -> None:
    """A model larger than its device: one run, nothing known of the device or of what is sent to it."""
    campaign = Campaign(root)
    stack = campaign.stack(STREAMED_STACK)
    fixture = f"focused-512@{campaign.write(f'{ROOM}/fixtures/focused-512.yaml', FIXTURE)}"
    campaign.write(f"{ROOM}/shapes/large-q4.yaml", STREAMED_SHAPE)
    _run(campaign, "matched", stack, fixture, {"whole": ""}, rows)
