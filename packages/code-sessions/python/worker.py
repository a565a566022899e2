"""First file of the worker (CPython 3.10 to 3.13, standard library only).

A boot line of the host (src/worker/boot.ts) has read this text from descriptor 0 and runs it; `read(size)` is the boot
line's. The other files come next over the same stream, are importable as `berth_worker.*` from memory, and each is
compiled when it is first needed: compiling all of them would cost more than the interpreter's own start. For the same
reason nothing here imports `json`, `threading`, `ast` or `site` before the host has been told that the worker is ready.
"""
import builtins
import sys
from _json import make_scanner

sys.modules["berth_worker.boot"] = sys.modules["__main__"]


class _Rules:
    """What `json.JSONDecoder` would be to its scanner, without the 15 ms that importing `json` takes."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo = {}


class _SourceFinder:
    """Imports the worker's own files from what the host sent."""

    def __init__(self, sources):
        self.sources = sources
        # A copy: what the caller's code does to `len` or `open` is its own affair.
        self.builtins = dict(builtins.__dict__)

    def find_spec(self, name, path=None, target=None):
        if name not in self.sources:
            return None
        spec = type(sys.__spec__)(name, self, origin="berth")
        if name == "berth_worker":
            spec.submodule_search_locations = []
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        module.__builtins__ = self.builtins
        exec(compile(self.sources[name], f"<{name}>", "exec", 0, True), module.__dict__)


scan = make_scanner(_Rules)
bundle, _ = scan(read(int(read(8))).decode(), 0)  # noqa: F821
sys.meta_path.append(_SourceFinder(bundle["sources"]))

from berth_worker.main import serve  # noqa: E402

serve(bundle["settings"], scan)
