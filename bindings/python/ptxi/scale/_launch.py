"""Runs a grid in windows, each on a process of an executor, and merges their changes of memory."""
import ctypes
import functools
import hashlib
import sys
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .. import errors
from .._header import header
from .._library import call, library
from ..device import Device
from ..module import Dim, Kernel, loads
from . import _work
from ._checkpoint import Checkpoint, identity

_Range = header.structs['ptxiRange']
_one = threading.Lock()  # of this process: a device has one tracker
_texts: Dict[str, bytes] = {}  # of modules that were sent ahead, by their hashes


class ConflictError(errors.Error):
    """Windows of a grid depend on each other: `str()` names the places."""


class Window(NamedTuple):
    """A part of a launch, as a process gets it. `text` is None if the module was sent ahead."""
    digest: str
    text: Optional[bytes]
    options: Dict[str, Any]
    profile: str
    kernel: str
    grid: Dim
    block: Dim
    shared: int
    cluster: Optional[Dim]
    first: int
    count: int  # type: ignore[assignment]  # tuple has a method of this name
    scalars: Dict[int, Any]
    arrays: List[Any]
    places: Dict[int, int]  # argument -> array
    reads: bool
    workers: int


def register_module(digest: str, text: bytes) -> None:
    """Keep the text of a module in this process, so that windows need not bring it."""
    _texts[digest] = text


@functools.lru_cache(maxsize=16)
def _device(profile: str, workers: int) -> Device:
    """Return the device of this process for windows."""
    return Device(profile, workers)


@functools.lru_cache(maxsize=64)
def _module(digest: str, profile: str, workers: int, options: Tuple[Tuple[str, Any], ...]) -> Any:
    """Load a module once."""
    return loads(_texts[digest], device=_device(profile, workers), **dict(options))


def _ranges(arrays: Sequence[Any]) -> Any:
    """Return the memory of arrays as ranges of the library."""
    return (_Range * max(1, len(arrays)))(*((a.ctypes.data, a.nbytes, 3) for a in arrays))


def run_window(w: Window) -> Tuple[bytes, str]:
    """Run a window on copies of the arrays. Return its changes and its output."""
    with _one:
        return _run_window(w)


def _run_window(w: Window) -> Tuple[bytes, str]:
    """Run a window while no other thread of this process runs one."""
    if w.text is not None:
        register_module(w.digest, w.text)
    device = _device(w.profile, w.workers)
    kernel = _module(w.digest, w.profile, w.workers, tuple(sorted(w.options.items())))[w.kernel]
    arrays = [np.array(a) for a in w.arrays]
    arguments = [arrays[w.places[k]] if k in w.places else w.scalars[k]
                 for k in range(len(w.places) + len(w.scalars))]
    output: List[str] = []
    device.output = output.append
    context = device._context
    try:
        call('CtxSetTracking', context, 3 if w.reads else 1)
        kernel.launch(w.grid, w.block, arguments, shared=w.shared, cluster=w.cluster, window=(w.first, w.count))
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        result = library().CtxTakeChanges(context, _ranges(arrays), len(arrays), ctypes.byref(data),
                                          ctypes.byref(size))
        if result:
            raise errors.launch_error(context, result)
        try:
            return ctypes.string_at(data, size.value), ''.join(output)
        finally:
            library().Free(data)
    finally:
        library().CtxSetTracking(context, 0)
        device.output = None


def _merge(arrays: Sequence[Any], parts: Sequence[bytes]) -> None:
    """Apply the changes of all windows. Raises ConflictError."""
    pointers = (ctypes.c_char_p * len(parts))(*parts)
    sizes = (ctypes.c_size_t * len(parts))(*map(len, parts))
    text = ctypes.c_void_p()
    result = library().MergeChanges(_ranges(arrays), len(arrays), ctypes.cast(pointers, ctypes.c_void_p), sizes,
                                    len(parts), ctypes.byref(text))
    message = ctypes.string_at(text.value).decode(errors='replace') if text.value else ''
    library().Free(text)
    if result:
        raise ConflictError(message.rstrip('\n') or f'the changes cannot be merged (error {result})', result)


def _split(args: Sequence[Any]) -> Tuple[List[Any], Dict[int, int], Dict[int, Any]]:
    """Return the different arrays of the arguments, which argument has which, and the other arguments."""
    arrays: List[Any] = []
    places: Dict[int, int] = {}
    scalars: Dict[int, Any] = {}
    for k, a in enumerate(args):
        if not isinstance(a, np.ndarray) or not a.ndim:
            scalars[k] = a
            continue
        same = [n for n, b in enumerate(arrays) if b is a]
        if not same:
            if not a.flags.c_contiguous:
                raise ValueError(f'argument {k}: the windows of a launch need arrays without gaps')
            if any(np.shares_memory(a, b) for b in arrays):
                raise ValueError(f'argument {k}: it overlaps another array; the windows of a launch have copies')
            arrays.append(a)
        places[k] = same[0] if same else len(arrays) - 1
    return arrays, places, scalars


def _clusters(grid: Dim, cluster: Optional[Dim]) -> int:
    """Return the number of clusters of a grid."""
    total = 1
    per = np.atleast_1d(cluster or 1).tolist()
    for k, n in enumerate(np.atleast_1d(grid).tolist()):
        total *= n // (per[k] if k < len(per) else 1)
    return total


def launch(kernel: Kernel, grid: Dim, block: Dim, args: Sequence[Any], *, shared: int = 0,
           cluster: Optional[Dim] = None, windows: Optional[int] = None, executor: Any = None,
           conflicts: str = 'all', checkpoint: Any = None, progress: _work.Progress = None, workers: int = 1) -> None:
    """Launch a kernel in windows of its grid, on the processes of an executor. The arrays get the results.

    `windows`    number of windows; default: two for each worker of the executor
    `conflicts`  'all': it is an error if a window reads what another one writes, or if they write different values;
                 'writes': reads are not recorded, which is faster
    `workers`    threads of each process

    The other parameters are those of `Kernel.launch` and `sweep`. Each window runs on copies of the arrays. Memory that
    is not in the arrays must not change. Sums of floats by `red` are repeated in the order of the blocks, so the result
    has the bits of one worker. Raises LaunchError if a window fails, or if the blocks of the grid may depend on each
    other; ConflictError if they did; ScaleError if a process of the executor ends. The arrays are then as before.
    """
    if conflicts not in ('all', 'writes'):
        raise ValueError(f"conflicts is 'all' or 'writes', not {conflicts!r}")
    arrays, places, scalars = _split(args)
    total = _clusters(grid, cluster or kernel.cluster)
    count = max(1, min(total, windows or 2 * _work.workers_of(executor)))
    text, options = kernel.source
    digest = hashlib.sha256(text).hexdigest()
    sent_ahead = _send_ahead(executor, digest, text)
    bounds = [(total * k // count, total * (k + 1) // count) for k in range(count)]
    every = [Window(digest, None if sent_ahead else text, options, kernel.device.profile, kernel.name, grid, block,
                    shared, cluster, a, b - a, scalars, arrays, places, conflicts == 'all', workers)
             for a, b in bounds]
    found: Dict[int, Tuple[bytes, str]] = {}
    store = None
    if checkpoint is not None:
        content = hashlib.sha256(b''.join(a.tobytes() for a in arrays)).hexdigest()
        store = Checkpoint(checkpoint, identity(run_window, digest, kernel.name, grid, block, shared, cluster, bounds,
                                                scalars, places, content))
    bar = _work.Bar('launch', progress)
    try:
        for first, _, result in store.load() if store else ():
            found[first] = result
        tasks = ((k, run_window, (w,)) for k, w in enumerate(every) if k not in found)
        for k, _, result in _work.run(executor, tasks, store.path if store else None):
            found[k] = result
            if store:
                store.add(k, k + 1, result)
            bar.show(len(found) / count)
    finally:
        bar.end()
        if store:
            store.close()
    _merge(arrays, [found[k][0] for k in range(count)])
    output = ''.join(found[k][1] for k in range(count))
    if output:
        (kernel.device.output or sys.stdout.write)(output)


def _send_ahead(executor: Any, digest: str, text: bytes) -> bool:
    """Send a module to all processes of Dask, also to those that join later. False for other executors."""
    client = getattr(executor, '_client', None)
    if client is None:
        return False
    from ._dask import ModulePlugin
    client.register_plugin(ModulePlugin(digest, text))
    return True
