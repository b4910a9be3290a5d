"""Writes the table of clients in doc/reference/clients.md: what was run, with which versions, and what has to be set.

    tests/clients/table.sh            in the build directory; run.sh explains the virtual environment

Each row runs the tests that it names. The versions are those of the packages that the tests used. The row of a client
that is not installed stays as it is.
"""
import importlib.metadata
import pathlib
import re
import subprocess
import sys
from typing import List, NamedTuple, Optional

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / 'doc/reference/clients.md'
BEGIN, END = '<!-- tests/clients/table.py -->\n', '<!-- end -->\n'


class Client(NamedTuple):
    """A row. `packages` are names on PyPI, the first one is that of the client. `test` selects tests of pytest."""
    name: str
    packages: List[str]
    how: str
    works: str
    lacks: str
    test: str


CLIENTS = [
    Client('cuda-python', ['cuda-bindings'], '`ptxi exec`', 'the driver API', '', 'test_driver.py -k cuda-python'),
    Client('cuda.core', ['cuda-core', 'nvidia-cuda-nvrtc', 'nvidia-nvjitlink'], '`ptxi exec --toolkit`',
           'programs to PTX, cubin and LTO-IR; links',
           'loading GPU code; `Device.pci_bus_id`, which is in `cuda.bindings.runtime` with NVIDIA\'s runtime',
           'test_standins.py -k cuda-core'),
    Client('Numba', ['numba-cuda', 'numba'], '`ptxi exec --toolkit`',
           'kernels, reductions, shared memory, atomics, cooperative groups, streams',
           'linking GPU code', 'test_standins.py -k numba'),
    Client('Numba, its compiler only', ['numba'], 'the Python package', '`ptxi.loads` of `cuda.compile_ptx`', '',
           'test_compilers.py -k numba'),
    Client('PyCUDA', ['pycuda'], '`ptxi exec --toolkit`', 'the driver API, `SourceModule`', '',
           'test_driver.py test_standins.py -k pycuda'),
    Client('CuPy', ['cupy-cuda13x'], '`python -m ptxi.rebuild_cupy`, `CUPY_ACCELERATORS=`, `ptxi exec --toolkit`',
           'element-wise kernels, reductions, RawKernel, RawModule, indexing, streams',
           '`sort`, `matmul`, `fft`, `random`: their libraries contain NVIDIA\'s runtime', 'test_standins.py -k cupy'),
    Client('Warp', ['warp-lang'], 'build it with `build_lib.py --use-dynamic-cuda`, `ptxi exec --toolkit`',
           'kernels, arrays', '', 'test_standins.py -k warp'),
    Client('torch for CUDA', ['torch', 'triton'], '`ptxi exec --toolkit`',
           'memory, copies, streams, events, Triton kernels, `torch.compile`',
           'operations that run at once (`x + y`), and those that `torch.compile` leaves to torch, such as `sort` of '
           'long rows: the package has no PTX of them; cuBLAS, cuDNN',
           'test_standins.py -k torch'),
    Client('Triton, its compiler only', ['triton'], 'the Python package', '`ptxi.loads` of `triton.compile`', '',
           'test_triton.py'),
    Client('NVRTC', ['nvidia-cuda-nvrtc', 'cuda-bindings'], 'the Python package', '`ptxi.loads`, `ptxi.compile`', '',
           'test_compilers.py -k nvrtc'),
]


def versions(client: Client) -> Optional[str]:
    """Return the packages and their versions, or None if the client is not installed."""
    try:
        return ', '.join(f'{p} {importlib.metadata.version(p)}' for p in client.packages)
    except importlib.metadata.PackageNotFoundError:
        return None


def run(client: Client) -> str:
    """Run the tests of a client. Return 'passed', 'failed', or 'did not run'."""
    files, _, selected = client.test.partition(' -k ')
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'ptxi.pytest_plugin', '-p', 'no:cacheprovider',
               *(str(HERE / f) for f in files.split()), *(['-k', selected] if selected else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout)
        return 'failed'
    return 'passed' if re.search(r'\d+ passed', done.stdout) else 'did not run'


def row(client: Client, before: str) -> str:
    """Return the row of a client: a new one, or the one before if its tests cannot run."""
    found = versions(client)
    result = run(client) if found else 'did not run'
    print(f'{client.name}: {found or "not installed"}: {result}')
    if result == 'did not run':
        old = re.search(rf'^\| {re.escape(client.name)} \|.*\n', before, re.M)
        return old[0] if old else f'| {client.name} | not tested | {client.how} | {client.works} | {client.lacks} |\n'
    state = client.works if result == 'passed' else f'**its tests failed**: {client.works}'
    return f'| {client.name} | {found} | {client.how} | {state} | {client.lacks} |\n'


def main() -> None:
    """Write the table."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    before, _, tail = rest.partition(END)
    if not tail:
        sys.exit(f'{PAGE} has no place for the table')
    table = '| client | versions | what to set | what works | what does not |\n|---|---|---|---|---|\n'
    table += ''.join(row(c, before) for c in CLIENTS)
    PAGE.write_text(head + BEGIN + table + END + tail)


if __name__ == '__main__':
    main()
