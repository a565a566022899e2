"""As features/lists.ts, by the same names."""
import mcp_types as types
from feature import feature, refused, same, walk
from subjects import Subject


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
