"""A server of Python's mcp library that serves 2026-07-28 alone: the line that would open an older session is refused before the library sees it."""
import os
import sys
import threading
from typing import Annotated

read_end, write_end = os.pipe()
source = os.dup(0)
os.dup2(read_end, 0)


def gate() -> None:
    with os.fdopen(source, "rb") as lines, os.fdopen(write_end, "wb", buffering=0) as sink:
        for line in lines:
            if b'"method":"initialize"' in line:
                identifier = __import__("json").loads(line)["id"]
                os.write(1, b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"Method not found"}}\n' % identifier)
            else:
                sink.write(line)
    os._exit(0)  # The client has ended the session.


threading.Thread(target=gate, daemon=True).start()

from mcp.server.mcpserver import MCPServer  # noqa: E402
from mcp.server.mcpserver.resolve import Elicit, Resolve  # noqa: E402
from pydantic import BaseModel  # noqa: E402


class Sure(BaseModel):
    ok: bool


server = MCPServer("python-server", instructions="from Python")


async def ask() -> Elicit[Sure]:
    return Elicit("Sure?", Sure)


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def asks(sure: Annotated[Sure, Resolve(ask)]) -> str:
    return f"sure: {sure.ok}"


server.run()
