"""A cell's text: compiled, and kept so that tracebacks and `inspect` can show its lines."""
import sys

from _ast import Expr, Expression

#: ast.PyCF_ONLY_AST, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT; the module `ast` takes 10 ms to import.
_ONLY_AST = 0x400
_TOP_AWAIT = 0x2000
_MAX_CELLS = 1_000
_MAX_CHARS = 4_194_304


class Sources:
    def __init__(self):
        self._kept = {}
        self._unpublished = []
        self._chars = 0

    def add(self, text, count):
        """Its name in tracebacks."""
        name = f"<cell {count}>"
        self._kept[name] = text
        self._unpublished.append(name)
        self._chars += len(text)
        while self._chars > _MAX_CHARS or len(self._kept) > _MAX_CELLS:
            oldest = next(iter(self._kept))
            if oldest == name:
                break
            self._chars -= len(self._kept.pop(oldest))
            if "linecache" in sys.modules:
                sys.modules["linecache"].cache.pop(oldest, None)
        return name

    def publish(self):
        """To `linecache`, which is imported when there is something to show."""
        import linecache

        for name in self._unpublished:
            text = self._kept.get(name)
            if text is not None:
                # Without a time of change, so that linecache.checkcache lets it be.
                linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        self._unpublished.clear()


def parse(text, name):
    return compile(text, name, "exec", _ONLY_AST | _TOP_AWAIT, True)


def split(text, name):
    """Code of all statements but a last expression, and that expression's; `;` behind it means that it is not shown."""
    is_shown = not text.rstrip().endswith(";")
    # A lone expression by one look at its text, which costs a fifth. A second look would warn of a bad escape once more.
    if is_shown and "\n" not in text and "\\" not in text:
        try:
            return None, compile(text, name, "eval", _TOP_AWAIT, True)
        except SyntaxError:
            pass
    tree = None
    try:
        tree = parse(text, name)
    except SyntaxError:
        if "!" not in text and "%" not in text and "?" not in text:
            raise
    if tree is None:  # not inside `except`: what comes of it is no consequence of the first look
        from berth_worker.shell import parse_with_commands

        tree = parse_with_commands(text, name)
    last = None
    if tree.body and type(tree.body[-1]) is Expr and is_shown:
        last = compile(Expression(tree.body.pop().value), name, "eval", _TOP_AWAIT, True)
    return compile(tree, name, "exec", _TOP_AWAIT, True), last
