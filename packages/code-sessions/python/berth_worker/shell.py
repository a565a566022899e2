"""`!command` lines, and advice for what only notebooks know.

Asked only when a cell is not Python: a line of a text that begins with `!` is never touched. Python names the line
where it stopped; that one is rewritten, and Python asked again.
"""
import builtins
import re

from berth_worker.source import parse

_COMMAND = re.compile(r"^(\s*)(?:([A-Za-z_][\w.\[\]'\", ]*?)\s*=\s*)?!(?!=)(.*)$")
_MAGIC = re.compile(r"^\s*(?:[A-Za-z_]\w*\s*=\s*)?(%%?\w+)")
_QUESTION = re.compile(r"^\s*(?:\?+\s*([\w.]+)|([\w.]+)\s*\?+)\s*$")
_NAME = "__berth_command__"


class UnsupportedSyntax(Exception):
    """A notebook's syntax that sessions do not have."""

    __module__ = "builtins"


_ADVICE = {
    "%pip": "packages are installed by the operator of this service; what is installed can be imported.",
    "%conda": "packages are installed by the operator of this service; what is installed can be imported.",
    "%matplotlib": "leave the line out: figures are shown by themselves.",
    "%%bash": "write each command as a line that begins with `!`.",
    "%%sh": "write each command as a line that begins with `!`.",
    "%cd": "use os.chdir(…).",
    "%env": "use os.environ.",
    "%timeit": "use the module timeit.",
    "%%timeit": "use the module timeit.",
    "%time": "use time.perf_counter().",
    "%%time": "use time.perf_counter().",
    "%run": "use runpy.run_path(…).",
    "%%writefile": "use pathlib.Path(…).write_text(…).",
}


def parse_with_commands(text, name):
    lines = text.split("\n")
    if text.lstrip().startswith("%%"):
        _refuse(text.lstrip().split("\n")[0], 1)
    builtins.__berth_command__ = run_command
    first = None
    for _ in range(len(lines)):
        try:
            return parse("\n".join(lines), name)
        except SyntaxError as error:
            stopped = error
        first = first or stopped
        if not _rewrite(lines, (stopped.lineno or 1) - 1):
            raise first
    return parse("\n".join(lines), name)


def _rewrite(lines, at):
    """The line where Python stopped, else the first that can only be a command. False when there is none."""
    places = [at, *range(len(lines))] if 0 <= at < len(lines) else range(len(lines))
    _refuse(lines[places[0]], places[0] + 1)
    for place in places:
        line = lines[place]
        match = _COMMAND.match(line)
        if match is None:
            continue
        indent, target, command = match.groups()
        end = place
        while command.endswith("\\") and end + 1 < len(lines):
            end += 1
            command = command[:-1] + lines[end].strip()
        call = f"{_NAME}({command.strip()!r}, {target is not None})"
        lines[place] = f"{indent}{target} = {call}" if target else f"{indent}{call};"
        for continued in range(place + 1, end + 1):
            lines[continued] = ""
        return True
    return False


def _refuse(line, number):
    magic = _MAGIC.match(line)
    if magic:
        advice = _ADVICE.get(magic[1], "write it in Python; of a notebook's syntax only `!command` is supported.")
        raise UnsupportedSyntax(f"line {number}: {magic[1]} is not supported: {advice}")
    question = _QUESTION.match(line)
    if question:
        thing = question[1] or question[2]
        raise UnsupportedSyntax(f"line {number}: `?` is not supported: use help({thing}) or print({thing}.__doc__).")


def run_command(command, keep):
    """By /bin/sh. Its exit status is `_exit_code`; with `x = !command` its lines are the value."""
    import os
    import signal
    import subprocess
    import sys

    output = subprocess.PIPE if keep else None
    child = subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=output, start_new_session=True
    )
    try:
        text, _ = child.communicate()
    except BaseException:
        for number in (signal.SIGINT, signal.SIGKILL):
            try:
                os.killpg(child.pid, number)
                child.wait(0.5)
                break
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        raise
    sys.modules["__main__"].__dict__["_exit_code"] = child.returncode
    return text.decode("utf-8", "replace").splitlines() if keep else None
