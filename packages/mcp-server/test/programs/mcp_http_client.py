"""Uses over HTTP what only sessions have, with the official Python SDK. Argument: the address."""
import asyncio
import json
import sys

import mcp_types as types
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    seen: dict[str, object] = {}
    steps: list[float] = []
    changed = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def on_elicitation(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        content = {"name": "Ada"} if params.message == "Who?" else {"place": "Turin"}
        return types.ElicitResult(action="accept", content=content)

    async def on_message(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with (
        streamable_http_client(sys.argv[1]) as (reading, writing),
        ClientSession(reading, writing, elicitation_callback=on_elicitation, message_handler=on_message) as session,
    ):
        seen["revision"] = (await session.initialize()).protocol_version
        seen["tools"] = len((await session.list_tools()).tools)
        seen["echo"] = (await session.call_tool("echo", {"text": "grüße"})).content[0].text
        seen["polled"] = (await session.call_tool("polls", {}, progress_callback=on_progress)).content[0].text
        seen["steps"] = steps
        seen["asked"] = (await session.call_tool("asks", {})).content[0].text
        await session.call_tool("changes", {})
        await asyncio.wait_for(changed.wait(), 10)
        seen["resource"] = (await session.read_resource("note:///1")).contents[0].text
        try:
            await session.call_tool("secret", {})
        except Exception as error:  # noqa: BLE001: whatever this SDK's line calls it
            seen["secret"] = str(error)
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
