"""The text of each kind of document in the benchmark's repository: shaped and sized like captured and hand-written ones.

Invariant: a text is a function of its arguments alone, so that the same seed gives the same bytes everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from statistics import fmean

LIBRARIES = (
    ("libggml-base.so.0.16.0", True),
    ("libggml-cpu.so.0.16.0", True),
    ("libggml.so.0.16.0", True),
    ("libllama-common.so.0.0.0", True),
    ("libllama-server-impl.so", True),
    ("libllama.so.0.0.0", True),
    ("libmtmd.so.0.0.0", True),
    ("ld-linux-x86-64.so.2", False),
    ("libc.so.6", False),
    ("libgcc_s.so.1", False),
    ("libgomp.so.1.0.0", False),
    ("libm.so.6", False),
    ("libstdc++.so.6.0.30", False),
)
"""Name, and whether it stands beside the executable."""

MODELINE = "# yaml-language-server: $schema={up}schemas/{kind}.schema.json\n"


@dataclass(frozen=True)
class Serving:
    """One served model at one site, and what its documents have in common."""

    site: str
    model: str
    build: str
    port: int

    @property
    def service(self) -> str:
        return f"{self.site}/{self.model}"


@dataclass(frozen=True)
class Variant:
    """The arguments in which the stacks of one service differ."""

    name: str
    threads: int = 1
    flash: str = "off"
    batch: int = 512
    kv: str = "f16"


def day_of(number: int) -> str:
    """The day of a run and of the entry about it: later ones of a ledger have larger numbers, and no day comes twice."""
    return str(date(2026, 10, 1) + timedelta(days=number))


def digest(*words: object) -> str:
    """A SHA-256 that stands for a file nobody has: the same words give the same digits."""
    return sha256("\0".join(map(str, words)).encode()).hexdigest()


def flags(variant: Variant, model: str, host: str, port: str) -> list[tuple[str, ...]]:
    """The arguments after the program, one flag with its values each."""
    return [
        ("--model", model),
        ("--alias", "served"),
        ("--host", host),
        ("--port", port),
        ("--ctx-size", "8192"),
        ("--parallel", "1"),
        ("--batch-size", str(variant.batch)),
        ("--ubatch-size", "256"),
        ("--cache-type-k", variant.kv),
        ("--cache-type-v", variant.kv),
        ("--cache-ram", "0"),
        ("--no-kv-offload",),
        ("--temp", "0.8"),
        ("--top-k", "40"),
        ("--seed", "7"),
        ("--verbosity", "4"),
        ("--threads", str(variant.threads)),
        ("--flash-attn", variant.flash),
    ]


def _rows(flags_: list[tuple[str, ...]], indent: str) -> str:
    quoted = (
        ", ".join(f'"{word}"' if word[0] in "-0123456789$" else word for word in each) for each in flags_
    )
    return "".join(f"{indent}- [{each}]\n" for each in quoted)


def stack(serving: Serving, variant: Variant) -> str:
    """A stack as people keep it: comments that say why, one flag a line, the environment, an implicit fact."""
    argv = _rows(flags(variant, "${model}", "${host}", "${port}"), "      ")
    return f"""{MODELINE.format(up="../../../../../", kind="stack")}hio: stack/v1
name: {variant.name}
about: {serving.model} on {serving.site}, {variant.threads} decode threads   # what the night shift serves
processes:
  server:
    engine: llama-server
    build: {serving.build}
    argv:            # one flag with its values a line, so that a difference is one line
{argv}    env: {{GGML_NUMA: "off", OMP_WAIT_POLICY: "passive"}}
implicit:
  # set by the runbook before the unit starts; no flag shows it
  server.governor: {{value: performance, because: "the runbook of {serving.site} sets it at boot"}}
"""


def capture(serving: Serving, variant: Variant, stack_name: str, number: int) -> str:
    """What `hio capture` writes: hashes of the mapped files, argv, threads, /props, /slots, facts of the log."""
    home, build = f"/srv/llama/{serving.build}/bin", serving.build
    model = f"/srv/models/{serving.model}.gguf"
    words = [(f"{home}/llama-server",), *flags(variant, model, "127.0.0.1", str(serving.port))]
    day = f"2026-09-{1 + number % 28:02}"
    observed = _CAPTURE.format(
        modeline=MODELINE.format(up="../../../../../", kind="capture"),
        name=f"{variant.name}-{day}",
        service=serving.service,
        stack=stack_name,
        site=serving.site,
        hour=f"{day}T{number % 24:02}",
        host=digest("host", serving.site),
        pid=2000 + number,
        build=build,
        ticks=309_470 + 17 * number,
        home=home,
        executable=digest(build, "llama-server"),
        libraries=_libraries(build, home),
        model=model,
        model_sha256=digest("model", serving.model),
        model_bytes=253_113_024 + 4096 * (number % 7),
        gguf=_GGUF.format(tokens=digest("tokens", serving.model)),
        argv=_rows(words, "        "),
        threads=8 + variant.threads,
        anonymous=82_194_432 + 4096 * number,
        port=serving.port,
        inode=167_315 + number,
    )
    return observed + _reported(serving, variant, model)


def _libraries(build: str, home: str) -> str:
    return "".join(
        f"""      {name}:
        path: {home if own else "/usr/lib/x86_64-linux-gnu"}/{name}
        sha256: {digest(build if own else "system", name)}
        bytes: {100_000 + 37 * len(name) * (own + 1)}
        how: hash
"""
        for name, own in LIBRARIES
    )


def _reported(serving: Serving, variant: Variant, model: str) -> str:
    return _REPORTED.format(
        model=model,
        threads=variant.threads,
        batch=variant.batch,
        kv=variant.kv,
        flash_fact={"on": "enabled", "off": "disabled"}[variant.flash],
        template=digest("template", serving.model),
    )


_CAPTURE = """{modeline}\
# Written by hio capture; never edited. What is absent is unknown.
hio: capture/v1
name: {name}
service: {service}
stack: {stack}
site: {site}
at: {hour}:12:35Z
by: hio 0.1.0
host:
  how: proc
  id: {host}
  cpu: AMD EPYC
  cores: 16
  memory_bytes: 25276502016
  kernel: 6.1.0-31-amd64
  os: Debian GNU/Linux 12 (bookworm)
processes:
  server:
    pid: {pid}
    family: llama-server
    build: {build}
    started:
      how: proc
      at: {hour}:12:32Z
      ticks: {ticks}
    executable:
      path: {home}/llama-server
      sha256: {executable}
      bytes: 17976
      how: hash
    libraries:
{libraries}    artifacts:
      model:
        path: {model}
        sha256: {model_sha256}
        bytes: {model_bytes}
        how: hash
{gguf}    argv:
      how: proc
      value:
{argv}    environ:
      how: proc
      names: [GGML_NUMA, LANG, OMP_WAIT_POLICY, PATH]
      values:
        GGML_NUMA: "off"
        OMP_WAIT_POLICY: passive
    threads:
      how: proc
      count: {threads}
      affinity:
        0-15: {threads}
    memory:
      how: proc
      anonymous_bytes: {anonymous}
      file_bytes: 261111808
      shared_bytes: 0
      swap_bytes: 0
    listening:
      how: proc
      address: 127.0.0.1
      port: {port}
      inode: {inode}
"""

_GGUF = """        gguf:
          version: 3
          tensor_count: 236
          general.architecture: gemma3
          general.type: model
          general.name: Served
          general.basename: served
          general.size_label: 270M
          gemma3.context_length: 32768
          tokenizer.ggml.model: llama
          tokenizer.ggml.pre: default
          tokenizer.ggml.tokens.sha256: {tokens}
          tokenizer.ggml.tokens.count: 262144
          general.quantization_version: 2
          general.file_type: 15
          quantisation: Q4_K_M
"""

_PARAMS = """seed: 7
temperature: 0.800000011920929
dynatemp_range: 0.0
dynatemp_exponent: 1.0
top_k: 40
top_p: 0.949999988079071
min_p: 0.05000000074505806
top_n_sigma: -1.0
xtc_probability: 0.0
xtc_threshold: 0.10000000149011612
typical_p: 1.0
repeat_last_n: 64
repeat_penalty: 1.0
presence_penalty: 0.0
frequency_penalty: 0.0
dry_multiplier: 0.0
dry_base: 1.75
dry_allowed_length: 2
mirostat: 0
mirostat_tau: 5.0
mirostat_eta: 0.10000000149011612
max_tokens: -1
n_predict: -1
n_keep: 0
n_discard: 0
ignore_eos: false
stream: false
n_probs: 0
min_keep: 0
chat_format: Content-only
reasoning_format: none
reasoning_in_content: false
samplers: penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature
speculative.types: none
timings_per_token: false
post_sampling_probs: false
backend_sampling: false"""

_REPORTED = (
    """    health:
      how: health
      facts:
        status: ok
    props:
      how: props
      facts:
"""
    + "".join(f"        default_generation_settings.params.{line}\n" for line in _PARAMS.splitlines())
    + """        default_generation_settings.n_ctx: 8192
        total_slots: 1
        model_alias: served
        model_ftype: Q4_K - Medium
        model_path: {model}
        modalities.vision: false
        modalities.video: false
        modalities.audio: false
        endpoint_slots: true
        endpoint_props: false
        endpoint_metrics: false
        ui: true
        chat_template_sha256: {template}
        chat_template_caps.supports_object_arguments: false
        chat_template_caps.supports_parallel_tool_calls: false
        chat_template_caps.supports_preserve_reasoning: false
        chat_template_caps.supports_string_content: true
        chat_template_caps.supports_system_role: true
        chat_template_caps.supports_tool_calls: false
        chat_template_caps.supports_tools: false
        chat_template_caps.supports_typed_content: false
        build_info: b0-unknown
        cors_proxy_enabled: false
    slots:
      how: slots
      facts:
        0.n_ctx: 8192
        0.speculative: false
        0.is_processing: false
    models:
      how: models
      facts:
        0.id: served
        0.aliases: served
        0.owned_by: llamacpp
        0.meta.vocab_type: 1
        0.meta.n_vocab: 262144
        0.meta.n_ctx: 8192
        0.meta.n_ctx_train: 32768
        0.meta.n_embd: 640
        0.meta.n_params: 268098176
        0.meta.size: 246587904
        0.meta.ftype: Q4_K - Medium
    log:
      how: log
      facts:
        compiler: GNU 12.2.0 for Linux x86_64
        n_threads: {threads}
        n_cpus: 16
        n_threads_batch: {threads}
        n_threads_http: 15
        buffer.CPU_Mapped.model_mib: 235.16
        buffer.CPU_REPACK.model_mib: 12.66
        n_seq_max: 1
        n_ctx: 8192
        n_ctx_seq: 8192
        n_batch: {batch}
        n_ubatch: 256
        causal_attn: true
        flash_attn: {flash_fact}
        kv_unified: false
        buffer.CPU.output_mib: 1.0
        buffer.CPU.kv_mib: 17.25
        buffer.CPU.compute_mib: 15.63
        n_slots: 1
        n_ctx_slot: 8192
        prompt_cache_mib: 0
        n_ctx_checkpoints: 32
        cache_type_k: {kv}
        cache_type_v: {kv}
"""
)


def engine(build: str, help_sha256: str) -> str:
    """A build with its help text, its source as a person recorded it, and the hashes of its own files."""
    libraries = "".join(f"    {name}: {digest(build, name)}\n" for name, own in LIBRARIES if own)
    return f"""{MODELINE.format(up="../../../../", kind="engine")}hio: engine/v1
name: {build}
family: llama-server
help:
  file: help.txt
  sha256: {help_sha256}
source:
  project: llama.cpp
  revision: {build}
  flags: {{GGML_NATIVE: "OFF", LLAMA_CURL: "OFF"}}   # as the build host's log says
  compiler: GNU 12.2.0
identity:
  kind: native
  executable: {digest(build, "llama-server")}
  libraries:
{libraries}"""


def site(name: str, services: list[Serving]) -> str:
    """A host and where each of its services listens and finds its files."""
    places = "".join(
        f"""  {each.model}:
    host: 127.0.0.1
    port: {each.port}
    unit: llama-{each.model}.service
    paths:
      model: /srv/models/{each.model}.gguf
    limits: {{memory_max: 16GiB, tasks_max: 512}}
"""
        for each in services
    )
    empty = "" if services else "services: {}   # a spare host: nothing runs here yet\n"
    return f"""{MODELINE.format(up="../../", kind="site")}hio: site/v1
name: {name}
about: a shared host in rack {name[-2:]}
{"services:" + chr(10) + places if services else empty}"""


def rows(values: dict[str, list[tuple[float, float, float]]]) -> str:
    """The raw rows of a run: arm -> (decode token/s, prefill token/s, wall s) of each leg."""
    lines = ["leg\tarm\tdecode_tps\tprefill_tps\twall_s"]
    legs = [
        (arm, leg)
        for pair in zip(*values.values(), strict=True)
        for arm, leg in zip(values, pair, strict=True)
    ]
    lines += [f"{at}\t{arm}\t{leg[0]}\t{leg[1]}\t{leg[2]}" for at, (arm, leg) in enumerate(legs, 1)]
    return "\n".join(lines) + "\n"


def run(
    serving: Serving, name: str, number: int, arms: dict[str, tuple[str, str, str]], raw: tuple[str, int]
) -> str:
    """A run. `arms`: name -> (pinned stack, delta as a flow map, pinned capture); `raw`: its SHA-256 and rows."""
    sides = "".join(
        f"""  "{arm}":
    stack: {stack_pin}
    set: {delta}
    captures:
      - {capture_pin}
"""
        for arm, (stack_pin, delta, capture_pin) in arms.items()
    )
    return f"""{MODELINE.format(up="../../../../../../", kind="run")}hio: run/v1
name: {name}
service: {serving.service}
at: {day_of(number)}T04:00:00Z
scope:
  host: {digest("host", serving.site)}
  model: {digest("model", serving.model)}
  fixture: tool-loop-16k
  regime: warm prefix, one stream
arms:
{sides}raw: {{file: rows.tsv, sha256: {raw[0]}, format: tsv, rows: {raw[1]}, arm: arm}}
columns:
  leg: {{unit: "1", about: order in which the legs ran}}
  arm: {{unit: text}}
  decode_tps: {{unit: token/s, better: higher}}
  prefill_tps: {{unit: token/s, better: higher, about: "fresh prompt, no cached prefix"}}
  wall_s: {{unit: s, better: lower}}
unknown: [prompt hash, quality gate]   # the harness of that week kept neither
judged_by: {{hio: 0.1.0, rules: 1}}
"""


def change(values: dict[str, list[tuple[float, float, float]]]) -> float:
    """What an entry publishes of the decode speed: 100 * (second arm / first arm - 1) of the means, two digits."""
    first, second = (fmean(leg[0] for leg in legs) for legs in values.values())
    return round(100 * (second / first - 1), 2)


def entry(serving: Serving, id_: str, number: int, after: str, body: str) -> str:
    """One decision of a ledger; `after` is the pinned tip, empty for the first entry."""
    return f"""{MODELINE.format(up="../../../../", kind="entry")}hio: entry/v1
id: {id_}
service: {serving.service}
after: [{f'"{after}"' if after else ""}]
by: operator
at: {day_of(number)}T16:00:00Z
{body}judged_by: {{hio: 0.1.0, rules: 1}}
"""


def matrix(serving: Serving, name: str, candidate: Variant, captures: str, rows_: str, tip: str) -> str:
    """The inheritance matrix of one candidate; `captures` is its line about them, empty where none were taken."""
    return f"""{MODELINE.format(up="../../../", kind="matrix")}hio: matrix/v1
name: {name}
service: {serving.service}
parent: base
candidate: {candidate.name}
{captures}workload: {{fixture: tool-loop-16k, regime: "warm prefix, one stream"}}
as_of: [{tip}]
rows:
{rows_}"""
