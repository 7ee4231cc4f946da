"""Published configurations are read into drafts. `HIO_CASES` names the folder with configs/ and campaign/."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate.history import Folder
from hio_validate.importing.configurations.draft import Draft, drafts
from hio_validate.importing.configurations.recognise import read
from hio_validate.models import reader
from hio_validate.repo import load
from hio_validate.settings.knowledge import Settings

CASES = Path(os.environ.get("HIO_CASES", "nowhere"))
pytestmark = pytest.mark.skipif(
    not (CASES / "configs").is_dir(), reason="HIO_CASES names no folder with configurations"
)


def imported(folder: Path, file: str) -> dict[str, Draft]:
    made = drafts(read(CASES / file), Settings(load(Folder(folder))))
    for draft in made:
        reader("stack/v1").validate_python(draft.data)
    return {draft.name: draft for draft in made}


def words(draft: Draft, role: str = "server") -> list[str]:
    return [word for line in draft.data["processes"][role]["argv"] for word in line]


def test_json_in_the_flags_of_a_recipe(tmp_path: Path) -> None:
    (draft,) = imported(tmp_path, "configs/ix_llm-d_dsv4-fp4-gb200-low-latency.yaml").values()
    assert list(draft.data["processes"]) == ["prefill", "decode"]
    at = words(draft, "decode").index("--compilation-config")
    assert words(draft, "decode")[at + 1] == '{"cudagraph_mode":"FULL_DECODE_ONLY","mode":0}'
    prefill = draft.data["processes"]["prefill"]["env"]
    assert (prefill["UCX_MEMTYPE_CACHE"], prefill["UCX_CUDA_IPC_ENABLE_MNNVL"]) == ("n", "y")
    assert prefill["VLLM_MAX_TOKENS_PER_EXPERT_FP4_MOE"] == "2048"
    assert {f"{each.what.split(':')[0]}" for each in draft.open} >= {"prefill.tp", "decode.tp"}
    assert not any(name.startswith("secret:") for name in draft.places)


def test_every_model_of_the_llama_swap_example(tmp_path: Path) -> None:
    made = imported(tmp_path, "configs/llama-swap_config.example.yaml")
    assert list(made) == ["gpt-oss-120b", "unlisted-model", "docker-llama"]
    assert words(made["gpt-oss-120b"]) == [
        "--port", "${port}", "--model", "${model}", "--ctx-size", "16384", "--temperature", "0.7",
    ]  # fmt: skip
    assert made["docker-llama"].data["processes"]["server"]["engine"] == "llama-server"
    assert "hunter2" not in "".join(draft.content("x").decode() for draft in made.values())


def test_values_of_the_chart(tmp_path: Path) -> None:
    (draft,) = imported(tmp_path, "configs/ps_values-09-lora-helm.yaml").values()
    assert words(draft)[:2] == ["serve", "meta-llama/Llama-3.1-8B-Instruct"]
    assert {"--enable-lora", "--enable-prefix-caching", "bfloat16", "0.8"} <= set(words(draft))
    assert draft.data["processes"]["server"]["env"]["HF_TOKEN"] == "${secret:hf-token}"
    assert draft.data["processes"]["server"]["env"]["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "True"


@pytest.mark.parametrize(
    "file", ["configs/rcarmo_pi_llama-gemma-e4b-qat.service", "campaign/llama-gemma-zero-copy.service"]
)
def test_a_unit_whose_launcher_decides(tmp_path: Path, file: str) -> None:
    (draft,) = imported(tmp_path, file).values()
    assert draft.data["processes"]["server"]["launcher"]["file"].endswith(".sh")
    assert "argv" not in draft.data["processes"]["server"]
    assert any("decides the command line" in each.what for each in draft.open)


def test_the_environment_of_a_launcher(tmp_path: Path) -> None:
    (draft,) = imported(tmp_path, "campaign/pre-deploy-service.env").values()
    env = draft.data["processes"]["server"]["env"]
    assert (env["LLAMA_THREADS_BATCH"], env["LLAMA_MODEL"]) == ("16", "${llama-model}")
    assert draft.places["llama-model"].endswith("gemma-4-E4B_q4_0-it.gguf")
