"""A name -> class table that refuses duplicates and suggests the nearest name."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from jointmatch.errors import UnknownNameError, did_you_mean

T = TypeVar("T")
C = TypeVar("C")


class Registry(Generic[T]):
    """Classes of one kind by the name a user types."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, type[T]] = {}

    def register(self, name: str) -> Callable[[type[C]], type[C]]:
        """Class decorator: make the class known as ``name`` and give it that ``name``."""

        def add(cls: type[C]) -> type[C]:
            if name in self._entries:
                raise ValueError(f"{self.kind} {name!r} is already {self._entries[name].__qualname__}.")
            cls.name = name  # type: ignore[attr-defined]
            self._entries[name] = cls  # type: ignore[assignment]
            return cls

        return add

    def __getitem__(self, name: str) -> type[T]:
        if name in self._entries:
            return self._entries[name]
        known = ", ".join(sorted(self))
        raise UnknownNameError(f"Unknown {self.kind} {name!r}.{did_you_mean(name, self)} Known: {known}.")

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)
