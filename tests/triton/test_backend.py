"""Tests of the backend: arguments, launches, autotuning, output, failures, and that it is opt-in."""
import os
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from tutorials import run_matmul

import ptxi
import ptxi_triton
from ptxi.testing import assert_bits_equal


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def program(code, **env):
    """Run a Python program. Return its result."""
    return subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True,
                          env={**os.environ, **env})


# ---- opt-in

FIND = 'import sys, triton; from triton.backends import backends; print(sorted(backends), "ptxi" in sys.modules)\n'


def test_triton_is_as_before_unless_asked():
    result = program(FIND + 'from triton.runtime import driver\ntry: driver.active\nexcept RuntimeError as e: print(e)')
    assert "['amd', 'nvidia', 'ptxi'] False" in result.stdout and '0 active drivers' in result.stdout
    code = ('import triton\nfrom triton.backends.compiler import GPUTarget\n'
            'from triton.compiler.compiler import make_backend\n'
            'for target in ("cuda", 90, 32), ("hip", "gfx942", 64):\n'
            '    print(type(make_backend(GPUTarget(*target))).__module__)')
    assert program(code).stdout.split() == ['triton.backends.nvidia.compiler', 'triton.backends.amd.compiler']


def test_the_environment_selects_it():
    code = FIND + 'print(triton.runtime.driver.active.get_current_target())'
    result = program(code, TRITON_DEFAULT_BACKEND='ptxi', PTXI_DEVICE='sm_80')
    assert "arch=80" in result.stdout, result.stderr


def test_an_old_triton_is_refused():
    code = 'import triton, ptxi_triton; triton.__version__ = "3.6.0"; ptxi_triton.enable()'
    assert 'ImportError: ptxi_triton needs Triton' in program(code).stderr


def test_it_ends_with_the_statement():
    code = ('import triton, ptxi_triton\nfrom triton.backends import backends\nbefore = dict(backends)\n'
            'with ptxi_triton.enabled():\n    with ptxi_triton.enabled(): pass\n'
            '    print(type(triton.runtime.driver.active).__name__)\n'
            'print(backends == before)\n'
            'ptxi_triton.enable(); ptxi_triton.disable()\nprint(backends == before)\n'
            'try: triton.runtime.driver.active\nexcept RuntimeError as e: print(e)')
    result = program(code)
    assert result.stdout.split()[:3] == ['PtxiDriver', 'True', 'True'], result.stderr
    assert '0 active drivers' in result.stdout


def test_a_program_that_does_not_use_it_needs_no_library():
    assert program('import triton', PTXI_LIBRARY='/nowhere').returncode == 0


# ---- devices

def test_kernels_are_compiled_for_the_current_device():
    x = torch.arange(4.)
    for profile, target in (('sm_80', 'sm_80'), ('sm_90', 'sm_90a'), ('sm_100', 'sm_100a')):
        with ptxi.Device(profile):
            out = torch.zeros(4)
            made = add_kernel[(1,)](x, x, out, 4, BLOCK=16, num_warps=1)
            assert f'.target {target}' in made.asm['ptx'] and 'cubin' not in made.asm
            assert torch.equal(out, x + x)
    assert triton.runtime.driver.active.get_current_target().arch == 90


def test_properties():
    driver = triton.runtime.driver.active
    properties = driver.utils.get_device_properties(driver.get_current_device())
    assert properties['multiprocessor_count'] == 132 and properties['max_shared_mem'] == 227 << 10
    assert properties['warpSize'] == 32
    made = add_kernel.warmup(torch.float32, torch.float32, torch.float32, 4, BLOCK=16, grid=(1,))
    made._init_handles()
    assert made.n_regs > 0 and made.n_spills == 0
    assert driver.utils.cuOccupancyMaxActiveClusters(made.function, 0, 2) > 0
    with pytest.raises(ValueError, match='with device'):
        driver.set_current_device(0)


# ---- arguments

DTYPES = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64']


@pytest.mark.parametrize('dtype', DTYPES)
def test_arrays_of_numpy(dtype):
    x, y = np.arange(40, dtype=dtype), np.arange(40, dtype=dtype)[::-1].copy()
    out = np.zeros(50, dtype)
    add_kernel[(3,)](x, y, out, 40, BLOCK=16)
    assert_bits_equal(out[:40], x + y)
    assert not out[40:].any()


@pytest.mark.parametrize('kind', ['buffer', 'bfloat16', 'view', 'parameter', 'reinterpret', 'dlpack'])
def test_other_arrays(kind):
    x = torch.arange(32.)
    want = (x + x).numpy()
    if kind == 'buffer':
        x, out = ptxi.copy(x.numpy()), ptxi.zeros(32, 'f4')
        add_kernel[(2,)](x, x, out, 32, BLOCK=16)
        out = out.array
    elif kind == 'view':  # kernels may access the whole storage, as on a GPU
        x, out = torch.cat([x[:8], x])[8:], torch.zeros(64)[16:]
        add_kernel[(2,)](x, x, out, 32, BLOCK=16)
    elif kind == 'reinterpret':
        x, out = (x.int(), torch.zeros(32, dtype=torch.int32))
        add_kernel[(2,)](triton.reinterpret(x, tl.uint32), x, triton.reinterpret(out, tl.uint32), 32, BLOCK=16)
    elif kind == 'dlpack':
        class Exporter:
            dtype = np.dtype('f4')

            def __init__(self, array):
                self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
                self.__array__ = array.__array__
        out = np.zeros(32, 'f4')
        add_kernel[(2,)](Exporter(x.numpy()), x, out, 32, BLOCK=16)
    else:
        make = torch.nn.Parameter if kind == 'parameter' else lambda t: t.bfloat16()
        x, out = make(x), torch.zeros(32, dtype=torch.float32 if kind == 'parameter' else torch.bfloat16)
        add_kernel[(2,)](x, x, out, 32, BLOCK=16)
    out = out[:32].float().numpy() if isinstance(out, torch.Tensor) else out
    assert (np.asarray(out, 'f4') == want).all()


@triton.jit
def scalars_kernel(out, a, b, c, d, e: tl.bfloat16, f: tl.float16, g: tl.float64, h):
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))
    tl.store(out + 5, f.to(tl.float64))
    tl.store(out + 6, g)
    tl.store(out + 7, h.to(tl.float64))


def test_scalars():
    out = np.zeros(8)
    scalars_kernel[(1,)](out, -7, 1 << 40, (1 << 64) - 2048, True, 1.0078125, 0.1, 0.1, 0.1)
    assert out.tolist() == [-7, 2. ** 40, 2. ** 64 - 2048, 1, 1.0078125, float(np.float16(0.1)), 0.1,
                            float(np.float32(0.1))]
    with pytest.raises(OverflowError):
        scalars_kernel[(1,)](out, -7, 1 << 40, (1 << 64) - 2048, True, 1, 1e6, 0.1, 0.1)
    scalars_kernel[(1,)](out, -7, 1 << 40, (1 << 64) - 2048, True, 1, 1, 0.1, 1e300)
    assert out[7] == np.inf


class Pair(NamedTuple):
    source: object
    factor: object


@triton.jit
def tuple_kernel(out, pair, more, n: tl.constexpr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    v = tl.load(pair.source + at) * pair.factor
    for i in tl.static_range(n):
        v += tl.load(more[i] + at)
    tl.store(out + at, v)


def test_tuples():
    x = torch.arange(16.)
    out, y = torch.zeros(16), np.full(16, 100, 'f4')
    tuple_kernel[(1,)](out, Pair(x, 3), (x, y), 2, SIZE=16)
    assert torch.equal(out, x * 4 + 100)


@triton.jit
def optional_kernel(out, x, HAS: tl.constexpr):
    v = tl.arange(0, 16).to(tl.float32)
    if HAS:
        v += tl.load(x + tl.arange(0, 16))
    tl.store(out + tl.arange(0, 16), v)


def test_none():
    out = torch.zeros(16)
    optional_kernel[(1,)](out, None, HAS=False)
    assert torch.equal(out, torch.arange(16.))


@triton.jit
def copy_descriptor_kernel(source, target, BLOCK: tl.constexpr):
    target.store([0, 0], source.load([0, 0]) + source.load([0, BLOCK]))


def test_descriptors_of_arrays():
    x = np.arange(8 * 64, dtype='f4').reshape(8, 64)
    out = np.zeros((8, 32), 'f4')
    descriptors = [TensorDescriptor.from_tensor(ptxi_triton.Tensor(a), [8, 32]) for a in (x, out)]
    copy_descriptor_kernel[(1,)](*descriptors, BLOCK=32)
    assert_bits_equal(out, x[:, :32] + x[:, 32:])


@triton.jit
def double_kernel(target, source, BLOCK: tl.constexpr):
    tl.store(target + tl.arange(0, BLOCK), tl.load(source + tl.arange(0, BLOCK)) * 2)


@triton.jit
def indirect_kernel(out, addresses, BLOCK: tl.constexpr):
    source = tl.load(addresses).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.arange(0, BLOCK), tl.load(source + tl.arange(0, BLOCK)))


def test_memory_behind_pointers_in_memory():
    x, out = torch.arange(16.), torch.zeros(16)
    addresses = torch.tensor([x.data_ptr()])
    with pytest.raises(ptxi.LaunchError):
        indirect_kernel[(1,)](out, addresses, BLOCK=16)
    with ptxi_triton.opened(x):
        indirect_kernel[(1,)](out, addresses, BLOCK=16)
    assert torch.equal(out, x)
    double_kernel[(1,)](out, x, BLOCK=16)
    with pytest.raises(ptxi.LaunchError):  # x was open for the launches before
        indirect_kernel[(1,)](out, addresses, BLOCK=16)


# ---- launches

@triton.jit
def grid_kernel(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out + (z * tl.num_programs(1) + y) * tl.num_programs(0) + x, 100 * x + 10 * y + z)


def test_grids():
    out = torch.zeros((2, 3, 4), dtype=torch.int32)
    grid_kernel[(4, 3, 2)](out)
    assert out[1, 2, 3] == 321 and out.unique().numel() == 24
    before = out.clone()
    grid_kernel[(0, 3, 2)](out)
    grid_kernel[(np.int64(1),)](out)
    assert torch.equal(out, before)


@triton.jit
def wait_for_all_kernel(arrived, out, BLOCK: tl.constexpr):
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < tl.num_programs(0):
        pass
    tl.store(out + tl.program_id(0), tl.load(arrived))


def test_cooperative_launch():
    arrived, out = torch.zeros(1, dtype=torch.int32), torch.zeros(12, dtype=torch.int32)
    wait_for_all_kernel[(12,)](arrived, out, BLOCK=16, launch_cooperative_grid=True)
    assert (out == 12).all()


@triton.jit
def increment_kernel(x, seen, N: tl.constexpr):
    """All warps load a number, and one of them stores its successor."""
    v = tl.load(x)
    tl.store(x, v + 1)
    tl.store(seen + tl.arange(0, N), v + tl.zeros((N,), tl.int32))


def test_warps_advance_together():
    """All warps see the old number, as on a GPU, unless the program selects the order 'run'."""
    def increment():
        x, seen = torch.full((1,), 5, dtype=torch.int32), torch.zeros(256, dtype=torch.int32)
        increment_kernel[(1,)](x, seen, N=256, num_warps=8)
        assert x.item() == 6
        return set(seen.tolist())

    with ptxi.Device() as device:
        assert increment() == {5} and device.schedule == 'fair'
        device.schedule = 'run'
        assert increment() == {5, 6} and device.schedule == 'run'
    with ptxi.Device() as device:
        device.schedule = 7
        increment()
        assert device.schedule == 7


def test_dependent_launch():
    x, out = torch.arange(16.), torch.zeros(16)
    double_kernel[(1,)](out, x, BLOCK=16, launch_pdl=True)
    assert torch.equal(out, 2 * x)


def test_hooks():
    seen = []

    def enter(metadata):
        seen.append(('enter', metadata.get()['name']))

    def leave(metadata):
        seen.append(('exit', metadata.get()['name']))

    x, out = torch.arange(16.), torch.zeros(16)
    hooks = triton.knobs.runtime
    hooks.launch_enter_hook.add(enter)
    hooks.launch_exit_hook.add(leave)
    try:
        double_kernel[(1,)](out, x, BLOCK=16)
    finally:
        hooks.launch_enter_hook.remove(enter)
        hooks.launch_exit_hook.remove(leave)
    assert seen == [('enter', 'double_kernel'), ('exit', 'double_kernel')]


@triton.autotune([triton.Config({'BLOCK': b}, num_warps=w) for b, w in ((32, 1), (256, 4), (64, 2))], key=['n'])
@triton.heuristics({'EVEN': lambda arguments: arguments['n'] % arguments['BLOCK'] == 0})
@triton.jit
def tuned_kernel(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out + at, tl.load(x + at) + 1)
    else:
        tl.store(out + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


def test_autotuning_has_one_result():
    chosen = set()
    for n in (512, 500):
        x, out = torch.randn(n), torch.zeros(n)
        for _ in range(2):
            tuned_kernel.cache.clear()
            tuned_kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, out, n)
            chosen.add((n, str(tuned_kernel.best_config)))
            assert torch.equal(out, x + 1)
    assert len(chosen) == 2


def test_do_bench():
    x, out = torch.arange(16.), torch.zeros(16)
    ms = triton.testing.do_bench(lambda: double_kernel[(1,)](out, x, BLOCK=16), warmup=1, rep=5)
    assert 0 < ms < 100
    times = triton.testing.do_bench(lambda: time.sleep(0.002), warmup=1, rep=10, quantiles=[0.5, 0.9])
    assert 1.9 < times[0] <= times[1]


@triton.jit
def cache_kernel(x, out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) * 3)


def test_a_new_process_uses_the_cache_on_disk(tmp_path):
    code = (f'import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n'
            'import ptxi_triton, torch, triton; ptxi_triton.enable()\n'
            'hits = []; triton.knobs.compilation.listener = lambda **k: hits.append(k["cache_hit"])\n'
            'from test_backend import cache_kernel\n'
            'x = torch.arange(16.); out = x * 0; cache_kernel[(1,)](x, out, BLOCK=16)\n'
            'print(hits, out.tolist() == (x * 3).tolist())')
    results = [program(code, TRITON_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [r.stdout for r in results] == ['[False] True\n', '[True] True\n'], results[0].stderr


def test_a_contraction_is_that_of_the_option():
    a, b = 1 + 2. ** -12, -(1 + 2. ** -11)
    out = torch.zeros(1)
    for fused, want in ((True, 2. ** -24), (False, 0.)):
        fma_kernel[(1,)](torch.tensor([a]), torch.tensor([b]), out, enable_fp_fusion=fused)
        assert out.item() == want


@triton.jit
def fma_kernel(x, y, out):
    v = tl.load(x)
    tl.store(out, v * v + tl.load(y))


# ---- output and failures

@triton.jit
def print_kernel(x, BLOCK: tl.constexpr):
    tl.device_print('value', tl.load(x + tl.arange(0, BLOCK)))


def test_print(capsys):
    print_kernel[(1,)](torch.arange(32) + 500, BLOCK=32, num_warps=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 32 and lines[3] == 'pid (0, 0, 0) idx ( 3) value: 503'


@triton.jit
def assert_kernel(x, BLOCK: tl.constexpr):
    tl.device_assert(tl.load(x + tl.arange(0, BLOCK)) < 5, 'too large')


def test_assert():
    assert_kernel[(1,)](torch.zeros(16), BLOCK=16, debug=True)
    with pytest.raises(RuntimeError, match='too large') as failed:
        assert_kernel[(1,)](torch.arange(16), BLOCK=16, debug=True)
    assert 'test_backend.py' in str(failed.value)
    assert_kernel[(1,)](torch.arange(16), BLOCK=16)  # without debug nothing is checked


def test_a_report_names_the_line_of_the_kernel():
    with pytest.raises(ptxi.LaunchError) as failed:
        double_kernel[(1,)](torch.zeros(16), torch.zeros(8), BLOCK=16)
    report = failed.value.report
    line = next(i for i, text in enumerate(open(__file__), 1) if 'tl.load(source + tl.arange(0, BLOCK)) * 2' in text)
    assert report.source_file.endswith('test_backend.py') and report.source_line == line
    assert report.nearest_size == 32


def test_a_read_only_array_is_not_written():
    frozen = np.zeros(16, 'f4')
    frozen.flags.writeable = False
    double_kernel[(1,)](np.zeros(16, 'f4'), frozen, BLOCK=16)
    with pytest.raises(ptxi.LaunchError):
        double_kernel[(1,)](frozen, np.zeros(16, 'f4'), BLOCK=16)


def test_sanitizers():
    out = torch.zeros(4, dtype=torch.int32)
    with ptxi.checking('race') as checks:
        grid_kernel[(4,)](out)
    assert checks.findings == []
    with pytest.raises(ptxi.CheckError) as failed, ptxi.checking('race'):
        same_kernel[(4,)](out)
    assert any(site.source_file.endswith('test_backend.py') for site in failed.value.findings[0].sites)


@triton.jit
def same_kernel(out):
    tl.store(out, tl.program_id(0))


def test_invalid_arguments():
    with pytest.raises(TypeError, match='device meta'):
        double_kernel[(1,)](torch.zeros(16), torch.zeros(16, device='meta'), BLOCK=16)
    with pytest.raises(TypeError):
        double_kernel[(1,)](torch.zeros(16), object(), BLOCK=16)
    with pytest.raises(triton.runtime.errors.OutOfResources):
        x = torch.zeros((128, 1024), dtype=torch.float16)
        run_matmul(x, x.T, BM=128, BN=128, BK=128, num_stages=6)


# ---- cost

@pytest.mark.parametrize('make', [torch.zeros, np.zeros])
def test_the_cost_of_a_launch(make):
    """A launch again costs at most as much as 150 additions of four numbers by NumPy, which are 50 to 80 microseconds.

    The time of this thread is measured, which other processes do not change much.
    """
    arrays, small = [make(4) for _ in range(3)], np.zeros(4, 'f4')

    def cost(call, count):
        def once():
            start = time.thread_time()
            for _ in range(count):
                call()
            return (time.thread_time() - start) / count
        return min(once() for _ in range(20))

    launch = cost(lambda: add_kernel[(1,)](*arrays, 4, BLOCK=32, num_warps=1), 200)
    unit = cost(lambda: np.add(small, small), 2000)
    print(f'a launch costs {launch * 1e6:.1f} us, {launch / unit:.0f} times numpy.add of 4 elements')
    assert launch < 150 * unit
