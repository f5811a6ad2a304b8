"""Semi-supervised text classification by joint pseudo-labelling."""

from typing import TYPE_CHECKING, Any

from jointmatch.errors import JointMatchError
from jointmatch.version import __version__

if TYPE_CHECKING:
    from jointmatch.estimator import TextClassifier, load

__all__ = ["JointMatchError", "TextClassifier", "__version__", "load"]


def __getattr__(name: str) -> Any:
    # torch and scikit-learn take seconds to import; the command line's help must not wait for them.
    if name in ("TextClassifier", "load"):
        from jointmatch import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module 'jointmatch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
