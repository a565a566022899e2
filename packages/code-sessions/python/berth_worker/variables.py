"""Names that code has defined. Runs beside that code, and runs none of it: only built-in types show what they hold."""
import sys
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType

_MAX_VARIABLES = 1_000
_MAX_PREVIEW = 200
#: Characters of a name; the host reads at most 1,000 UTF-16 units.
_MAX_NAME = 500
_MAX_DEPTH = 3
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}"}
_TEXTS = (str, bytes, bytearray)
_SCALARS = (bool, float, complex, type(None), type(Ellipsis), range)
_SIZED = (*_SCALARS, *_TEXTS, int, *_BRACKETS)
_name_of = type.__dict__["__name__"].__get__


def list_variables(namespace):
    for _ in range(10):
        try:
            pairs = list(namespace.items())
            break
        except RuntimeError:
            continue  # it grew while it was read
    else:
        pairs = []
    named = [(name, value) for name, value in pairs if type(name) is str and not name.startswith("_")]
    named.sort(key=lambda pair: pair[0])
    return {"variables": [_told(name, value) for name, value in named[:_MAX_VARIABLES]]}


def _told(name, value):
    kind = type(value)
    size = sys.getsizeof(value) if _is_one_of(kind, _SIZED) else None
    return {"name": name[:_MAX_NAME], "type": _name_of(kind)[:200], "preview": _preview(value, 0)[:_MAX_PREVIEW], "size": size}


def _is_one_of(kind, kinds):
    """By identity: `in` would ask a metaclass."""
    for known in kinds:
        if kind is known:
            return True
    return False


def _preview(value, depth):
    kind = type(value)
    if _is_one_of(kind, _TEXTS):
        return repr(value[:_MAX_PREVIEW])
    if kind is int:
        bits = value.bit_length()
        return repr(value) if bits <= 640 else f"<int of {bits} bits>"
    if _is_one_of(kind, _SCALARS):
        return repr(value)
    if _is_one_of(kind, _BRACKETS):
        return _items(value, kind, depth)
    if kind is FunctionType or kind is BuiltinFunctionType:
        return f"<function {value.__name__}>"
    if kind is ModuleType:
        name = ModuleType.__getattribute__(value, "__dict__").get("__name__")
        return f"<module {name}>" if type(name) is str else "<module>"
    if isinstance(kind, type) and issubclass(kind, type):
        return f"<class {_name_of(value)}>"
    return "" if depth == 0 else f"<{_name_of(kind)}>"


def _items(value, kind, depth):
    left, right = _BRACKETS[kind]
    if depth == _MAX_DEPTH:
        return f"{left}…{right}"
    try:
        items = list(islice(dict.items(value) if kind is dict else value, 40))
    except RuntimeError:
        return f"{left}…{right}"  # it changed meanwhile
    shown, room = [], _MAX_PREVIEW
    for item in items:
        if kind is dict:
            text = f"{_preview(item[0], depth + 1)}: {_preview(item[1], depth + 1)}"
        else:
            text = _preview(item, depth + 1)
        shown.append(text)
        room -= len(text) + 2
        if room <= 0:
            break
    if len(shown) < len(value):
        shown.append("…")
    if kind is tuple and len(shown) == 1:
        shown.append("")
    return f"{left}{', '.join(shown)}{right}".replace(", )", ",)")
