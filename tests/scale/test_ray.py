"""ptxi.scale on Ray: workers are processes of their own. `pip install ray` into the environment enables it."""
import functools

import pytest

import ptxi
import ptxi.scale
import work

ray = pytest.importorskip('ray')


@pytest.fixture(scope='module')
def executor():
    """Two workers."""
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, configure_logging=False)
    with ptxi.scale.RayExecutor() as made:
        yield made
    ray.shutdown()


def test_sweep(executor):
    got = ptxi.scale.sweep(work.total, range(1000), executor=executor, size=100, reduce=work.add, progress=False)
    assert got == work.total(range(1000))


def test_launch(executor):
    x, total = work.arrays()
    with ptxi.Device('sm_90', 1):
        kernel = ptxi.loads(work.KERNELS).scale
        ptxi.scale.launch(kernel, 50, 64, (x, total, 0.3), executor=executor, windows=7)
    whole, whole_total = work.whole()
    assert x.tobytes() == whole.tobytes() and total.tobytes() == whole_total.tobytes()


def test_exceptions(executor):
    with pytest.raises(ZeroDivisionError):
        executor.submit(work.fails, 1).result(60)


def test_a_killed_worker_changes_nothing(executor, tmp_path):
    flag = tmp_path / 'died'
    function = functools.partial(work.total_or_die, flag=str(flag))
    got = ptxi.scale.sweep(function, range(1000), executor=executor, size=100, reduce=work.add, progress=False)
    assert flag.exists() and got == work.total(range(1000))
