"""What needs a connection of its own, or not every client has. Each is told how the client connects."""
import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import mcp_types as types
from answers import answer
from feature import Cannot, refused, same, text_of
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.shared.message import ClientMessageMetadata
from pydantic import Field
from subjects import MODERN, SessionSubject, Subject, Where


@dataclass(frozen=True)
class Way:
    """How a client connects."""

    connect: Any
    mode: str
    where: Where
    subject: Subject

    @property
    def is_http(self) -> bool:
        return self.where[0] == "http"


Extra = Callable[[Way], Awaitable[None]]


async def pinged(way: Way) -> None:
    if way.is_http:
        raise Cannot("serveHttp does not ping; a transport of one's own may")
    async with way.connect([*way.where[:3], "own"], way.mode) as subject:
        if subject.is_modern:
            await refused(subject.call("pings"))
        else:
            assert text_of(await subject.call("pings")) == "pinged"
    if way.subject.is_modern:
        raise Cannot("servers of 2026-07-28 ask nothing by themselves")


async def bearer(way: Way) -> None:
    if not way.is_http:
        raise Cannot("stdio has no headers")
    try:
        async with way.connect([*way.where[:2], "another"], way.mode) as subject:
            await subject.call("echo", {"text": "let in"})
    except BaseException as error:  # noqa: BLE001: each of these clients says it in its own way
        if isinstance(error, asyncio.CancelledError):
            raise
        return
    raise AssertionError("a wrong token was let in")


async def earlier_discovery(way: Way) -> None:
    if isinstance(way.subject, SessionSubject):
        if not way.subject.is_modern:
            raise Cannot("there is no discovery before 2026-07-28")
        assert way.subject.session.discover_result is not None
        way.subject.session.adopt(way.subject.session.discover_result)
        return
    found = way.subject.session.discover_result
    if found is None or found.instructions is None:
        raise Cannot("this way of connecting discovers nothing to be kept")
    async with way.connect(way.where, MODERN, prior_discover=found) as subject:
        assert subject.client.server_info.name == "interop"
        assert text_of(await subject.call("echo", {"text": "adopted"})) == "adopted"


class TaskStarted(types.Result):
    result_type: Literal["task"] = Field(alias="resultType")
    task_id: str = Field(alias="taskId")


class Task(types.Result):
    status: str
    input_requests: dict[str, Any] | None = Field(default=None, alias="inputRequests")
    result: dict[str, Any] | None = None


class AboutTask(types.Request[dict[str, Any], str]):
    name_param: ClassVar[str | None] = "taskId"


async def resolve(started: TaskStarted, context: Any) -> types.CallToolResult:
    """As an extension does it: asks for the task until it has ended, and answers its questions."""
    about = {"taskId": started.task_id}
    while True:
        task = await context.session.send_request(AboutTask(method="tasks/get", params=about), Task)
        if task.status == "completed":
            return types.CallToolResult.model_validate(task.result)
        assert task.status in ("working", "input_required"), task
        if task.input_requests:
            answers = {
                key: answer(request["params"]["message"]).model_dump(by_alias=True, exclude_none=True)
                for key, request in task.input_requests.items()
            }
            update = AboutTask(method="tasks/update", params={**about, "inputResponses": answers})
            await context.session.send_request(update, types.Result)


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=TaskStarted, resolve=resolve)]


async def tasks(way: Way) -> None:
    if isinstance(way.subject, SessionSubject):
        assert not hasattr(way.subject.session, "resolve_claimed")
        raise Cannot("it parses claimed results and resolves none")
    if not way.subject.is_modern:
        raise Cannot("extensions claim results of 2026-07-28 only")
    async with way.connect(way.where, way.mode, extensions=[Tasks()]) as subject:
        same(await subject.call("reports"), {"content": [{"text": '{"action":"accept","content":{"name":"Ada"}}'}]})


async def resumption(way: Way) -> None:
    if not way.is_http or way.subject.is_modern:
        raise Cannot("only sessions over HTTP are resumed")
    tokens: list[str] = []
    told = asyncio.Event()

    async def on_token(token: str) -> None:
        tokens.append(token)

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.set()

    session, key = way.subject.session, f"resumed-{id(way)}"
    params = types.CallToolRequestParams(name="waits", arguments={"key": key})
    request = types.CallToolRequest(params=params)
    call = asyncio.create_task(
        session.send_request(
            request,
            types.CallToolResult,
            metadata=ClientMessageMetadata(on_resumption_token_update=on_token),
            progress_callback=on_progress,
        )
    )
    await asyncio.wait_for(told.wait(), 10)
    await way.subject.call("releases", {"key": key, "text": "not lost"})
    first = await call
    again = await session.send_request(
        request, types.CallToolResult, metadata=ClientMessageMetadata(resumption_token=tokens[0])
    )
    assert first == again and again.content[0].text == "not lost"


async def agreed(way: Way) -> None:
    """At a server of the other era: only "auto" goes there."""
    if way.is_http:
        raise Cannot("the server over HTTP is one for all, and serves both eras")
    era = "modern" if way.mode == "legacy" else "legacy"
    revision = None
    try:
        async with way.connect([*way.where, era], way.mode) as subject:
            assert text_of(await subject.call("echo", {"text": "agreed"})) == "agreed"
            revision = subject.client.protocol_version
    except Exception:  # noqa: BLE001: each of these clients says it in its own way
        assert revision is None
    assert revision == ("2025-11-25" if way.mode == "auto" else None)


async def cached(way: Way) -> None:
    if isinstance(way.subject, SessionSubject):
        assert "cache" not in inspect.signature(type(way.subject.client).__init__).parameters
        raise Cannot("only Client has a cache")
    if not way.subject.is_modern:
        raise Cannot("there are no caching hints before 2026-07-28")
    from mcp.client.caching import CacheConfig

    async with way.connect(way.where, way.mode, cache=CacheConfig()) as subject:
        pages, counted = [], []
        for _ in range(2):
            pages.append(await subject.page("prompts", None))
            counted.append(text_of(await subject.call("requests", {"method": "prompts/list"})))
        assert pages[0] == pages[1] and counted[0] == counted[1], counted


EXTRAS: dict[str, Extra] = {
    "ping by the server": pinged,
    "a bearer token": bearer,
    "an earlier discovery": earlier_discovery,
    "the tasks extension": tasks,
    "resumption": resumption,
    "which revision is agreed on": agreed,
    "a cache": cached,
}
