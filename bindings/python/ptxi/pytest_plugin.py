"""pytest plugin with a fixture `ptxi`: the package, with a new device for each test as the current device.

    @pytest.mark.ptxi_device('sm_80', 'sm_90')      the test runs once on each device
    @pytest.mark.ptxi_workers(1, 4)                 and once with each number of worker threads
    def test_lerp(ptxi):
        ptxi.load('lerp.ptx').cuk_lerp[1, 4](...)

If a launch into a stream fails and the test does not wait for it, the test fails with the report of the launch.
"""
import itertools
from typing import Any, Iterator

import pytest

_MARKERS = {
    'ptxi_device': 'ptxi_device(profile, ...): run the test on each of these device profiles, such as "sm_80"',
    'ptxi_workers': 'ptxi_workers(n, ...): run the test with each of these numbers of worker threads',
}


def pytest_configure(config: Any) -> None:
    """Register the markers."""
    for text in _MARKERS.values():
        config.addinivalue_line('markers', text)


def pytest_generate_tests(metafunc: Any) -> None:
    """Run a test once for each combination of the devices and numbers of workers in its markers."""
    if 'ptxi' not in metafunc.fixturenames:
        return
    markers = [metafunc.definition.get_closest_marker(name) for name in _MARKERS]
    if any(markers):
        choices = list(itertools.product(*(m.args if m else [None] for m in markers)))
        ids = ['-'.join(str(c) for c in choice if c is not None) for choice in choices]
        metafunc.parametrize('ptxi', choices, ids=ids, indirect=True)


@pytest.fixture
def ptxi(request: Any) -> Iterator[Any]:
    """The package ptxi, with a new device as the current device of the test. The device is closed after the test."""
    import ptxi as package
    device = package.Device(*getattr(request, 'param', (None, None)))
    with device:
        yield package
    device.close()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Any:
    """Wait for the device after the test, so that a failed launch fails the test."""
    result = yield
    if 'ptxi' in pyfuncitem.fixturenames:
        pyfuncitem.funcargs['ptxi'].current().synchronize()
    return result
