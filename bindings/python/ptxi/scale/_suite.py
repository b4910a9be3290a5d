"""Many independent functions, such as the tests of kernels."""
import time
import traceback
from typing import Any, Callable, Dict, Iterable, Mapping, NamedTuple, Tuple, Union

from . import _shard, _work
from ._checkpoint import Checkpoint, identity


class Outcome(NamedTuple):
    """What became of a case. `error` is None, or the text of its exception with its traceback."""
    name: str
    result: Any
    error: Any
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the case returned."""
        return self.error is None


def _call(name: str, function: Callable[..., Any], arguments: Tuple[Any, ...]) -> Outcome:
    """Run a case in a process of the executor."""
    start = time.monotonic()
    try:
        result, error = function(*arguments), None
    except Exception:  # pylint: disable=broad-except
        result, error = None, traceback.format_exc()
    return Outcome(name, result, error, time.monotonic() - start)


def suite(cases: Union[Mapping[str, Any], Iterable[Any]], *, executor: Any = None, checkpoint: Any = None,
          shard: Union[str, _shard.Shard, None] = None, progress: _work.Progress = None) -> Dict[str, Outcome]:
    """Call many functions on the processes of an executor. Return their outcomes by name, in the order of the cases.

    `cases`  a mapping of names to functions, or an iterable of (name, function, argument, ...)

    A case that raises an exception fails, and the others go on. The other parameters are those of `sweep`; a shard has
    the cases that it selects by name. Cases of the checkpoint are not run again.
    """
    listed = [(n, f) for n, f in cases.items()] if isinstance(cases, Mapping) else [tuple(c) for c in cases]
    part = _shard.shard(shard)
    chosen = [c for c in listed if part is None or part.has(c[0])]
    if len({c[0] for c in chosen}) != len(chosen):
        raise ValueError('two cases have the same name')
    store = Checkpoint(checkpoint, identity(suite, [c[0] for c in chosen])) if checkpoint is not None else None
    bar, found = _work.Bar('suite', progress), {}
    try:
        for first, _, outcome in store.load() if store else ():
            found[first] = outcome
        tasks = ((k, _call, (c[0], c[1], tuple(c[2:]))) for k, c in enumerate(chosen) if k not in found)
        for k, _, outcome in _work.run(executor, tasks, store.path if store else None):
            found[k] = outcome
            if store:
                store.add(k, k + 1, outcome)
            bar.show(len(found) / len(chosen))
    finally:
        bar.end()
        if store:
            store.close()
    return {found[k].name: found[k] for k in sorted(found)}
