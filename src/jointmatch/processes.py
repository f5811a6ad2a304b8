"""What processes that are started for work beside the main one have in common."""

from __future__ import annotations

import os
import threading
import time


def follow(parent: int) -> None:
    """A worker ends with the process that started it, however that ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
