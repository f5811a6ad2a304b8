"""What worker processes have in common."""

from __future__ import annotations

import os
import threading
import time


def follow(parent: int) -> None:
    """End this worker process when the process that started it has ended, for whatever reason."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
