"""A live process and the build it is."""

from __future__ import annotations

from hio_validate.observe.asked import Asked
from hio_validate.observe.hashing import HashCache
from hio_validate.observe.recognise import recognised_process
from hio_validate.settings.knowledge import Settings
from tests.settings.documents import repository

from .conftest import Start


def test_no_file_is_read_twice_however_often_a_process_is_looked_at(start_python: Start) -> None:
    process = start_python("")
    read: list[int] = []
    asked = Asked(HashCache(None))

    def look() -> None:
        recognised_process(
            process.pid, Settings(repository({})), progress=lambda done, _: read.append(done), asked=asked
        )

    look()
    once = len(read)
    look()
    assert once > 0
    assert len(read) == once
