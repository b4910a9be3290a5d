"""Runs kernels that were compiled by NVRTC, by clang's NVPTX back end, and by Numba."""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from ptxi.testing import assert_bits_equal

N = 1000
SAMPLE = pathlib.Path(__file__).parents[2] / 'samples' / 'nvrtc.py'

# Counts the steps of the Collatz sequence down to 1, and sums the counts of the block in shared memory.
COLLATZ = r'''
extern "C" __global__ void collatz(unsigned *steps, unsigned *sum, unsigned n)
{
    __shared__ unsigned all;
    unsigned i = BLOCK * BLOCK_SIZE + THREAD, count = 0;
    if (THREAD == 0)
        all = 0;
    BARRIER;
    for (unsigned long long x = i + 1; i < n && x != 1; count++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    if (i < n)
        steps[i] = count;
    ADD(&all, count);
    BARRIER;
    if (THREAD == 0)
        sum[BLOCK] = all;
}
'''


def collatz(x):
    steps = 0
    while x != 1:
        x, steps = (3 * x + 1 if x & 1 else x // 2), steps + 1
    return steps


def check_collatz(ptxi, ptx):
    steps, sums = np.zeros(N, 'u4'), np.zeros(8, 'u4')
    ptxi.loads(ptx).collatz[8, 128](steps, sums, N)
    want = np.array([collatz(i + 1) for i in range(N)] + [0] * (8 * 128 - N), 'u4')
    assert_bits_equal(steps, want[:N])
    assert_bits_equal(sums, want.reshape(8, 128).sum(1, dtype='u4'))


def nvrtc_ptx(source, *options):
    nvrtc = pytest.importorskip('cuda.bindings.nvrtc', reason='pip install -r tests/clients/requirements.txt')

    def call(name, *arguments):
        error, *results = getattr(nvrtc, name)(*arguments)
        if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f'{name}: {error}')
        return results[0] if results else None

    program = call('nvrtcCreateProgram', source.encode(), b'kernel.cu', 0, [], [])
    call('nvrtcCompileProgram', program, len(options), [o.encode() for o in options])
    ptx = b' ' * call('nvrtcGetPTXSize', program)
    call('nvrtcGetPTX', program, ptx)
    return ptx.rstrip(b'\0')


NVRTC_NAMES = '''
#define BLOCK blockIdx.x
#define BLOCK_SIZE blockDim.x
#define THREAD threadIdx.x
#define BARRIER __syncthreads()
#define ADD atomicAdd
'''
CLANG_NAMES = '''
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_SIZE __nvvm_read_ptx_sreg_ntid_x()
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BARRIER __syncthreads()
#define ADD(p, x) __nvvm_atom_add_gen_i((volatile int *)(p), (int)(x))
'''


@pytest.mark.parametrize('arch', ['compute_80', 'compute_90'])
def test_nvrtc(ptxi, arch):
    check_collatz(ptxi, nvrtc_ptx(NVRTC_NAMES + COLLATZ, '--gpu-architecture=' + arch))


def test_nvrtc_floats(ptxi):
    """Evaluate a polynomial that NVRTC fuses to fma. The reference is its value in double, rounded after each step."""
    ptx = nvrtc_ptx('extern "C" __global__ void p(float *y, const float *x) '
                    '{ int i = threadIdx.x; y[i] = (x[i] * 3.f + 2.f) * x[i] + 1.f; }',
                    '--gpu-architecture=compute_90')
    x, y = np.linspace(-3, 3, 256, dtype='f4'), np.zeros(256, 'f4')
    ptxi.loads(ptx).p[1, 256](y, x)
    inner = (x.astype('f8') * 3 + 2).astype('f4')
    assert_bits_equal(y, (inner.astype('f8') * x + 1).astype('f4'))


def test_the_sample():
    pytest.importorskip('cuda.bindings.nvrtc', reason='pip install -r tests/clients/requirements.txt')
    result = subprocess.run([sys.executable, SAMPLE], capture_output=True, text=True, check=True)
    assert result.stdout == SAMPLE.with_suffix('.expected').read_text()
    result = subprocess.run([sys.executable, SAMPLE, 'x +'], capture_output=True, text=True)
    assert result.returncode == 1 and 'expected an expression' in result.stderr


@pytest.mark.parametrize('level', ['-O0', '-O2'])
def test_clang(ptxi, tmp_path, level):
    clang = shutil.which('clang') or pytest.skip('clang is not installed')
    source = tmp_path / 'kernel.cu'
    source.write_text(CLANG_NAMES + COLLATZ)
    made = subprocess.run([clang, '-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_70', '-nocudainc',
                           '-nocudalib', level, '-S', '-Wno-unknown-cuda-version', '-o', '-', source],
                          capture_output=True)
    if b'nvptx' in made.stderr:
        pytest.skip('this clang has no NVPTX back end')
    assert made.returncode == 0, made.stderr.decode()
    check_collatz(ptxi, made.stdout)


def test_numba(ptxi):
    """Numba passes an array as seven parameters: two host objects, size, item size, data, shape and strides."""
    numba_cuda = pytest.importorskip('numba.cuda', reason='pip install -r tests/clients/requirements.txt')
    from numba import types

    def axpy(out, x, a):
        i = numba_cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a * x[i] + out[i]

    array = types.float32[::1]
    try:
        ptx, _ = numba_cuda.compile_ptx(axpy, types.void(array, array, types.float32), cc=(9, 0))
    except Exception as e:
        if 'nvvm' in str(e).lower():
            pytest.skip(f'Numba finds no NVVM: {e}')
        raise
    rng = np.random.default_rng(6)
    out, x = (rng.standard_normal(N).astype('f4') for _ in range(2))
    want = np.float32(0.5) * x + out  # the product is exact

    def expanded(a):
        return 0, 0, a.size, a.itemsize, a, a.size, a.itemsize

    name = re.search(r'\.visible \.entry (\w+)', ptx)[1]
    ptxi.loads(ptx)[name][4, 256](*expanded(out), *expanded(x), 0.5)
    assert_bits_equal(out, want)
