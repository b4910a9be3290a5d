"""ptxi.scale on mpi4py.futures with MPICH: three processes, one of which is killed once."""
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

import work

pytest.importorskip('mpi4py')
if not shutil.which('mpiexec'):
    pytest.skip('mpiexec is not installed (Debian: mpich)', allow_module_level=True)

PROGRAM = pathlib.Path(__file__).with_name('mpi_program.py')


def run(directory):
    """Run the program with three processes. Return it with its output."""
    names = subprocess.run(['/sbin/ldconfig', '-p'], capture_output=True, text=True).stdout
    debian = re.search(r'libmpich\.so\.12 .* => (\S+)', names)
    if debian and not (directory / 'libmpi.so.12').exists():
        (directory / 'libmpi.so.12').symlink_to(debian[1])  # the name that mpi4py's wheel looks for
    environment = dict(os.environ, LD_LIBRARY_PATH=f'{directory}:{os.environ.get("LD_LIBRARY_PATH", "")}')
    return subprocess.run(['mpiexec', '-n', '3', sys.executable, '-m', 'mpi4py.futures', str(PROGRAM),
                           *(str(directory / n) for n in ('sweep.sqlite', 'died', 'result'))],
                          env=environment, capture_output=True, text=True, timeout=100)


def test_a_killed_process_ends_the_run_and_the_next_one_continues(tmp_path):
    first = run(tmp_path)
    assert first.returncode and (tmp_path / 'died').exists() and not (tmp_path / 'result').exists()
    assert 'sweep.sqlite' in first.stderr, first.stderr
    with sqlite3.connect(tmp_path / 'sweep.sqlite') as db:
        kept = db.execute('select count(*) from parts').fetchone()[0]
    assert 0 < kept < 20
    second = run(tmp_path)
    assert not second.returncode, second.stderr
    x, s = work.whole()
    assert (tmp_path / 'result').read_bytes() == f'{work.total(range(1000))}\n'.encode() + x.tobytes() + s.tobytes()
