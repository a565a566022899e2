"""As features/calls.ts, by the same names."""
import asyncio
import itertools
import os
from typing import Any

import mcp_types as types
from feature import Cannot, feature, refused, text_of
from subjects import Subject

keys = itertools.count(1)


class Waiting:
    """A call of "waits", and the steps that it told."""

    def __init__(self, subject: Subject, **more: Any) -> None:
        self.key = f"python-{os.getpid()}-{next(keys)}"
        self.steps: list[tuple[float, float | None, str | None]] = []
        self._told = asyncio.Condition()
        self.result = asyncio.create_task(subject.call("waits", {"key": self.key}, progress=self._on_progress, **more))

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        async with self._told:
            self.steps.append((progress, total, message))
            self._told.notify_all()

    async def told(self, count: int) -> None:
        async with self._told:
            await asyncio.wait_for(self._told.wait_for(lambda: len(self.steps) >= count), 10)


@feature("progress")
async def _(subject: Subject) -> None:
    waiting = Waiting(subject)
    await waiting.told(1)
    await subject.call("nudges", {"key": waiting.key})
    await waiting.told(2)
    await subject.call("releases", {"key": waiting.key, "text": "let go"})
    assert text_of(await waiting.result) == "let go"
    assert waiting.steps == [(1, 3, "step 1"), (2, 3, "step 2")]


@feature("cancellation")
async def _(subject: Subject) -> None:
    waiting = Waiting(subject)
    await subject.call("begun", {"key": waiting.key})
    waiting.result.cancel()
    assert text_of(await asyncio.wait_for(subject.call("aborted", {"key": waiting.key}), 10)) == "aborted"


@feature("timeout of a request")
async def _(subject: Subject) -> None:
    waiting = Waiting(subject, timeout=0.2)
    await refused(waiting.result, types.REQUEST_TIMEOUT)
    assert text_of(await asyncio.wait_for(subject.call("aborted", {"key": waiting.key}), 10)) == "aborted"


@feature("timeout reset by progress")
async def _(subject: Subject) -> None:
    assert not subject.has("reset_timeout_on_progress", "reset_on_progress", "max_total_timeout")
    raise Cannot("its calls take one timeout and nothing about progress")


@feature("several calls at once")
async def _(subject: Subject) -> None:
    texts = [f"text {index}" for index in range(20)]
    results = await asyncio.gather(*(subject.call("echo", {"text": text}) for text in texts))
    assert [text_of(result) for result in results] == texts


@feature("a stream that its handler let go of")
async def _(subject: Subject) -> None:
    assert text_of(await subject.call("polls")) == "polled"
