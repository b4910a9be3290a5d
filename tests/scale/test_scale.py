"""Tests of ptxi.scale in this process and on pools of processes."""
import functools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import ptxi
import ptxi.scale
import work


@pytest.fixture(params=['here', 'pool'])
def executor(request):
    """This process, and two others."""
    if request.param == 'here':
        yield None
        return
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as pool:
        yield pool


@pytest.fixture
def module():
    """The kernels on a device of their own."""
    with ptxi.Device('sm_90', 1):
        yield ptxi.loads(work.KERNELS)


def test_windows_give_the_bits_of_one_worker(executor, module):
    expected = work.whole()
    for windows in (1, 2, 3, 7, 50):
        x, s = work.arrays()
        ptxi.scale.launch(module['scale'], 50, 64, (x, s, 0.3), windows=windows, executor=executor)
        assert x.tobytes() == expected[0].tobytes() and s.tobytes() == expected[1].tobytes()


def test_windows_that_depend_on_each_other(executor, module):
    x = np.zeros(4, 'u4')
    with pytest.raises(ptxi.scale.ConflictError, match=r'different values: part 0, clash .*; part 1, clash'):
        ptxi.scale.launch(module['clash'], 4, 1, (x,), windows=2, executor=executor)
    with pytest.raises(ptxi.LaunchError, match='cannot run apart: the result of an atomic operation'):
        ptxi.scale.launch(module['next'], 4, 1, (x,), windows=2, executor=executor)
    assert not x.any()


def test_a_launch_continues_from_its_checkpoint(module, tmp_path):
    path, expected = tmp_path / 'launch.sqlite', work.whole()
    x, s = work.arrays()
    ptxi.scale.launch(module['scale'], 50, 64, (x, s, 0.3), windows=5, checkpoint=path)
    x, s = work.arrays()
    ran = []
    ptxi.scale.launch(module['scale'], 50, 64, (x, s, 0.3), windows=5, checkpoint=path, progress=ran.append)
    assert not ran and x.tobytes() == expected[0].tobytes() and s.tobytes() == expected[1].tobytes()


def test_sweep(executor):
    expected = work.total(range(30000))
    for options in ({}, {'size': 1000}, {'chunk': '0.01s'}):
        assert ptxi.scale.sweep(work.total, range(30000), executor=executor, reduce=work.add, **options) == expected
    parts = ptxi.scale.sweep(work.total, range(5, 50), executor=executor, size=10)
    assert [p for p, _ in parts] == [range(5, 15), range(15, 25), range(25, 35), range(35, 45), range(45, 50)]
    assert all(r == work.total(p) for p, r in parts)
    with pytest.raises(ZeroDivisionError, match='range'):
        ptxi.scale.sweep(work.fails, range(10), executor=executor)


def test_shards_are_a_partition(monkeypatch):
    parts = [ptxi.scale.sweep(work.total, range(1001), shard=f'{k}/3', reduce=work.add) for k in (1, 2, 3)]
    assert functools.reduce(work.add, parts) == work.total(range(1001))
    monkeypatch.setenv('PTXI_SHARD', '2/3')
    assert ptxi.scale.sweep(work.total, range(1001), reduce=work.add) == parts[1]
    for bad in ('0/3', '4/3', '3', 'x/3', '1/0'):
        with pytest.raises(ValueError, match='is not a shard'):
            ptxi.scale.shard(bad)


def test_a_killed_process_is_an_error_that_names_the_checkpoint(tmp_path):
    function = functools.partial(work.total_or_die, flag=str(tmp_path / 'died'))
    path, seen = tmp_path / 'sweep.sqlite', []

    def run():
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as pool:
            return ptxi.scale.sweep(function, range(1000), executor=pool, size=50, reduce=work.add, checkpoint=path,
                                    progress=seen.append)

    with pytest.raises(ptxi.scale.ScaleError, match='sweep.sqlite'):
        run()
    finished = len(seen)
    assert 0 < finished < 20
    assert run() == work.total(range(1000))
    assert len(seen) <= 21  # no part ran twice but that of the killed process


def test_checkpoints_of_other_work(tmp_path):
    path = tmp_path / 'sweep.sqlite'
    ptxi.scale.sweep(work.total, range(100), size=10, checkpoint=path)
    with pytest.raises(ptxi.scale.CheckpointError, match='other work'):
        ptxi.scale.sweep(work.total, range(101), size=10, checkpoint=path)
    with pytest.raises(ptxi.scale.CheckpointError, match='other work'):
        ptxi.scale.sweep(work.slow_total, range(100), size=10, checkpoint=path)
    damaged = tmp_path / 'damaged'
    damaged.write_bytes(b'not a database' * 100)
    with pytest.raises(ptxi.scale.CheckpointError, match='not a checkpoint'):
        ptxi.scale.sweep(work.total, range(100), size=10, checkpoint=damaged)


def test_suite(executor, tmp_path):
    cases = {'good': functools.partial(work.total, range(4)), 'bad': functools.partial(work.fails, range(4))}
    found = ptxi.scale.suite(cases, executor=executor, checkpoint=tmp_path / 'suite.sqlite')
    assert list(found) == ['good', 'bad']
    assert found['good'].ok and found['good'].result == 14
    assert not found['bad'].ok and 'ZeroDivisionError' in found['bad'].error
    shards = [ptxi.scale.suite(cases, shard=f'{k}/2') for k in (1, 2)]
    assert sorted([*shards[0], *shards[1]]) == ['bad', 'good']


def test_reports_travel(module):
    import pickle
    with pytest.raises(ptxi.LaunchError) as raised:
        ptxi.scale.launch(module['next'], 4, 1, (np.zeros(4, 'u4'),), windows=2)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert str(copy) == str(raised.value) and copy.report == raised.value.report and copy.result == raised.value.result
