"""ptxi.scale on Dask: a scheduler and two workers, processes of their own that talk over TCP."""
import functools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import ptxi
import ptxi.scale
import work

distributed = pytest.importorskip('distributed')


class Cluster:
    """A scheduler and workers as processes, and a client."""

    def __init__(self, directory):
        self._directory, self.workers = directory, []
        self._file = directory / 'scheduler.json'
        self._environment = dict(os.environ, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT='10s',
                                 DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES='10')
        self.scheduler = self._start('dask.__main__', 'scheduler', '--host', '127.0.0.1', '--port', '0',
                                     '--no-dashboard', '--no-jupyter', '--scheduler-file', str(self._file))
        for _ in range(2):
            self.add_worker()
        self.client = distributed.Client(scheduler_file=str(self._file), timeout=60)
        self.client.wait_for_workers(2, timeout=60)

    def _start(self, module, *arguments):
        log = open(self._directory / 'log', 'ab')
        return subprocess.Popen([sys.executable, '-m', module, *arguments], stdout=log, stderr=log,
                                env=self._environment, cwd=self._directory)

    def add_worker(self):
        """Start a worker."""
        self.workers.append(self._start('dask.__main__', 'worker', '--scheduler-file', str(self._file), '--nthreads',
                                        '1', '--no-nanny', '--no-dashboard', '--host', '127.0.0.1'))

    def close(self):
        """End all processes."""
        self.client.close()
        for p in (*self.workers, self.scheduler):
            p.kill()
        for p in (*self.workers, self.scheduler):
            p.wait(30)


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    """Processes for all tests of this file."""
    made = Cluster(tmp_path_factory.mktemp('dask'))
    yield made
    made.close()


def test_launch_sends_the_module_once(cluster):
    expected = work.whole()
    with ptxi.Device('sm_90', 1):
        module = ptxi.loads(work.KERNELS)
        for windows in (2, 7):
            x, s = work.arrays()
            ptxi.scale.launch(module['scale'], 50, 64, (x, s, 0.3), windows=windows,
                              executor=cluster.client.get_executor())
            assert x.tobytes() == expected[0].tobytes() and s.tobytes() == expected[1].tobytes()
        known = cluster.client.run(lambda: list(__import__('ptxi.scale._launch', fromlist='x')._texts))
        assert all(len(texts) == 1 for texts in known.values())


def test_a_killed_worker_changes_nothing(cluster):
    def kill():
        time.sleep(1)
        cluster.workers[0].send_signal(signal.SIGKILL)
        cluster.add_worker()

    expected, seen = work.total(range(4000)), []
    killer = threading.Thread(target=kill)
    killer.start()
    found = ptxi.scale.sweep(work.slow_total, range(4000), executor=cluster.client.get_executor(retries=5), size=50,
                             reduce=work.add, progress=seen.append)
    killer.join()
    assert cluster.workers[0].wait(30) == -signal.SIGKILL
    assert found == expected and len(seen) == 80


def test_suite(cluster):
    cases = {f'case {k}': functools.partial(work.total, range(k)) for k in range(20)}
    found = ptxi.scale.suite(cases, executor=cluster.client.get_executor())
    assert [o.result for o in found.values()] == [work.total(range(k)) for k in range(20)]
