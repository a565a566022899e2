"""What each of Python's clients does with the interop server: as features/*.ts, and by the same names."""
import asyncio
import itertools
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from answers import CHOSEN, ROOTS, TEXT_SAMPLE, TOOL_SAMPLE
from mcp import MCPError
from subjects import Subject

ADA = {"action": "accept", "content": {"name": "Ada"}}
LEVEL = "io.modelcontextprotocol/logLevel"
NOTED = {"audience": ["user", "assistant"], "priority": 1, "lastModified": "2026-01-02T03:04:05Z"}
keys = itertools.count(1)


class Cannot(Exception):
    """The client has no interface for it; checked where it is raised."""


Feature = Callable[[Subject], Awaitable[None]]
FEATURES: dict[str, Feature] = {}


def feature(name: str) -> Callable[[Feature], Feature]:
    def add(run: Feature) -> Feature:
        FEATURES[name] = run
        return run

    return add


def same(actual: Any, expected: Any) -> None:
    """Fails unless all of `expected` is in `actual`; objects may hold more."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{actual!r} is no object"
        for key, value in expected.items():
            assert key in actual, f"{key} is not in {actual!r}"
            same(actual[key], value)
    elif isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected), f"{actual!r} is not {expected!r}"
        for one, other in zip(actual, expected, strict=True):
            same(one, other)
    else:
        assert actual == expected, f"{actual!r} is not {expected!r}"


def text_of(result: Any) -> str:
    return result["content"][0]["text"]


async def refused(call: Awaitable[Any], *codes: int) -> None:
    try:
        await call
    except MCPError as error:
        assert not codes or error.error.code in codes, error
        return
    raise AssertionError("it was not refused")


async def walk(subject: Subject, kind: str) -> tuple[list[Any], int]:
    items, cursor = await subject.page(kind, None)
    pages = 1
    while cursor is not None:
        more, cursor = await subject.page(kind, cursor)
        items.extend(more)
        pages += 1
    return items, pages


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


@feature("tools: list over pages")
async def _(subject: Subject) -> None:
    items, pages = await walk(subject, "tools")
    names = [item["name"] for item in items]
    assert pages > 3 and len(set(names)) == len(names) and "secret" not in names
    assert {"echo", "weather", "numbers", "reports"} <= set(names)


@feature("tools: annotations, icons, _meta, schemas")
async def _(subject: Subject) -> None:
    named = {item["name"]: item for item in (await walk(subject, "tools"))[0]}
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    icons = [{"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}]
    same(named["echo"], {"title": "Echo", "annotations": hints, "icons": icons, "_meta": {"example.com/kind": "tool"}})
    same(named["weather"], {"outputSchema": {"type": "object", "required": ["celsius", "sky"]}})
    shown = named["numbers"].get("outputSchema", {}).get("type")
    assert shown == ("array" if subject.is_modern else None)


@feature("tools: call")
async def _(subject: Subject) -> None:
    assert text_of(await subject.call("echo", {"text": "grüße 🌍"})) == "grüße 🌍"


@feature("tools: every kind of content")
async def _(subject: Subject) -> None:
    contents = [
        {"type": "text", "text": "grüße", "annotations": NOTED, "_meta": {"example.com/n": 1}},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "annotations": NOTED},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "note:///1", "name": "note", "title": "First note", "size": 5},
        {"type": "resource", "resource": {"uri": "note:///1", "text": "first"}, "annotations": NOTED},
        {"type": "resource", "resource": {"uri": "note:///bytes", "blob": "iVBORw0KGgo="}},
    ]
    same(await subject.call("contents"), {"content": contents, "_meta": {"example.com/result": True}})


@feature("tools: structured content, validated by the client")
async def _(subject: Subject) -> None:
    same(await subject.call("weather", {"sky": "clear"}), {"structuredContent": {"celsius": 21.5, "sky": "clear"}})
    numbers = await subject.call("numbers")
    assert text_of(numbers) == "[1,2]"
    assert numbers.get("structuredContent") == ([1, 2] if subject.is_modern else None)
    bad = types.CallToolResult.model_validate({"content": [], "structuredContent": {"celsius": "warm", "sky": "clear"}})
    try:
        await subject.session.validate_tool_result("weather", bad)
    except RuntimeError:
        return
    raise AssertionError("the client did not validate")


@feature("tools: errors as results")
async def _(subject: Subject) -> None:
    same(await subject.call("no-weather"), {"isError": True, "content": [{"text": "no sky"}]})
    same(await subject.call("fails"), {"isError": True, "content": [{"text": "too far"}]})
    same(await subject.call("echo"), {"isError": True})


@feature("tools: unknown and forbidden alike")
async def _(subject: Subject) -> None:
    for name in ("secret", "absent"):
        await refused(subject.call(name), types.INVALID_PARAMS)


@feature("tools: _meta of the request")
async def _(subject: Subject) -> None:
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    scope = (await subject.call("scope", meta={"example.com/x": 1, "traceparent": traceparent}))["structuredContent"]
    same(scope, {"principal": "ada", "meta": {"example.com/x": 1}, "trace": {"traceparent": traceparent}})
    same(scope["clientCapabilities"], {"elicitation": {"url": {}}, "sampling": {"tools": {}}, "roots": {}})


@feature("tools: arguments as headers")
async def _(subject: Subject) -> None:
    await walk(subject, "tools")
    assert text_of(await subject.call("routed", {"region": "Zürich, west"})) == "Zürich, west"


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


PROMPT = types.PromptReference(type="ref/prompt", name="greet")
TEMPLATE = types.ResourceTemplateReference(type="ref/resource", uri="note:///by/{author}/{year}")


@feature("prompts: list over pages")
async def _(subject: Subject) -> None:
    items, pages = await walk(subject, "prompts")
    assert [item["name"] for item in items] == ["greet", "asking", "filler-1", "filler-2", "filler-3"] and pages == 2
    arguments = [{"name": "who", "description": "Whom", "required": True}, {"name": "how"}]
    same(items[0], {"title": "Greeting", "arguments": arguments, "_meta": {"example.com/kind": "prompt"}})


@feature("prompts: get")
async def _(subject: Subject) -> None:
    greeting = await subject.prompt("greet", {"who": "Ada"})
    same(greeting["messages"][0], {"role": "user", "content": {"type": "text", "text": "Greet Ada"}})
    same(greeting["messages"][1], {"role": "assistant", "content": {"type": "image", "mimeType": "image/png"}})
    same(greeting["messages"][2], {"content": {"type": "resource", "resource": {"text": "first"}}})
    for name in ("absent", "secret", "greet"):
        await refused(subject.prompt(name), types.INVALID_PARAMS)


@feature("completion of prompts and templates")
async def _(subject: Subject) -> None:
    assert await subject.complete(PROMPT, {"name": "who", "value": "al"}) == ["alan"]
    how = await subject.complete(PROMPT, {"name": "how", "value": ""}, {"who": "ada"})
    assert how == ["ada-warmly", "ada-coldly"]
    assert await subject.complete(TEMPLATE, {"name": "author", "value": "ad"}) == ["ada"]
    year = await subject.complete(TEMPLATE, {"name": "year", "value": "18"}, {"author": "ada"})
    assert year == ["1842", "1843"]


@feature("resources: list over pages")
async def _(subject: Subject) -> None:
    items, pages = await walk(subject, "resources")
    assert [item["name"] for item in items] == ["note", "bytes", "asking", "filler-1", "filler-2"] and pages == 2
    same(items[0], {"uri": "note:///1", "title": "First note", "size": 5, "_meta": {"example.com/kind": "resource"}})
    same(items[0]["annotations"], {"audience": ["user"], "priority": 0.5})


@feature("resources: read")
async def _(subject: Subject) -> None:
    same(await subject.read("note:///1"), [{"uri": "note:///1", "mimeType": "text/plain", "text": "first"}])
    same(await subject.read("note:///bytes"), [{"blob": "iVBORw0KGgo="}])
    for name in ("absent", "secret"):
        await refused(subject.read(f"note:///{name}"), types.INVALID_PARAMS if subject.is_modern else -32002)


@feature("resource templates: list over pages, read")
async def _(subject: Subject) -> None:
    items, pages = await walk(subject, "resource_templates")
    assert len(items) == 5 and pages == 2
    same(items[0], {"uriTemplate": "note:///by/{author}/{year}", "title": "Notes of a year"})
    same(
        await subject.read("note:///by/ada%20b/1842"),
        [{"uri": "note:///by/ada%20b/1842", "text": "of ada b in 1842"}, {"blob": "iVBORw0KGgo="}],
    )


DEFAULTS = {"name": "Ada", "count": 3, "ratio": 0.5, "sure": True, "size": "large"}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "elicitation: accept": ("accept", {"a": ADA}),
    "elicitation: decline": ("decline", {"a": {"action": "decline"}}),
    "elicitation: cancel": ("cancel", {"a": {"action": "cancel"}}),
    "elicitation: enums": ("enums", {"a": {"action": "accept", "content": CHOSEN}}),
    "elicitation: url": ("url", {"a": {"action": "accept"}}),
    "sampling": ("sampling", {"a": TEXT_SAMPLE}),
    "sampling with tools": ("sampling with tools", {"a": TOOL_SAMPLE}),
    "roots": ("roots", {"a": {"roots": ROOTS}}),
    "several questions at once": ("several", {"a": ADA, "b": TEXT_SAMPLE, "c": {"roots": ROOTS}}),
    "one question after another": ("twice", {"a": ADA, "b": {"action": "decline"}}),
}


def asking(name: str, what: str, answers: dict[str, Any]) -> None:
    @feature(name)
    async def _(subject: Subject) -> None:
        same(json.loads(text_of(await subject.call("asks", {"what": what}))), answers)


for name, (what, answers) in QUESTIONS.items():
    asking(name, what, answers)


@feature("elicitation: defaults")
async def _(subject: Subject) -> None:
    answers = json.loads(text_of(await subject.call("asks", {"what": "defaults"})))
    if answers["a"] == {"action": "accept", "content": {}}:
        raise Cannot("it hands the form to its caller and fills in nothing")
    same(answers, {"a": {"action": "accept", "content": DEFAULTS}})


@feature("elicitation: an answer that the form refuses")
async def _(subject: Subject) -> None:
    await refused(subject.call("asks", {"what": "wrong"}))
    assert text_of(await subject.call("echo", {"text": "goes on"})) == "goes on"


@feature("questions in the course of prompts and resources")
async def _(subject: Subject) -> None:
    message = (await subject.prompt("asking"))["messages"][0]
    assert json.loads(message["content"]["text"]) == ADA
    assert json.loads((await subject.read("note:///asking"))[0]["text"]) == ADA
