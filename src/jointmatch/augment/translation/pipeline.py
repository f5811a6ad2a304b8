"""One long-running Apertium process for one direction, fed text by text."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

_BLOCK = 1 << 16
_BYTES_PER_SECOND = 10_000  # far below the slowest speed seen, so that a long text has enough time


class PipelineBroken(Exception):
    """The process died, hung or lost count; ``done`` has the answers that came before."""

    def __init__(self, reason: str, done: list[str]) -> None:
        super().__init__(reason)
        self.done = done


class Pipeline:
    """A process that answers each NUL-terminated text with its NUL-terminated translation.

    Each text starts with a blank that holds its number, and an answer without that very number breaks the
    pipeline, so no text can get another one's translation.

    Args:
        command: The program and its arguments.
        patience: Seconds without a byte in or out after which the process counts as hung.
        primer: Sent before each text, and its answer discarded: for a process whose state after one text
            would affect the next.
    """

    def __init__(self, command: Sequence[str], patience: float = 30, primer: str = "") -> None:
        self.command = list(command)
        self.patience = patience
        self.primer = primer
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize | None = None
        self._count = 0

    def translate(self, streams: Sequence[str]) -> list[str]:
        """Return the translations in order, or raise PipelineBroken; the next call then starts a new process."""
        marks = [f"[n{self._count + i}]" for i in range(len(streams))]
        self._count += len(streams)
        before = f"{self.primer}\0" if self.primer else ""
        data = "".join(f"{before}{mark}{stream}\0" for mark, stream in zip(marks, streams, strict=True)).encode()
        every = 2 if self.primer else 1
        done: list[str] = []
        try:
            answers = islice(self._exchange(data, every * len(marks)), every - 1, None, every)
            for mark, answer in zip(marks, answers, strict=True):
                text = answer.decode()
                if not text.startswith(mark):
                    raise OSError("an answer came without its text's number")
                done.append(text.removeprefix(mark))
        except (OSError, UnicodeError) as error:
            self.close()
            raise PipelineBroken(str(error), done) from error
        except BaseException:  # interrupted half-way: what is still in the pipe belongs to no text
            self.close()
            raise
        return done

    def close(self) -> None:
        """Stop the process and all that it started."""
        if self._end:
            self._end()
        self._process = self._end = None

    def _exchange(self, data: bytes, count: int) -> Iterator[bytes]:
        """Write and read concurrently, as a full pipe on one side blocks the other; yield each answer once complete."""
        process = self._started()
        assert process.stdin
        assert process.stdout
        unsent, received = memoryview(data), b""
        patience = self.patience + len(data) / _BYTES_PER_SECOND
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdin, selectors.EVENT_WRITE)
            selector.register(process.stdout, selectors.EVENT_READ)
            while count > 0:
                ready = selector.select(patience)
                if not ready:
                    raise TimeoutError(f"no answer for {patience:.0f} seconds")
                for key, _ in ready:
                    if key.fileobj is process.stdin:
                        with suppress(BlockingIOError):
                            unsent = unsent[os.write(key.fd, unsent[:_BLOCK]) :]
                        if not unsent:
                            selector.unregister(process.stdin)
                        continue
                    block = os.read(key.fd, _BLOCK)
                    if not block:
                        raise BrokenPipeError("the process ended")
                    *whole, received = (received + block).split(b"\0")
                    yield from whole[:count]
                    count -= len(whole)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            process = subprocess.Popen(  # noqa: S603 - the command is the engine's own, and no shell reads it
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=os.environ | {"LC_ALL": "C.UTF-8"},
                start_new_session=True,  # the program is a script with a dozen children, stopped together
            )
            self._process, self._end = process, weakref.finalize(self, _kill, process, os.getpid())
            assert process.stdin
            os.set_blocking(process.stdin.fileno(), False)
        return self._process


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a fork has a copy of the handle but does not own the process
        return
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()
    process.wait()
