"""Stands in for one direction of Apertium: a process that answers each NUL-ended text, or misbehaves when told to."""

import os
import sys
import time
from pathlib import Path


def answer(text: str) -> str:
    if "hangs" in text:
        time.sleep(600)
    if "dies" in text:
        sys.exit(1)
    if "misnumbered" in text:
        return text.replace("[n", "[n9")
    if "vanishes" in text:
        return text.split("]")[0] + "]"
    return text.replace("big", "large")


def main() -> None:
    calls = Path(sys.argv[1])
    if (calls.parent / "uninstalled").exists():
        sys.exit(1)
    waiting = b""
    while block := os.read(0, 1 << 16):
        *whole, waiting = (waiting + block).split(b"\0")
        for text in whole:
            with calls.open("a") as log:
                log.write(text.decode() + "\n")
            sys.stdout.buffer.write(answer(text.decode()).encode() + b"\0")
            sys.stdout.buffer.flush()


main()
