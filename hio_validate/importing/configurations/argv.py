"""A command line as text, as a script, or as a JSON list of words."""

from __future__ import annotations

from hio_validate.importing.cannot import Unrecognised
from hio_validate.importing.configurations.command import shell_text, unpack
from hio_validate.importing.configurations.found import Found, Source, Started


def words_of_json(text: str) -> list[str] | None:
    """The words of a JSON list of texts; None where it is none."""
    if not text.lstrip().startswith("["):
        return None
    import json  # only for a file that begins like JSON

    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, list) and data and all(isinstance(word, str) and "\0" not in word for word in data):
        return data
    return None


def read(source: Source) -> list[Found]:
    """A draft for each engine that a command line or script starts. Raises Unrecognised."""
    words = words_of_json(source.text)
    found = Found(source.stem, source.file, 1)
    processes = [Started(words=words)] if words is not None else shell_text(source.text, found, 1)
    if not processes:
        raise Unrecognised(
            source.file, 0, "no engine is started here that hio knows (llama-server, vllm, sglang)",
            "expected a systemd unit, docker compose, Kubernetes or Helm YAML, a llama-swap configuration, an environment "
            "file or a command line", 3,
        )  # fmt: skip
    drafts = []
    for number, process in enumerate(processes, 1):
        name = found.name if len(processes) == 1 else f"{found.name}-{number}"
        one = Found(name, source.file, 1, {"server": process}, list(found.open))
        unpack(process, one, 1)
        drafts.append(one)
    return drafts
