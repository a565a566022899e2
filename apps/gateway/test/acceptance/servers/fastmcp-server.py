"""A server on the `fastmcp` package: two tools, a prompt, a resource and a template."""
from fastmcp import FastMCP

server = FastMCP("fastmcp-server")


@server.tool
def multiply(a: int, b: int) -> int:
    """Multiplies two integers of any size."""
    return a * b


@server.tool
def reverse(text: str) -> str:
    """Answers with the text reversed."""
    return text[::-1]


@server.prompt
def summarise(text: str) -> str:
    """Asks for a summary of a text."""
    return f"Summarise: {text}"


@server.resource("config://version")
def version() -> str:
    """The version of this server."""
    return "1.0"


@server.resource("users://{name}/profile")
def profile(name: str) -> str:
    """The profile of one user."""
    return f"profile of {name}"


if __name__ == "__main__":
    server.run(show_banner=False)
