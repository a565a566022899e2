"""Uses what the sample server offers over HTTP, with fastmcp's client. Arguments: the address, and legacy or auto."""
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main() -> None:
    seen: dict[str, object] = {}
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def on_elicitation(message: str, response_type: object, params: object, context: object) -> object:
        return {"name": "Ada"} if message == "Who?" else {"place": "Turin"}

    transport = StreamableHttpTransport(sys.argv[1])
    handlers = {"elicitation_handler": on_elicitation, "progress_handler": on_progress}
    async with Client(transport, mode=sys.argv[2], **handlers) as client:
        seen["tools"] = len(await client.list_tools())
        seen["echo"] = (await client.call_tool("echo", {"text": "grüße"})).content[0].text
        seen["polled"] = (await client.call_tool("polls", {})).content[0].text
        seen["steps"] = steps
        seen["asked"] = (await client.call_tool("asks", {})).content[0].text
        seen["resource"] = (await client.read_resource("note:///1"))[0].text
        try:
            await client.call_tool("secret", {})
        except Exception as error:  # noqa: BLE001: whatever this line calls it
            seen["secret"] = str(error)
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
