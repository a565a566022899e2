"""As features/tools.ts, by the same names."""
import mcp_types as types
from feature import feature, refused, same, text_of, walk
from subjects import Subject

NOTED = {"audience": ["user", "assistant"], "priority": 1, "lastModified": "2026-01-02T03:04:05Z"}


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
