"""A Python session server as one would build it from Jupyter's parts: MCP over Streamable HTTP, one ipykernel for each
session. Prints its port as the first line. The bench compares berth-shipyard with it; it is written to be fast, not safe.
"""

import asyncio
import os
import socket
import tempfile
import time
import uuid

import uvicorn
from jupyter_client.manager import AsyncKernelManager
from mcp.server import MCPServer
from typing_extensions import TypedDict

server = MCPServer("jupyter-sessions", log_level="ERROR")
sessions: dict[str, "Kernel"] = {}


class Status(TypedDict):
    session_id: str
    status: str
    created_at: str


class Kernel:
    """One kernel process and the client that speaks with it; calls run one at a time."""

    def __init__(self) -> None:
        address = os.path.join(tempfile.gettempdir(), uuid.uuid4().hex[:12])
        self.manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=address)
        self.created_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.turn = asyncio.Lock()

    async def start(self) -> None:
        await self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        await self.client.wait_for_ready(timeout=60)

    async def execute(self, code: str) -> str:
        async with self.turn:
            request = self.client.execute(code, store_history=False, allow_stdin=False)
            text: list[str] = []
            while True:
                message = await self.client.get_iopub_msg(timeout=600)
                if message["parent_header"].get("msg_id") != request:
                    continue
                kind, content = message["msg_type"], message["content"]
                if kind == "stream":
                    text.append(content["text"])
                elif kind in ("execute_result", "display_data"):
                    text.append(content["data"].get("text/plain", ""))
                elif kind == "error":
                    return "Error: Execution Error:\n" + "\n".join(content["traceback"])
                elif kind == "status" and content["execution_state"] == "idle":
                    return "".join(text)

    async def stop(self) -> None:
        self.client.stop_channels()
        await self.manager.shutdown_kernel(now=True)


def status_of(session_id: str, status: str) -> Status:
    return Status(session_id=session_id, status=status, created_at=sessions[session_id].created_at)


@server.tool()
async def start_python_session(session_id: str | None = None) -> Status:
    name = session_id or f"session_{uuid.uuid4().hex[:12]}"
    kernel = Kernel()
    await kernel.start()
    sessions[name] = kernel
    return status_of(name, "active")


@server.tool()
async def execute_python_code(command: str, session_id: str | None = None) -> str:
    return await sessions[session_id or ""].execute(command)


@server.tool()
async def stop_python_session(session_id: str) -> Status:
    answer = status_of(session_id, "stopped")
    await sessions.pop(session_id).stop()
    return answer


async def main() -> None:
    # The protocol is named, since asyncio switches Nagle's algorithm off only where it is: 40 ms an answer otherwise.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    await uvicorn.Server(config).serve(sockets=[listening])
    for kernel in sessions.values():
        await kernel.stop()


asyncio.run(main())
