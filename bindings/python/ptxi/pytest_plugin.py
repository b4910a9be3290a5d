"""For pytest: a fixture `ptxi`, the package with a device of the test's own.

    @pytest.mark.ptxi_device('sm_80', 'sm_90')      the test runs once on each
    @pytest.mark.ptxi_workers(1, 4)
    def test_lerp(ptxi):
        ptxi.load('lerp.ptx').cuk_lerp[1, 4](...)

A launch that fails without being waited for fails the test that made it, with its report."""
import itertools
from typing import Any, Iterator

import pytest

_MARKERS = {
    'ptxi_device': 'ptxi_device(profile, ...): run the test on each of these device profiles, such as "sm_80"',
    'ptxi_workers': 'ptxi_workers(n, ...): run the test with each of these numbers of worker threads',
}


def pytest_configure(config: Any) -> None:
    for text in _MARKERS.values():
        config.addinivalue_line('markers', text)


def pytest_generate_tests(metafunc: Any) -> None:
    if 'ptxi' not in metafunc.fixturenames:
        return
    markers = [metafunc.definition.get_closest_marker(name) for name in _MARKERS]
    if any(markers):
        choices = list(itertools.product(*(m.args if m else [None] for m in markers)))
        ids = ['-'.join(str(c) for c in choice if c is not None) for choice in choices]
        metafunc.parametrize('ptxi', choices, ids=ids, indirect=True)


@pytest.fixture
def ptxi(request: Any) -> Iterator[Any]:
    """The package ptxi, with a device that belongs to the test alone as the current one."""
    import ptxi as package
    device = package.Device(*getattr(request, 'param', (None, None)))
    with device:
        yield package
    device.close()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Any:
    result = yield
    if 'ptxi' in pyfuncitem.fixturenames:
        pyfuncitem.funcargs['ptxi'].current().synchronize()
    return result
