"""Back-translation and its engines."""

from jointmatch.augment.translation.apertium import Apertium
from jointmatch.augment.translation.backtranslation import BackTranslation
from jointmatch.augment.translation.engine import Engine, Fault, Function, add_engine
from jointmatch.augment.translation.marian import Marian

__all__ = ["Apertium", "BackTranslation", "Engine", "Fault", "Function", "Marian", "add_engine"]
