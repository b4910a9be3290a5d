"""pytest plugin with a fixture `ptxi`: the package, with a new device for each test as the current device.

    @pytest.mark.ptxi_device('sm_80', 'sm_90')      the test runs once on each device
    @pytest.mark.ptxi_workers(1, 4)                 and once with each number of worker threads
    def test_lerp(ptxi):
        ptxi.load('lerp.ptx').cuk_lerp[1, 4](...)

If a launch into a stream fails and the test does not wait for it, the test fails with the report of the launch.

With the option --ptxi-check[=TOOLS], or the marker ptxi_check, a test also fails if a sanitizer finds an error, or if a
launch could not be checked completely. TOOLS are memory, race and sync, separated by commas.

With --ptxi-shard I/N only the I-th of N parts of the tests runs, so that N jobs can share the work.
"""
import itertools
from typing import Any, Iterator

import pytest

_MARKERS = {
    'ptxi_device': 'ptxi_device(profile, ...): run the test on each of these device profiles, such as "sm_80"',
    'ptxi_workers': 'ptxi_workers(n, ...): run the test with each of these numbers of worker threads',
}
_CHECK_MARKER = ('ptxi_check(tool, ...): check launches with these sanitizers (memory, race, sync; default: all), '
                 'or with none, for ptxi_check(None)')


def pytest_addoption(parser: Any) -> None:
    """Add the options."""
    parser.getgroup('ptxi').addoption('--ptxi-shard', default=None, metavar='I/N',
                                      help='run only the I-th of N parts of the tests; default: PTXI_SHARD')
    parser.getgroup('ptxi').addoption('--ptxi-check', nargs='?', const='', default=None, metavar='TOOLS',
                                      help='check launches of tests that use the fixture ptxi; default: all tools')


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
    if any(markers):
        choices = list(itertools.product(*(m.args if m else [None] for m in markers)))
        ids = ['-'.join(str(c) for c in choice if c is not None) for choice in choices]
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
    device = package.Device(*getattr(request, 'param', (None, None)))
    tools = _tools(request)
    if tools is not None:
        package.checks.start(device, tools)
    with device:
        yield package
    device.close()


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
