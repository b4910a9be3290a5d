"""Sends modules to the workers of Dask."""
from typing import Any

from distributed import WorkerPlugin  # type: ignore[import-not-found,unused-ignore]

from ._launch import register_module


class ModulePlugin(WorkerPlugin):  # type: ignore[misc,unused-ignore]
    """Brings a module to each worker once. Its name is the hash of the text, so the scheduler keeps one of it."""

    def __init__(self, digest: str, text: bytes) -> None:
        self.name = f'ptxi-{digest}'
        self._digest, self._text = digest, text

    def setup(self, worker: Any) -> None:
        """Keep the text when the worker starts, or at once if it has started."""
        register_module(self._digest, self._text)
