"""Runs kernels that Triton compiled, without a GPU. The results are compared bit by bit.

The references add in Triton's order, and compute approximations with ptxi.asm, one instruction at a time. Matrices
have elements with exact products and sums.
"""
import numpy as np
import pytest

from ptxi.testing import assert_bits_equal

triton = pytest.importorskip('triton', reason='pip install -r tests/clients/requirements.txt')
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

LOG2E = np.float32(1.4426950408889634)


class Compiled:
    """A kernel compiled for one architecture. It is called as compiled(grid, arguments...)."""

    def __init__(self, ptxi, arch, function, signature, constants, multiples=(), **options):
        types = dict(signature, **{name: 'constexpr' for name in constants})
        aligned = {(i,): [['tt.divisibility', 16]] for i, (name, t) in enumerate(types.items())
                   if t.startswith('*') or name in multiples}
        source = ASTSource(fn=function, signature=types, constexprs=constants, attrs=aligned)
        made = triton.compile(source, target=GPUTarget('cuda', arch, 32), options={'enable_fp_fusion': True, **options})
        self.ptx = made.asm['ptx']
        self._kernel = ptxi.loads(self.ptx, name=made.metadata.name)[made.metadata.name]
        self._block, self._shared = 32 * made.metadata.num_warps, made.metadata.shared
        assert made.metadata.global_scratch_size == made.metadata.profile_scratch_size == 0
        if self._shared > 48 << 10:
            self._kernel.set_attribute(ptxi.FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, self._shared)

    def __call__(self, grid, *arguments):
        self._kernel[grid, self._block, self._shared](*arguments, 0, 0)  # null pointers for the two scratch areas


def both(test):
    """Run the test for sm_80 and sm_90."""
    return pytest.mark.parametrize('arch', [80, 90])(pytest.mark.ptxi_device('sm_90')(test))


def row_sum(x):
    """Return the sums of the rows in the order of tl.sum with one warp.

    Each thread has groups of four neighbouring elements, and adds them in pairs. Then the warp adds in a butterfly.
    """
    rows, n = x.shape
    v = x.astype('f4').reshape(rows, n // 128, 32, 4).transpose(0, 2, 1, 3).reshape(rows, 32, n // 32)
    while v.shape[2] > 1:
        v = v[:, :, 0::2] + v[:, :, 1::2]
    v = v[:, :, 0]
    for mask in (16, 8, 4, 2, 1):
        v = v + v[:, np.arange(32) ^ mask]
    return v[:, :1]


def unary(ptxi, instruction, x):
    """Return the values of an instruction with one f32 operand."""
    return ptxi.asm(instruction + ' %0, %1;', '=f', 'f')(np.ascontiguousarray(x, 'f4'))


def divide(ptxi, x, y):
    """Return x / y as div.full.f32 computes it."""
    x, y = np.broadcast_arrays(x, y)
    x, y = np.ascontiguousarray(x, 'f4'), np.ascontiguousarray(y, 'f4')
    return ptxi.asm('div.full.f32 %0, %1, %2;', '=f', 'f', 'f')(x, y)


@triton.jit
def add_kernel(out, x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@both
def test_vector_add(ptxi, arch):
    n, rng = 5000, np.random.default_rng(1)
    x, y = (rng.standard_normal(n).astype('f4') for _ in range(2))
    out = np.full(n + 100, 7, 'f4')
    add = Compiled(ptxi, arch, add_kernel, {'out': '*fp32', 'x': '*fp32', 'y': '*fp32', 'n': 'i32'}, {'BLOCK': 1024})
    add(5, out, x, y, n)
    assert_bits_equal(out[:n], x + y)
    assert (out[n:] == 7).all()


@triton.jit
def softmax_kernel(out, x, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=float('-inf'))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * n + i, e / tl.sum(e, 0), mask=i < n)


@both
def test_softmax(ptxi, arch):
    rows, n = 40, 208
    x = np.random.default_rng(2).standard_normal((rows, n)).astype('f4') * 4
    out = np.zeros_like(x)
    softmax = Compiled(ptxi, arch, softmax_kernel, {'out': '*fp32', 'x': '*fp32', 'n': 'i32'}, {'BLOCK': 256},
                       multiples=['n'], num_warps=1)
    softmax(rows, out, x, n)
    padded = np.full((rows, 256), -np.inf, 'f4')
    padded[:, :n] = x
    e = unary(ptxi, 'ex2.approx.f32', (padded - padded.max(1, keepdims=True)) * LOG2E)
    assert_bits_equal(out, divide(ptxi, e, row_sum(e))[:, :n])
    exact = np.exp(x.astype('f8') - x.max(1, keepdims=True))
    assert np.allclose(out, exact / exact.sum(1, keepdims=True), rtol=2e-6)


@triton.jit
def layer_norm_kernel(out, x, weight, bias, epsilon, N: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * N + i)
    mean = tl.sum(v, 0) / N
    centred = v - mean
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / N + epsilon)
    tl.store(out + row * N + i, centred * scale * tl.load(weight + i) + tl.load(bias + i))


@both
def test_layer_norm(ptxi, arch):
    rows, n, rng = 20, 512, np.random.default_rng(3)
    x, weight, bias = (rng.standard_normal(s).astype('f4') for s in ((rows, n), n, n))
    out, epsilon = np.zeros_like(x), np.float32(1e-5)
    norm = Compiled(ptxi, arch, layer_norm_kernel,
                    {'out': '*fp32', 'x': '*fp32', 'weight': '*fp32', 'bias': '*fp32', 'epsilon': 'fp32'},
                    {'N': n}, num_warps=1, enable_fp_fusion=False)
    norm(rows, out, x, weight, bias, epsilon)
    centred = x - row_sum(x) / np.float32(n)
    variance = row_sum(centred * centred) / np.float32(n)
    scale = divide(ptxi, np.float32(1), unary(ptxi, 'sqrt.approx.f32', variance + epsilon))
    assert_bits_equal(out, centred * scale * weight + bias)


@triton.jit
def matmul_kernel(c, a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (step + k)[None, :],
                       mask=(m < M)[:, None] & (step + k < K)[None, :], other=0.0)
        right = tl.load(b + (step + k)[:, None] * N + n[None, :],
                        mask=(step + k < K)[:, None] & (n < N)[None, :], other=0.0)
        sum = tl.dot(left, right, sum)
    tl.store(c + m[:, None] * N + n[None, :], sum, mask=(m < M)[:, None] & (n < N)[None, :])


@both
@pytest.mark.parametrize('shape', [(128, 128, 64), (100, 72, 200)])
def test_matmul(ptxi, arch, shape):
    """The elements are integers in half precision, so the sums of the tensor cores are exact in single precision."""
    m, n, k = shape
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-32, 33, s).astype('f2') for s in ((m, k), (k, n)))
    c = np.zeros((m, n), 'f4')
    matmul = Compiled(ptxi, arch, matmul_kernel,
                      {'c': '*fp32', 'a': '*fp16', 'b': '*fp16', 'M': 'i32', 'N': 'i32', 'K': 'i32'},
                      {'BM': 64, 'BN': 64, 'BK': 32}, num_warps=4, num_stages=3)
    assert ('wgmma.mma_async' if arch == 90 else 'mma.sync') in matmul.ptx
    matmul((-(-m // 64), -(-n // 64)), c, a, b, m, n, k)
    assert_bits_equal(c, (a.astype('i4') @ b.astype('i4')).astype('f4'))


@triton.jit
def attention_kernel(out, q, k, v, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention with a softmax in base 2, so that integer scores have exact powers."""
    m, j, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    top = tl.full((BM,), float('-inf'), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        keys = tl.load(k + (start + j)[None, :] * D + d[:, None])
        scores = tl.dot(queries, keys)
        larger = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(top - larger)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + (start + j)[:, None] * D + d[None, :])
        sum = tl.dot(p.to(tl.float16), values, sum * shrink[:, None])
        top = larger
    tl.store(out + m[:, None] * D + d[None, :], sum / total[:, None])


@both
def test_flash_attention(ptxi, arch):
    """The scores are small integers, so all sums are exact in any order. Only the division rounds, as on the GPU."""
    n, d, rng = 128, 32, np.random.default_rng(5)
    q, k = np.zeros((n, d), 'f2'), np.zeros((n, d), 'f2')
    q[:, :4], k[:, :4] = rng.integers(-1, 2, (n, 4)), rng.integers(-1, 2, (n, 4))
    v = rng.integers(-8, 9, (n, d)).astype('f2')
    out = np.zeros((n, d), 'f4')
    attention = Compiled(ptxi, arch, attention_kernel,
                         {'out': '*fp32', 'q': '*fp16', 'k': '*fp16', 'v': '*fp16', 'n': 'i32'},
                         {'BM': 64, 'BN': 64, 'D': d}, num_warps=4, num_stages=2)
    attention(n // 64, out, q, k, v, n)
    scores = q.astype('f8') @ k.astype('f8').T
    p = np.exp2(scores - scores.max(1, keepdims=True))
    assert_bits_equal(out, divide(ptxi, (p @ v.astype('f8')).astype('f4'), p.sum(1, keepdims=True).astype('f4')))
