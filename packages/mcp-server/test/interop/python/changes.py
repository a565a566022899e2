"""As features/changes.ts, by the same names."""
import asyncio
from typing import Any

import mcp_types as types
from feature import Cannot, feature, refused, same, text_of
from subjects import Subject

LEVEL = "io.modelcontextprotocol/logLevel"


@feature("revision, server info, instructions, capabilities")
async def _(subject: Subject) -> None:
    client = subject.client
    assert client.protocol_version == ("2026-07-28" if subject.is_modern else "2025-11-25")
    if client.server_info is None and subject.is_modern:
        raise Cannot("pinned, it knows nothing but an earlier discovery that it is given")
    info = client.server_info.model_dump(by_alias=True, mode="json")
    same(info, {"name": "interop", "version": "1.2.3", "title": "Interop", "websiteUrl": "https://example.com/"})
    assert client.instructions == "Use echo first."
    has = client.server_capabilities.model_dump(by_alias=True, exclude_none=True)
    same(has, {"tools": {"listChanged": True}, "resources": {"listChanged": True, "subscribe": True}, "completions": {}})


@feature("logging and its level")
async def _(subject: Subject) -> None:
    for level, expected in (("debug", ["debug", "info", "warning", "error"]), ("warning", ["warning", "error"])):
        before = len(subject.heard.of("log"))
        if subject.is_modern:
            await subject.call("logs", meta={LEVEL: level})
        else:
            await subject.set_level(level)
            await subject.call("logs")
        told: list[Any] = (await subject.heard.until("log", before + len(expected)))[before:]
        # Each notification of a stream is handled by a task of its own, so their order is not kept.
        assert sorted(one["level"] for one in told) == sorted(expected), told
        assert all(one["data"] == {"said": one["level"]} and one["logger"] == "tests" for one in told)


def list_changed(what: str) -> None:
    @feature(f"list_changed of {what}")
    async def _(subject: Subject) -> None:
        if subject.is_modern:
            async with subject.listening(**{f"{what}_list_changed": True}) as subscription:
                assert getattr(subscription.honored, f"{what}_list_changed")
                await subject.call("changes", {"what": what})
                event = await asyncio.wait_for(anext(aiter(subscription)), 10)
                assert type(event).__name__ == f"{what.capitalize()}ListChanged"
            return
        before = len(subject.heard.of(f"{what} changed"))
        await subject.call("changes", {"what": what})
        await subject.heard.until(f"{what} changed", before + 1)


for one in ("tools", "prompts", "resources"):
    list_changed(one)


@feature("subscribe, updated, unsubscribe")
async def _(subject: Subject) -> None:
    if subject.is_modern:
        async with subject.listening("note:///1") as subscription:
            await subject.call("updates", {"uri": "note:///bytes"})
            await subject.call("updates", {"uri": "note:///1"})
            event = await asyncio.wait_for(anext(aiter(subscription)), 10)
            assert str(event.uri) == "note:///1"
        return
    await subject.subscribe("note:///1")
    await subject.call("updates", {"uri": "note:///1"})
    await subject.heard.until("updated", 1)
    await subject.subscribe("note:///bytes")
    await subject.unsubscribe("note:///1")
    for uri in ("note:///1", "note:///bytes"):
        await subject.call("updates", {"uri": uri})
    assert await subject.heard.until("updated", 2) == ["note:///1", "note:///bytes"]
    await subject.unsubscribe("note:///bytes")


@feature("ping by the client")
async def _(subject: Subject) -> None:
    if subject.is_modern:
        await refused(subject.ping(), types.METHOD_NOT_FOUND)
    else:
        await subject.ping()


@feature("roots/list_changed")
async def _(subject: Subject) -> None:
    await subject.roots_changed()
    assert text_of(await subject.call("echo", {"text": "goes on"})) == "goes on"
