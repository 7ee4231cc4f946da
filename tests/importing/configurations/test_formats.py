"""Foreign configurations become drafts: every format by its content, what nobody can know listed with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.importing.cannot import CannotImport
from tests.importing.configurations.imported import argv, env, imported, one, opened, words

JSON = '{"cudagraph_mode":"FULL_DECODE_ONLY","mode":0}'


# --- command lines ----------------------------------------------------------------------------------------


def test_a_command_line(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "CUDA_VISIBLE_DEVICES=0 numactl --membind=0 /opt/llama-server -m /m/a.gguf \\\n  -t 8 --host 0.0.0.0 --port 8080\n",
    )
    assert draft.data["processes"]["server"]["engine"] == "llama-server"
    assert words(draft) == ["-m", "${model}", "-t", "8", "--host", "${host}", "--port", "${port}"]
    assert env(draft) == {"CUDA_VISIBLE_DEVICES": "0"}
    assert draft.places == {"model": "/m/a.gguf", "host": "0.0.0.0", "port": "8080"}
    assert opened(draft) == ["1: started through numactl --membind=0, which a stack does not say"]


def test_a_list_of_words_as_json(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        f'["vllm", "serve", "org/model", "--compilation-config", {JSON!r}, "--x", "a b"]'.replace(
            "'", '"'
        ).replace(f'"{JSON}"', '"' + JSON.replace('"', '\\"') + '"'),
    )
    assert argv(draft) == [["serve"], ["org/model"], ["--compilation-config", JSON], ["--x", "a b"]]
    assert not draft.open


def test_a_script_whose_variables_are_plain(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "#!/bin/sh\nset -eu\nMODEL=/models/a.gguf\nexport LLAMA_LOG=1\n# a comment\n"
        'exec llama-server -m "$MODEL" --threads ${N:-8} --alias $(hostname) 2>&1 | tee log\n',
    )
    assert words(draft) == ["-m", "${model}", "--threads", "${N:-8}", "--alias", "$(hostname)"]
    assert opened(draft) == [
        "6: ${N:-8} is filled in by the shell: left as written",
        "6: $(hostname) is filled in by the shell: left as written",
    ]


def test_a_script_that_decides_is_not_followed(tmp_path: Path) -> None:
    draft = one(tmp_path, "if true; then T=4; else T=8; fi\nllama-server -m /a.gguf -t $T\n")
    assert words(draft)[-1] == "$T"
    assert any("decides by itself" in said for said in opened(draft))


@pytest.mark.parametrize("written", [f"'{JSON}'", JSON])
def test_json_survives_a_shell(tmp_path: Path, written: str) -> None:
    draft = one(tmp_path, f"vllm serve org/model --compilation-config {written}\n")
    assert words(draft)[-1] == JSON
    assert bool(draft.open) == (written == JSON), "whoever runs this text gets it without its quotes"


def test_a_command_line_behind_a_shell(tmp_path: Path) -> None:
    text = one(tmp_path, 'bash -c "exec llama-server --port 1 -m /a.gguf"\n')
    assert "--port" in words(text)
    with pytest.raises(CannotImport, match="no engine is started here"):
        imported(tmp_path, "bash -c 'echo llama'\n")


def test_two_engines_are_two_drafts(tmp_path: Path) -> None:
    made = imported(tmp_path, "llama-server -m /a.gguf & llama-server -m /b.gguf\n")
    assert [draft.name for draft in made] == ["given-1", "given-2"]


# --- systemd ----------------------------------------------------------------------------------------------


def test_a_unit(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "[Service]\nEnvironment=GGML_X=1 LLAMA_API_KEY=hunter-two-three\nEnvironmentFile=/nowhere/at/all.env\n"
        "ExecStart=/opt/llama-server -m /m/a.gguf -t 8 $MORE --alias %i\n",
    )
    assert words(draft) == ["-m", "${model}", "-t", "8", "$MORE", "--alias", "%i"]
    assert env(draft) == {"GGML_X": "1", "LLAMA_API_KEY": "${secret:llama-api-key}"}
    assert opened(draft) == [
        "3: the environment file /nowhere/at/all.env is not here: its settings are unknown",
        "4: %i is filled in by systemd: left as written",
        "4: $MORE is set nowhere in the unit: left as written",
    ]
    assert "hunter" not in draft.content("x.yaml").decode()


def test_a_unit_with_a_launcher(tmp_path: Path) -> None:
    draft = one(tmp_path, "[Unit]\nDescription=x\n[Service]\nExecStart=%h/bin/run-it.sh --fast\n")
    assert draft.data["processes"]["server"] == {
        "engine": "unknown",
        "launcher": {"file": "%h/bin/run-it.sh", "sha256": "unknown"},
    }


def test_a_unit_with_a_container(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "[Service]\nExecStart=/usr/bin/docker run --rm --gpus all -e HF_HOME=/data -e HF_TOKEN -p 80:8000 "
        "vllm/vllm-openai:v0.11 --model org/model --max-model-len 4096\n",
    )
    assert draft.data["processes"]["server"]["engine"] == "vllm"
    assert words(draft) == ["--model", "org/model", "--max-model-len", "4096"]
    assert env(draft) == {"HF_HOME": "${hf-home}"}
    assert any("HF_TOKEN is passed on" in said for said in opened(draft))


def test_a_secret_that_the_environment_fills_in_is_a_reference(tmp_path: Path) -> None:
    draft = one(
        tmp_path, "services: {a: {image: vllm/vllm-openai, environment: ['HF_TOKEN=${X}', 'A=${X}']}}\n"
    )
    assert env(draft) == {"HF_TOKEN": "${secret:hf-token}", "A": "${X}"}


def test_a_unit_with_a_shell(tmp_path: Path) -> None:
    draft = one(
        tmp_path, "[Service]\nExecStart=/bin/sh -c 'cd /srv && exec llama-server -m /m/a.gguf -t 4'\n"
    )
    assert words(draft) == ["-m", "${model}", "-t", "4"]


# --- llama-swap -------------------------------------------------------------------------------------------

SWAP = """\
startPort: 9000
apiKeys: [sk-abcdefghijklmnopqrstuvwxyz]
macros:
  server: /opt/llama-server --port ${PORT}
  ctx: 4096
  more: "--ctx-size ${ctx} --threads ${env.THREADS}"
models:
  "big/one":
    macros: {ctx: 16384}
    cmd: |
      # the newest
      ${server}
      --model models/big.gguf \\
      --alias ${MODEL_ID} ${more}
      --chat-template-kwargs '{"a": "b c"}'
    env: ["A=1", "B=${ctx}"]
  docker:
    proxy: "http://127.0.0.1:${PORT}"
    cmd: docker run --init --rm -p ${PORT}:8080 ghcr.io/ggml-org/llama.cpp:server --model '/m/a.gguf' ${lost}
  other: {cmd: some-upstream}
"""


def test_llama_swap(tmp_path: Path) -> None:
    big, docker, other = imported(tmp_path, SWAP)
    assert big.name == "big-one"
    assert words(big) == [
        "--port", "${port}", "--model", "${model}", "--alias", "big/one", "--ctx-size", "16384", "--threads",
        "${env.THREADS}", "--chat-template-kwargs", '{"a": "b c"}',
    ]  # fmt: skip
    assert env(big) == {"A": "1", "B": "16384"}
    assert opened(big) == [
        "10: ${env.THREADS} is the environment of llama-swap itself: left as written",
        "10: llama-swap gives the port out at run time (startPort): the site says which one",
    ]
    assert words(docker) == ["--model", "${model}", "${lost}"]
    assert "19: the macro ${lost} is defined nowhere: left as written" in opened(docker)
    assert other.data["processes"]["server"] == {"engine": "unknown"}
    assert "sk-" not in "".join(draft.content("x").decode() for draft in (big, docker, other))


def test_macros_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    macros = "".join(f"  m{n}: '{f'${{m{n - 1}}}' * 9 if n else 'xxxxxxxxxx'}'\n" for n in range(12))
    with pytest.raises(CannotImport, match="macros make more than"):
        imported(tmp_path, f"macros:\n{macros}models:\n  a: {{cmd: 'llama-server ${{m11}}'}}\n")


# --- kubernetes and helm ----------------------------------------------------------------------------------

MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {VLLM_USE_V1: "1", WORKERS: "4"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama}
spec:
  template:
    spec:
      initContainers: [{name: fetch, image: busybox, command: [vllm, serve, no]}]
      containers:
        - name: engine
          image: vllm/vllm-openai:latest
          command: ["vllm", "serve"]
          args: [$(MODEL), "--compilation-config", '{"cudagraph_mode":"FULL_DECODE_ONLY","mode":0}', "--x", "$$(NO)", --y, $(GONE)]
          envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: others}}]
          env:
            - {name: MODEL, value: org/model}
            - {name: FLAG, value: "n"}
            - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}
            - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
            - {name: W, valueFrom: {configMapKeyRef: {name: settings, key: WORKERS}}}
        - {name: proxy, image: "nginx:1"}
"""


def test_a_deployment(tmp_path: Path) -> None:
    draft = one(tmp_path, MANIFEST)
    assert draft.name == "llama"
    assert words(draft) == [
        "serve",
        "org/model",
        "--compilation-config",
        JSON,
        "--x",
        "$(NO)",
        "--y",
        "$(GONE)",
    ]
    assert env(draft) == {
        "VLLM_USE_V1": "1", "WORKERS": "4", "MODEL": "org/model", "FLAG": "n", "HF_TOKEN": "${secret:hf-token}", "W": "4",
    }  # fmt: skip
    assert draft.places == {"secret:hf-token": "kubernetes:hf/token"}
    assert [said.partition(" ")[2].partition(":")[0] for said in opened(draft)] == [
        "the image vllm/vllm-openai",
        "variables come from secretRef",
        "NODE comes from fieldRef",
        "$(GONE) is no variable of this container",
    ]
    assert [each.line for each in draft.open] == [15, 18, 23, 17]


def test_a_pod_that_starts_its_engine_in_a_shell(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - command: [bash, -c]\n    args:\n    - |\n"
        "      export X=1\n      vllm serve org/m \\\n        --max-num-seqs 8 --port $PORT\n",
    )
    assert words(draft) == ["serve", "org/m", "--max-num-seqs", "8", "--port", "$PORT"]


def test_a_command_of_its_own_takes_the_place_of_the_entry_point(tmp_path: Path) -> None:
    """An image made for an engine starts whatever its command says: nothing of it is taken for the engine's words."""
    pod = "kind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{image: vllm/vllm-openai:x, {0}}}, {{image: nginx, command: [/x.sh]}}]}}\n"
    for said, launcher in (
        ("command: [/start, --fast], args: [--port, '1']", "/start"),
        ("command: [sh, -c, 'bash node.sh worker']", "sh"),
        ("command: [bash, node.sh]", "node.sh"),
    ):
        process = one(tmp_path, pod.format(said)).data["processes"]["server"]
        assert process == {"engine": "unknown", "launcher": {"file": launcher, "sha256": "unknown"}}
    by_itself = one(tmp_path, pod.format("args: [--model, m]"))
    assert by_itself.data["processes"]["server"]["engine"] == "vllm" and words(by_itself) == ["--model", "m"]
    compose = "services: {a: {image: vllm/vllm-openai, entrypoint: /start.sh, command: [--port, '1']}}\n"
    assert one(tmp_path, compose).data["processes"]["server"]["launcher"]["file"] == "/start.sh"


def test_roles_of_the_model_service_chart(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "modelArtifacts: {uri: hf://org/m}\ndecode:\n  containers:\n  - {name: vllm, image: x/y:1, modelCommand: vllmServe, args: [--enforce-eager]}\n",
    )
    assert draft.name == "given-decode" and words(draft) == ["serve", "--enforce-eager"]


VALUES = """\
servingEngineSpec:
  vllmApiKey: very-secret-key-of-mine
  modelSpec:
    - name: llama3
      repository: vllm/vllm-openai
      tag: v0.9
      modelURL: org/model
      enableLoRA: true
      hf_token: <your-hf-token>
      vllmConfig: {enablePrefixCaching: false, enableChunkedPrefill: true, maxModelLen: 4096, dtype: bfloat16, v0: "1", v1: 1, extraArgs: [--x, '{"a": 1}']}
      env: [{name: A, value: "True"}]
"""


def test_values_of_the_production_stack(tmp_path: Path) -> None:
    draft = one(tmp_path, VALUES)
    assert words(draft) == [
        "serve", "org/model", "--host", "${host}", "--port", "${port}", "--enable-lora", "--enable-chunked-prefill",
        "--no-enable-prefix-caching", "--max-model-len", "4096", "--dtype", "bfloat16", "--x", '{"a": 1}',
    ]  # fmt: skip
    assert env(draft) == {
        "VLLM_USE_V1": "0", "HF_TOKEN": "${secret:hf-token}", "VLLM_API_KEY": "${secret:vllm-api-key}", "A": "True",
    }  # fmt: skip
    assert any(said.startswith("10: vllmConfig.v1") for said in opened(draft))
    assert "very-secret" not in draft.content("x").decode()


RECIPE = """\
kind: Anything
flags: &flags
  NCCL: "1"
prefill:
  tp: 1
  extra-args: >-
    --max-num-seqs 16
    --max-num-batched-tokens 32768
  env: {<<: *flags, UCX: "n"}
decode:
  extra-args: >-
    --compilation-config {"cudagraph_mode":"FULL_DECODE_ONLY","mode":0}
  env: *flags
"""


def test_a_recipe_with_roles(tmp_path: Path) -> None:
    draft = one(tmp_path, RECIPE)
    assert words(draft, "prefill") == ["serve", "--max-num-seqs", "16", "--max-num-batched-tokens", "32768"]
    assert words(draft, "decode") == ["serve", "--compilation-config", JSON]
    assert env(draft, "prefill") == {"NCCL": "1", "UCX": "n"} and env(draft, "decode") == {"NCCL": "1"}
    assert opened(draft)[0].startswith("5: prefill.tp: 1 is read by the script")


# --- docker compose ---------------------------------------------------------------------------------------

COMPOSE = """\
x-common: &common
  image: ghcr.io/ggml-org/llama.cpp:server
services:
  text:
    <<: *common
    command: --model /m/a.gguf --threads 8 --alias "a b" --x $$Y --ctx-size ${CTX:-4096}
    environment: [A=1, HF_TOKEN]
    env_file: [here.env, gone.env]
  list:
    <<: *common
    entrypoint: [/app/llama-server]
    command: ["-m", "/m/b.gguf"]
    environment: {LLAMA_ARG_PORT: 8090, EMPTY: "", PASSED: }
  db: {image: "postgres:17", command: postgres -c x=1}
"""


def test_compose(tmp_path: Path) -> None:
    text, listed = imported(tmp_path, COMPOSE, {"here.env": "B=2\nURL=a$b\n"})
    assert words(text) == [
        "--model", "${model}", "--threads", "8", "--alias", "a b", "--x", "$Y", "--ctx-size", "${CTX:-4096}",
    ]  # fmt: skip
    assert env(text) == {"B": "2", "URL": "a$b", "A": "1"}
    assert [f"{each.file}:{each.line}" for each in text.open] == [
        "given:6",
        "here.env:2",
        "given:8",
        "given:7",
    ]
    assert words(listed) == ["-m", "${model}"]
    assert env(listed) == {"LLAMA_ARG_PORT": "${port}", "EMPTY": ""}
    assert listed.places == {"model": "/m/b.gguf", "port": "8090"}


# --- environment files ------------------------------------------------------------------------------------


def test_an_environment_file(tmp_path: Path) -> None:
    draft = one(
        tmp_path,
        "# c\nLLAMA_ARG_THREADS=8\nexport LLAMA_MODEL=/m/a.gguf\nAPI_TOKEN=abcdef\n",
        engine="llama-server",
    )
    assert draft.data["processes"]["server"]["engine"] == "llama-server"
    assert env(draft) == {
        "LLAMA_ARG_THREADS": "8", "LLAMA_MODEL": "${llama-model}", "API_TOKEN": "${secret:api-token}",
    }  # fmt: skip


# --- what is none of these --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "the file is empty", id="empty"),
        pytest.param("just prose, nothing else", "no engine is started here", id="prose"),
        pytest.param("a: 1\nb: [2]\n", "nothing in it starts an engine", id="another-yaml"),
        pytest.param("a: [1\nb: 2\n", "given:1: the \\[ that opens here", id="bad-yaml"),
        pytest.param("a: &x [*x]\n", "given:1: the alias", id="alias-in-itself"),
        pytest.param("services:\n  a: {image: vllm, command: 'x \"y'}\n", "given:2: .*never closed", id="open-quote"),
        pytest.param("models:\n  a: {cmd: ''}\n", "given:2: the cmd .* is empty", id="empty-command"),
        pytest.param("a: 1\na: 2\n", 'given:2: the key "a" stands twice', id="twice"),
        pytest.param("spec:\n  args: {{ .Values.args }}\n", "Helm template", id="template"),
        pytest.param("[Service]\nType=simple\n", "no ExecStart=", id="unit-that-starts-nothing"),
        pytest.param("ActiveState=active\nMainPID=7\n", "no engine is started here", id="systemctl-show"),
        pytest.param(b"\xff\xfe\x00", "UTF-16", id="utf-16"),
        pytest.param("llama-server 'x", "given:1: the quote", id="open-quote-in-a-command"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_said_in_one_sentence(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    with pytest.raises(CannotImport, match=said) as refused:
        imported(tmp_path, text)
    assert "\n" not in str(refused.value)


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert words(one(tmp_path, "llama-server \\\r\n -t 4\r\n")) == ["-t", "4"]
