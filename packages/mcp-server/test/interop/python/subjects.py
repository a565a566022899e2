"""Python's clients under one interface, as subject.ts has it for the official TypeScript SDK."""
import contextlib
import inspect
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import mcp_types as types
from answers import ROOTS, SAMPLING, Heard, on_elicitation, on_fastmcp_elicitation, on_fastmcp_sampling, on_roots, on_sampling
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import listen

Where = list[str]  # ["stdio", node, program, its argument] or ["http", address, token]
MODERN = "2026-07-28"


def as_json(result: Any) -> Any:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


def stdio_of(where: Where) -> StdioServerParameters:
    return StdioServerParameters(command=where[1], args=where[2:])


def http_of(where: Where) -> Any:
    client = httpx2.AsyncClient(headers={"authorization": f"Bearer {where[2]}"}, timeout=httpx2.Timeout(30))
    return streamable_http_client(where[1], http_client=client)


class Subject:
    """A client that is connected. `client` has the calls that mcp's Client and ClientSession share."""

    def __init__(self, client: Any, session: ClientSession, heard: Heard) -> None:
        self.client, self.session, self.heard = client, session, heard
        self.is_modern = client.protocol_version == MODERN

    async def page(self, kind: str, cursor: str | None) -> tuple[list[Any], str | None]:
        result = as_json(await getattr(self.client, f"list_{kind}")(cursor=cursor))
        items = next(value for key, value in result.items() if isinstance(value, list))
        return items, result.get("nextCursor")

    async def call(self, name: str, args: dict[str, Any] | None = None, **more: Any) -> Any:
        if "timeout" in more:
            more["read_timeout_seconds"] = more.pop("timeout")
        if "progress" in more:
            more["progress_callback"] = more.pop("progress")
        return as_json(await self.client.call_tool(name, args or {}, **more))

    async def prompt(self, name: str, args: dict[str, str] | None = None) -> Any:
        return as_json(await self.client.get_prompt(name, args))

    async def complete(self, ref: Any, argument: dict[str, str], chosen: dict[str, str] | None = None) -> list[str]:
        return (await self.client.complete(ref, argument, chosen)).completion.values

    async def read(self, uri: str) -> Any:
        return as_json(await self.client.read_resource(uri))["contents"]

    async def ping(self) -> None:
        await self.client.send_ping()

    async def set_level(self, level: str) -> None:
        await self.client.set_logging_level(level)

    @contextlib.asynccontextmanager
    async def listening(self, uri: str | None = None, **kinds: bool) -> AsyncIterator[Any]:
        async with listen(self.session, resource_subscriptions=[uri] if uri else [], **kinds) as subscription:
            yield subscription

    async def subscribe(self, uri: str) -> None:
        await self.session.subscribe_resource(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self.session.unsubscribe_resource(uri)

    async def roots_changed(self) -> None:
        await self.client.send_roots_list_changed()

    def has(self, *names: str) -> bool:
        """Whether the client's calls take any of these parameters, or it has a method of that name."""
        takes = inspect.signature(self.client.call_tool).parameters
        return any(name in takes or hasattr(self.client, name) for name in names)


class SessionSubject(Subject):
    """mcp's ClientSession by itself: what asks the user in 2026-07-28 is driven by its caller."""

    async def page(self, kind: str, cursor: str | None) -> tuple[list[Any], str | None]:
        params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
        result = as_json(await getattr(self.client, f"list_{kind}")(params=params))
        return next(value for value in result.values() if isinstance(value, list)), result.get("nextCursor")

    async def _rounds(self, ask: Any) -> Any:
        result = await ask(input_responses=None, request_state=None)
        while isinstance(result, types.InputRequiredResult):
            answers = {
                key: await self.session.dispatch_input_request(None, request)  # type: ignore[arg-type]
                for key, request in (result.input_requests or {}).items()
            }
            result = await ask(input_responses=answers, request_state=result.request_state)
        return as_json(result)

    async def call(self, name: str, args: dict[str, Any] | None = None, **more: Any) -> Any:
        named = {"timeout": "read_timeout_seconds", "progress": "progress_callback"}
        settings = {named.get(key, key): value for key, value in more.items()}
        return await self._rounds(
            lambda **rounds: self.session.call_tool(name, args or {}, allow_input_required=True, **settings, **rounds)
        )

    async def prompt(self, name: str, args: dict[str, str] | None = None) -> Any:
        return await self._rounds(
            lambda **rounds: self.session.get_prompt(name, args, allow_input_required=True, **rounds)
        )

    async def read(self, uri: str) -> Any:
        result = await self._rounds(
            lambda **rounds: self.session.read_resource(uri, allow_input_required=True, **rounds)
        )
        return result["contents"]


class FastmcpSubject(Subject):
    async def page(self, kind: str, cursor: str | None) -> tuple[list[Any], str | None]:
        result = as_json(await getattr(self.client, f"list_{kind}_mcp")(cursor=cursor))
        return next(value for value in result.values() if isinstance(value, list)), result.get("nextCursor")

    async def call(self, name: str, args: dict[str, Any] | None = None, **more: Any) -> Any:
        if "progress" in more:
            more["progress_handler"] = more.pop("progress")
        return as_json(await self.client.call_tool_mcp(name, args or {}, **more))

    async def complete(self, ref: Any, argument: dict[str, str], chosen: dict[str, str] | None = None) -> list[str]:
        return (await self.client.complete(ref, argument, chosen)).values

    async def read(self, uri: str) -> Any:
        return [as_json(one) for one in await self.client.read_resource(uri)]

    async def ping(self) -> None:
        assert await self.client.ping()


@contextlib.asynccontextmanager
async def connect_mcp(where: Where, mode: str, **more: Any) -> AsyncIterator[Subject]:
    heard = Heard()
    server = stdio_of(where) if where[0] == "stdio" else http_of(where)
    callbacks = {"sampling_callback": on_sampling, "elicitation_callback": on_elicitation, "list_roots_callback": on_roots}
    told = {"logging_callback": heard.on_log, "message_handler": heard.on_message}
    async with Client(server, mode=mode, sampling_capabilities=SAMPLING, **callbacks, **told, **more) as client:
        yield Subject(client, client.session, heard)


@contextlib.asynccontextmanager
async def connect_session(where: Where, mode: str, **more: Any) -> AsyncIterator[Subject]:
    heard = Heard()
    streams = stdio_client(stdio_of(where)) if where[0] == "stdio" else http_of(where)
    callbacks = {"sampling_callback": on_sampling, "elicitation_callback": on_elicitation, "list_roots_callback": on_roots}
    told = {"logging_callback": heard.on_log, "message_handler": heard.on_message}
    async with (
        streams as (reading, writing),
        ClientSession(reading, writing, sampling_capabilities=SAMPLING, **callbacks, **told, **more) as session,
    ):
        await (session.discover() if mode == MODERN else session.initialize())
        yield SessionSubject(session, session, heard)


@contextlib.asynccontextmanager
async def connect_fastmcp(where: Where, mode: str, **more: Any) -> AsyncIterator[Subject]:
    from fastmcp import Client as FastmcpClient
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    heard = Heard()
    transport = (
        StdioTransport(command=where[1], args=where[2:], keep_alive=False)
        if where[0] == "stdio"
        else StreamableHttpTransport(where[1], auth=where[2])
    )
    handlers = {"sampling_handler": on_fastmcp_sampling, "elicitation_handler": on_fastmcp_elicitation}
    told = {"log_handler": heard.on_log, "message_handler": heard.on_message}
    roots = [types.Root.model_validate(root) for root in ROOTS]
    async with FastmcpClient(
        transport, mode=mode, roots=roots, sampling_capabilities=SAMPLING, **handlers, **told, **more
    ) as client:
        yield FastmcpSubject(client, client.session, heard)
