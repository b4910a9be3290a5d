"""A sweep on mpi4py.futures, for test_mpi.py: python -m mpi4py.futures mpi_program.py CHECKPOINT FLAG RESULT."""
import functools
import pathlib
import sys

import ptxi.scale
import work


def main(checkpoint, flag, result):
    """Run the sweep and the launch, and write their results."""
    from mpi4py.futures import MPIPoolExecutor
    with MPIPoolExecutor() as pool:
        found = ptxi.scale.sweep(functools.partial(work.total_or_die, flag=flag), range(1000), executor=pool, size=50,
                                 reduce=work.add, checkpoint=checkpoint)
        with ptxi.Device('sm_90', 1):
            x, s = work.arrays()
            ptxi.scale.launch(ptxi.loads(work.KERNELS)['scale'], 50, 64, (x, s, 0.3), windows=7, executor=pool)
    pathlib.Path(result).write_bytes(f'{found}\n'.encode() + x.tobytes() + s.tobytes())


if __name__ == '__main__':
    main(*sys.argv[1:])
