"""Uses everything that the sample server offers, with the official Python SDK. Arguments: node, the server program."""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    seen: dict[str, object] = {}
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    server = StdioServerParameters(command=sys.argv[1], args=[sys.argv[2]])
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        seen["tools"] = len((await session.list_tools()).tools)
        seen["echo"] = (await session.call_tool("echo", {"text": "grüße"})).content[0].text
        seen["printed"] = (await session.call_tool("prints", {})).content[0].text
        await session.call_tool("steps", {}, progress_callback=on_progress)
        seen["steps"] = steps[:2]
        seen["prompt"] = (await session.get_prompt("greet", {"who": "Ada"})).messages[0].content.text
        seen["resource"] = (await session.read_resource("note:///by/ada")).contents[0].text
        try:
            await session.call_tool("secret", {})
        except Exception as error:  # noqa: BLE001: whatever this SDK's line calls it
            seen["secret"] = str(error)
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
