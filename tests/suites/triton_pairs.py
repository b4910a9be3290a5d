"""A pytest plugin that runs the tests of Triton's own sanitizers with those of libptxi.

triton.sh calls it. A test of a kernel that fails under GSan or ConSan passes if libptxi reports an error or a warning
(with GSan: of the same kind, at the same line), and a test of a correct kernel if it reports none. What the tests ask
of the shadow memory of GSan is not compared.
"""
import contextlib
import os
import types

import pytest
import torch
import triton
import triton._internal_testing as testing
import triton.experimental.gsan
import triton.experimental.gsan._testing_utils as shadow
from triton._C.libtriton import gsan_testing
from triton.experimental.gluon.language.nvidia import ampere, blackwell, hopper

import ptxi
import ptxi_triton

TOOLS = os.environ.get('TOOLS', 'race,sync,memory,init').split(',')
KINDS = {'race.read-after-write': 'Read after write race detected',
         'race.write-after-read': 'Write after read race detected',
         'race.write-after-write': 'Write after write race detected'}
RENAMED = {'async_copy_global_to_shared': 'async_load', 'async_copy_shared_to_global': 'async_store',
           'async_copy_global_to_shared_im2col': 'async_load_im2col'}

judged = []   # functions whose findings the test compares itself
running = []  # the checks that are on


class Shadow(Exception):
    """The test goes on to compare the shadow memory of GSan."""


class Report(str):
    """What was reported, in the place of what ConSan prints, whose words are not compared."""

    def __contains__(self, text):
        is_ours = '.py:' in text or text in KINDS.values() or text == 'GSanLibrary.cu' or text.endswith('.py')
        return str.__contains__(self, text) if is_ours else bool(self)


def without_shadow(*args, **kwargs):
    """Stand for all functions that read the shadow memory. Before the kernel runs, tests only keep what they read."""
    if running and running[-1].summary.launches:
        raise Shadow


def checked(run):
    """Run a function. Return its exception, or that of what was found, and the report."""
    error = None
    with ptxi.checking(*TOOLS, fail=False) as checks:
        running.append(checks)
        try:
            run()
        except ptxi.LaunchError as failure:
            error = failure
        except Shadow:
            pass
        running.pop()
        found = [f for f in checks.findings if f.severity.name.lower() != 'benign']
        text = checks.report() if found or error else ''
        launches = checks.summary.launches
    lines = [f'{site.source_file}:{site.source_line}' for f in found for site in f.sites if site.source_file]
    words = [KINDS[f'{f.tool.name.lower()}.{f.kind}'] for f in found if f'{f.tool.name.lower()}.{f.kind}' in KINDS]
    if found or error:
        error = RuntimeError('device-side assert')
    return error, Report('\n'.join([text, *lines, *words]).strip()), launches


def run_in_process(function, args=(), kwargs=None, env=None):
    """Run a function in this process, with checks, like triton._internal_testing.run_in_process()."""
    judged.append(function)
    for name, value in (env or {}).items():
        os.environ[name] = value
    error, text, launches = checked(lambda: function(*args, **(kwargs or {})))
    if not launches:
        raise AssertionError('no kernel was launched')
    print(text)
    return types.SimpleNamespace(exc=error, driver_stderr_output=text)


class OnCpu(torch.overrides.TorchFunctionMode):
    """Tensors of the device 'cuda' are on the CPU."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if str(kwargs.get('device', '')).startswith('cuda'):
            kwargs['device'] = 'cpu'
        return function(*args, **kwargs)


def pytest_configure(config):
    """Replace what needs a GPU, before the tests are imported."""
    major = int(os.environ['PTXI_DEVICE'].removeprefix('sm_').rstrip('af')) // 10
    testing.run_in_process = run_in_process
    testing.is_cuda = lambda: True
    testing.is_ampere_or_newer = testing.is_hopper_or_newer = lambda: True
    testing.is_blackwell = lambda: major == 10
    testing.is_sm12x = testing.is_rubin = lambda: False
    for name in ('shadow_cell_from_address', 'thread_state_from_smid', 'global_state', 'shadow_tensor_for'):
        setattr(shadow, name, without_shadow)
    if not hasattr(gsan_testing, 'SHADOW_GRANULARITY_BYTES'):  # the tests may be newer than Triton
        gsan_testing.SHADOW_GRANULARITY_BYTES = 4
    for module in (ampere.async_copy, hopper.tma, blackwell.tma):  # or older: former names
        for was, name in RENAMED.items():
            if hasattr(module, name):
                setattr(module, was, getattr(module, name))
    triton.experimental.gsan.create_mem_pool = lambda: None
    torch.cuda.use_mem_pool = lambda pool: contextlib.nullcontext()
    torch.cuda.get_device_capability = lambda *args: (major, 0)
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.synchronize = lambda *args: None
    torch.cuda.get_device_properties = lambda *args: types.SimpleNamespace(multi_processor_count=4)
    # the kernels are compiled without Triton's instrumentation
    type(triton.knobs.compilation).instrumentation_mode = property(lambda self: '', lambda self, value: None)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test. Kernels that it launches itself are correct."""
    judged.clear()
    call = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    with ptxi_triton.enabled(), OnCpu():
        error, text, launches = checked(lambda: pyfuncitem.obj(**call))
    if error and not judged:
        pytest.fail(text, pytrace=False)
    if not launches and not judged:
        pytest.fail('no kernel was launched', pytrace=False)
    return True


@pytest.fixture
def device():
    """The device of tensors."""
    return 'cpu'


@pytest.fixture
def fresh_knobs():
    """Triton's options."""
    return triton.knobs


@pytest.fixture
def process_pool():
    """Triton's processes for tests are not used."""


@pytest.fixture
def with_allocator():
    """Memory for tensor descriptors of kernels."""
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
