"""What each of Python's clients does with the interop server: as features/*.ts, and by the same names."""
# Each of them adds its features, in this order.
import changes  # noqa: F401
import tools  # noqa: F401
import calls  # noqa: F401
import lists  # noqa: F401
import questions  # noqa: F401
from feature import FEATURES

__all__ = ["FEATURES"]
