"""A name -> class table that refuses duplicates, suggests the nearest name and loads plug-ins."""

import warnings
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from jointmatch.errors import PluginError, UnknownNameError, did_you_mean
from jointmatch.plugins import Plugin, PluginWarning, load_plugins

T = TypeVar("T")
C = TypeVar("C")


class Registry(Generic[T]):
    """Classes of one kind by the name a user types.

    Args:
        kind: What to call them in error messages.
        group: Entry point group through which other packages add theirs; read when a name is first looked up.
        base: Base class that a plug-in's class must have.
    """

    def __init__(self, kind: str, group: str = "", base: type = object) -> None:
        self.kind, self.group, self.base = kind, group, base
        self._entries: dict[str, type[T]] = {}
        self._sources: dict[str, str] = {}
        self._problems: dict[str, str] = {}
        self._complete = not group

    def register(self, name: str) -> Callable[[type[C]], type[C]]:
        """Class decorator: register the class as ``name`` and set its ``name`` attribute."""

        def add(cls: type[C]) -> type[C]:
            if name in self._entries:
                raise ValueError(f"{self.kind} {name!r} is already {self._entries[name].__qualname__}.")
            cls.name = name  # type: ignore[attr-defined]
            self._entries[name] = cls  # type: ignore[assignment]
            return cls

        return add

    def source(self, name: str) -> str:
        """Return the plug-in that a class comes from, with its version; empty for the package's own."""
        self._complete_once()
        return self._sources.get(name, "")

    def __getitem__(self, name: str) -> type[T]:
        self._complete_once()
        if name in self._entries:
            return self._entries[name]
        if name in self._problems:
            raise UnknownNameError(f"There is no {self.kind} {name!r}: {self._problems[name]}")
        known = ", ".join(sorted(self))
        raise UnknownNameError(f"Unknown {self.kind} {name!r}.{did_you_mean(name, self)} Known: {known}.")

    def __contains__(self, name: object) -> bool:
        self._complete_once()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self._complete_once()
        return iter(self._entries)

    def _complete_once(self) -> None:
        """Load the plug-ins on first use; a name provided twice is an error every time."""
        if self._complete:
            return
        self._complete = True  # a plug-in may itself look up names while it is loaded
        taken: dict[str, Plugin] = {}
        try:
            for plugin in load_plugins(self.group, self.base):
                if self._is_usable(plugin):
                    self._refuse_twice(plugin, taken.get(plugin.name))
                    taken[plugin.name] = plugin
        except PluginError:
            self._complete = False
            raise
        for name, plugin in taken.items():
            self._sources[name] = plugin.source
            if name not in self._entries and plugin.found:  # its module may already have registered it
                self.register(name)(plugin.found)

    def _is_usable(self, plugin: Plugin) -> bool:
        """Whether the plug-in provides a class not known by another name; warn if not."""
        others = [name for name, cls in self._entries.items() if cls is plugin.found and name != plugin.name]
        problem = plugin.problem
        if others:
            problem = f"The plug-in {plugin.source} gives {plugin.name!r} a class that is known as {others[0]!r}."
        if problem:
            self._problems[plugin.name] = problem
            warnings.warn(f"{problem} The others are not affected.", PluginWarning, stacklevel=4)
        return not problem

    def _refuse_twice(self, plugin: Plugin, other: Plugin | None) -> None:
        own = self._entries.get(plugin.name)
        if other:
            first = f"the plug-in {other.source}"
        elif own and own is not plugin.found:
            first = f"{own.__module__}.{own.__qualname__}"
        else:
            return
        raise PluginError(
            f"The {self.kind} {plugin.name!r} is given twice, by {first} and by the plug-in {plugin.source}. "
            f"Uninstall the plug-in, or give its entry point in {self.group!r} another name."
        )
