"""pytest plugin with a fixture `ptxi`: the package, with a new device for each test as the current device.

    @pytest.mark.ptxi_device('sm_80', 'sm_90')      the test runs once on each device
    @pytest.mark.ptxi_workers(1, 4)                 and once with each number of worker threads
    def test_lerp(ptxi):
        ptxi.load('lerp.ptx').cuk_lerp[1, 4](...)

If a launch into a stream fails and the test does not wait for it, the test fails with the report of the launch.

With the option --ptxi-check[=TOOLS], or the marker ptxi_check, a test also fails if a sanitizer finds an error, or if a
launch could not be checked completely. TOOLS are memory, race, init, sync, api and all, separated by commas. The
default is all, which does not include api.

The fixture `ptxi_snapshot` compares arrays bit by bit with those of an earlier run, which are kept beside the test
in the directory `snapshots`. With --ptxi-update they are replaced:

    def test_lerp(ptxi, ptxi_snapshot):
        ...
        ptxi_snapshot(z)                           or ptxi_snapshot(z, name='z')

With --ptxi-schedules N each test with the fixture `ptxi` also runs with N random schedules of warps and blocks.

With --ptxi-shard I/N only the I-th of N parts of the tests runs, so that N jobs can share the work.
"""
import itertools
import os
import pathlib
import re
import tempfile
from typing import Any, Iterator

import pytest

_MARKERS = {
    'ptxi_device': 'ptxi_device(profile, ...): run the test on each of these device profiles, such as "sm_80"',
    'ptxi_workers': 'ptxi_workers(n, ...): run the test with each of these numbers of worker threads',
}
_CHECK_MARKER = ('ptxi_check(tool, ...): check launches with these sanitizers (memory, race, init, sync, api; default: '
                 'all but api), or with none, for ptxi_check(None)')


def pytest_addoption(parser: Any) -> None:
    """Add the options."""
    parser.getgroup('ptxi').addoption('--ptxi-update', action='store_true', help='replace the snapshots')
    parser.getgroup('ptxi').addoption('--ptxi-schedules', type=int, default=0, metavar='N',
                                      help='run each test also with N random schedules')
    parser.getgroup('ptxi').addoption('--ptxi-shard', default=None, metavar='I/N',
                                      help='run only the I-th of N parts of the tests; default: PTXI_SHARD')
    parser.getgroup('ptxi').addoption('--ptxi-check', nargs='?', const='', default=None, metavar='TOOLS',
                                      help='check launches of tests that use the fixture ptxi; '
                                           'default: all tools but api')


def pytest_configure(config: Any) -> None:
    """Register the markers."""
    for text in (*_MARKERS.values(), _CHECK_MARKER):
        config.addinivalue_line('markers', text)


def pytest_collection_modifyitems(config: Any, items: Any) -> None:
    """Deselect the tests of other shards. The part of a test follows from its name, so processes of xdist agree."""
    import ptxi.scale
    try:
        part = ptxi.scale.shard(config.getoption('--ptxi-shard'))
    except ValueError as e:
        raise pytest.UsageError(str(e)) from e
    if part is None:
        return
    others = [item for item in items if not part.has(item.nodeid)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if part.has(item.nodeid)]


def pytest_generate_tests(metafunc: Any) -> None:
    """Run a test once for each combination of the devices and numbers of workers in its markers."""
    if 'ptxi' not in metafunc.fixturenames:
        return
    markers = [metafunc.definition.get_closest_marker(name) for name in _MARKERS]
    schedules = [None, *range(1, metafunc.config.getoption('--ptxi-schedules') + 1)]
    if any(markers) or len(schedules) > 1:
        choices = list(itertools.product(*(m.args if m else [None] for m in markers), schedules))
        ids = ['-'.join([*(str(c) for c in choice[:-1] if c is not None),
                         *([f'schedule{choice[-1]}'] if choice[-1] else [])]) or 'default' for choice in choices]
        metafunc.parametrize('ptxi', choices, ids=ids, indirect=True)


def _tools(request: Any) -> Any:
    """Return the sanitizers for a test as a tuple of names, empty for all; None: no checks."""
    marker = request.node.get_closest_marker('ptxi_check')
    if marker:
        return None if marker.args == (None,) else marker.args
    option = request.config.getoption('--ptxi-check')
    return None if option is None else tuple(filter(None, option.split(',')))


@pytest.fixture
def ptxi(request: Any) -> Iterator[Any]:
    """The package ptxi, with a new device as the current device of the test. The device is closed after the test."""
    import ptxi as package
    *choice, schedule = getattr(request, 'param', (None, None, None))
    device = package.Device(*choice)
    if schedule:
        device.schedule = schedule
    tools = _tools(request)
    if tools is not None:
        package.checks.start(device, tools)
    with device:
        yield package
    device.close()


class Snapshot:
    """Compares arrays with files. A process of xdist replaces a file as a whole, so others never read half of one."""

    def __init__(self, path: pathlib.Path, update: bool) -> None:
        self._path, self._update, self._names = path, update, set()  # type: ignore[var-annotated]

    def __call__(self, array: Any, name: str = 'result') -> None:
        """Compare an array with its snapshot, or replace that."""
        __tracebackhide__ = True
        import numpy as np
        from . import testing
        if name in self._names or not re.fullmatch(r'[\w.-]+', name):
            raise ValueError(f'{name!r} is the name of another snapshot of this test, or no name for a file')
        self._names.add(name)
        path = self._path.with_name(f'{self._path.name}.{name}.npy')
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
                np.save(f, np.asarray(array), allow_pickle=False)
            os.replace(f.name, path)
            return
        if not path.exists():
            raise AssertionError(f'there is no snapshot {path}; --ptxi-update makes it')
        testing.assert_bits_equal(array, np.load(path, allow_pickle=False))


@pytest.fixture
def ptxi_snapshot(request: Any) -> Snapshot:
    """A function that compares an array with the one that it got when --ptxi-update was given."""
    # without the schedule: it must not change results
    name = re.sub(r'-?schedule\d+|default', '', request.node.name).replace('[]', '').replace('[-', '[')
    safe = re.sub(r'[^\w.-]', '_', name)
    update = request.config.getoption('--ptxi-update') and 'schedule' not in request.node.name
    return Snapshot(request.node.path.parent / 'snapshots' / f'{request.node.path.stem}.{safe}', update)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Any:
    """Wait for the device after the test, so that a failed launch fails the test."""
    result = yield
    if 'ptxi' in pyfuncitem.fixturenames:
        package = pyfuncitem.funcargs['ptxi']
        package.current().synchronize()
        if _tools(pyfuncitem._request) is not None:
            package.checks.Checks(package.current()).fail()
    return result
