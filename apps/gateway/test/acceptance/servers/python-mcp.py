"""A server on Python's official `mcp` package: two tools, a prompt, a resource and a template."""
from mcp.server import MCPServer

server = MCPServer("python-mcp")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two integers of any size."""
    return a + b


@server.tool()
def shout(text: str) -> str:
    """Answers in capitals."""
    return text.upper()


@server.prompt()
def review(code: str) -> str:
    """Asks for a review of some code."""
    return f"Please review:\n{code}"


@server.resource("notes://all")
def notes() -> str:
    """Every note."""
    return "one\ntwo"


@server.resource("notes://{name}")
def note(name: str) -> str:
    """One note by its name."""
    return f"note {name}"


if __name__ == "__main__":
    server.run("stdio")
