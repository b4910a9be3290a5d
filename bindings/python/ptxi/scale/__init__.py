"""Work of ptxi on many processes and machines.

    from concurrent.futures import ProcessPoolExecutor
    import multiprocessing, ptxi.scale

    with ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')) as pool:
        ptxi.scale.sweep(compare, range(2**32), executor=pool, reduce=max, checkpoint='sweep.sqlite')
        ptxi.scale.launch(mod.kernel, grid=10**6, block=256, args=(x, y), executor=pool)

`sweep` calls a function for parts of a range, `suite` calls many functions, and `launch` executes a grid in windows and
merges their changes of memory exactly. All take an executor of PEP 3148: ProcessPoolExecutor, Dask
(`Client.get_executor()`), `mpi4py.futures.MPIPoolExecutor`, `RayExecutor`, and others. Processes of a pool must not be
forked from one that has used ptxi; use the start method 'spawn' or 'forkserver'. doc/reference/scale.md has the
details.
"""
from ._checkpoint import CheckpointError
from ._launch import ConflictError, launch, register_module
from ._ray import RayExecutor
from ._shard import Shard, shard
from ._suite import Outcome, suite
from ._sweep import results, sweep
from ._work import ScaleError

__all__ = ['CheckpointError', 'ConflictError', 'Outcome', 'RayExecutor', 'ScaleError', 'Shard', 'launch',
           'register_module', 'results', 'shard', 'suite', 'sweep']
