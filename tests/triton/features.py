"""Kernels for parts of Triton's language that tutorials.py does not use, each with a function that runs it."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from tutorials import random

FEATURES = {}


def feature(function):
    """Add a function to FEATURES."""
    FEATURES[function.__name__] = function
    return function


@triton.jit
def reduce_kernel(x, sums, largest, where, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, N if AXIS == 0 else M)
    tl.store(sums + at, tl.sum(v, axis=AXIS))
    value, index = tl.max(v, axis=AXIS, return_indices=True)
    tl.store(largest + at, value)
    tl.store(where + at, index)


@feature
def reductions(device):
    x, out = random(device, 64, 128, seed=60), {}
    for axis, warps in ((0, 4), (1, 4), (1, 8)):
        n = x.shape[1 - axis]
        made = [torch.empty(n, device=device, dtype=t) for t in (torch.float32, torch.float32, torch.int32)]
        reduce_kernel[(1,)](x, *made, M=64, N=128, AXIS=axis, num_warps=warps)
        out.update({f'{name}{axis}{warps}': t for name, t in zip(('sums', 'largest', 'where'), made)})
    return {'x': x, **out}


@triton.jit
def multiply_add(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scan_kernel(x, sums, lines, N: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(v, axis=0, reverse=REVERSE))
    _, b = tl.associative_scan((v * 0.5, v), 0, multiply_add, reverse=REVERSE)
    tl.store(lines + at, b)


@feature
def scans(device):
    x, out = random(device, 1024, seed=61), {}
    for reverse in (False, True):
        made = [torch.empty_like(x) for _ in range(2)]
        scan_kernel[(1,)](x, *made, N=1024, REVERSE=reverse)
        out.update({f'{name}{int(reverse)}': t for name, t in zip(('sums', 'lines'), made)})
    return {'x': x, **out}


@triton.jit
def sort_kernel(x, out, counts, picked, index, M: tl.constexpr, N: tl.constexpr):
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + where)
    tl.store(out + where, tl.sort(v, dim=1, descending=True))
    tl.store(counts + tl.arange(0, 16), tl.histogram(tl.reshape(v, M * N) % 16, 16))
    tl.store(picked + where, tl.gather(v, tl.load(index + where), axis=1))


@feature
def sorting(device):
    generator = torch.Generator().manual_seed(62)
    x = torch.randint(0, 1000, (32, 64), generator=generator, dtype=torch.int32).to(device)
    index = torch.randint(0, 64, (32, 64), generator=generator, dtype=torch.int32).to(device)
    out, picked, counts = torch.empty_like(x), torch.empty_like(x), torch.empty(16, dtype=torch.int32, device=device)
    sort_kernel[(1,)](x, out, counts, picked, index, M=32, N=64)
    return {'x': x, 'index': index, 'out': out, 'counts': counts, 'picked': picked}


@triton.jit
def math_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=1.0)
    positive = tl.abs(v) + 0.01
    tl.store(out + at, tl.exp(v), mask=inside)
    tl.store(out + n + at, tl.log(positive), mask=inside)
    tl.store(out + 2 * n + at, tl.sin(v) + tl.cos(v), mask=inside)
    tl.store(out + 3 * n + at, tl.sqrt(positive) + tl.rsqrt(positive), mask=inside)
    tl.store(out + 4 * n + at, tl.sqrt_rn(positive) + tl.div_rn(v, positive), mask=inside)
    tl.store(out + 5 * n + at, tl.erf(v) + tl.floor(v * 3) + tl.ceil(v * 5), mask=inside)
    tl.store(out + 6 * n + at, tl.sigmoid(v) / (1.5 + tl.exp2(v) + tl.log2(positive)), mask=inside)
    tl.store(out + 7 * n + at, tl.fma(v, positive, v) + tl.clamp(v, -0.5, 0.5), mask=inside)


@feature
def mathematics(device):
    x = random(device, 2000, seed=63, scale=3.0)
    out = torch.empty((8, 2000), device=device)
    math_kernel[(triton.cdiv(2000, 512),)](x, out, 2000, BLOCK=512)
    return {'x': x, 'out': out}


@triton.jit
def cast_kernel(x, half, brain, e5m2, e4m3, integer, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=0.0)
    tl.store(half + at, v.to(tl.float16), mask=inside)
    tl.store(brain + at, v.to(tl.bfloat16), mask=inside)
    tl.store(e5m2 + at, v.to(tl.float8e5), mask=inside)
    tl.store(e4m3 + at, v.to(tl.float8e4nv), mask=inside)
    tl.store(integer + at, v.to(tl.int32), mask=inside)


@feature
def casts(device):
    x = random(device, 3000, seed=64, scale=20.0)
    types = torch.float16, torch.bfloat16, torch.float8_e5m2, torch.float8_e4m3fn, torch.int32
    out = [torch.empty(3000, dtype=t, device=device) for t in types]
    cast_kernel[(triton.cdiv(3000, 1024),)](x, *out, 3000, BLOCK=1024)
    return {'x': x, **{str(t.dtype).split('.')[1]: t for t in out}}


@triton.jit
def dot_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
               OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left, right = tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(left, right, input_precision=PRECISION, out_dtype=OUT))


@feature
def products(device):
    out = {}
    a, b = random(device, 64, 64, seed=65), random(device, 64, 32, seed=66)
    cases = (('ieee', torch.float32, tl.float32), ('tf32', torch.float32, tl.float32),
             ('tf32x3', torch.float32, tl.float32), ('tf32', torch.bfloat16, tl.float32),
             ('tf32', torch.float16, tl.float16), ('ieee', torch.float64, tl.float64), ('tf32', torch.int8, tl.int32))
    for precision, dtype, result in cases:
        x, y = ((t * 20).to(dtype) if dtype == torch.int8 else t.to(dtype) for t in (a, b))
        kind = {tl.float32: torch.float32, tl.float16: torch.float16, tl.float64: torch.float64,
                tl.int32: torch.int32}[result]
        c = torch.empty((64, 32), dtype=kind, device=device)
        dot_kernel[(1,)](x, y, c, M=64, N=32, K=64, PRECISION=precision, OUT=result, num_warps=4)
        out[f'{precision}_{str(dtype).split(".")[1]}'] = c
    return {'a': a, 'b': b, **out}


@triton.jit
def atomic_kernel(x, total, largest, turns, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(total + v % 7, v, mask=at < n)
    tl.atomic_max(largest, tl.max(v, 0))
    while tl.atomic_cas(turns, tl.program_id(0), tl.program_id(0)) != tl.program_id(0):
        pass
    tl.atomic_add(turns, 1)


@feature
def atomics(device):
    x = torch.arange(4000, dtype=torch.int32, device=device)
    total, largest, turns = (torch.zeros(n, dtype=torch.int32, device=device) for n in (7, 1, 1))
    atomic_kernel[(16,)](x, total, largest, turns, 4000, BLOCK=256)
    return {'x': x, 'total': total, 'largest': largest, 'turns': turns}


@triton.jit
def random_kernel(out, integers, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randn(seed, at), mask=at < n)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(integers + at, (a ^ b) + (c ^ d), mask=at < n)


@feature
def random_numbers(device):
    out, integers = torch.empty(2000, device=device), torch.empty(2000, dtype=torch.int32, device=device)
    random_kernel[(8,)](out, integers, 1234, 2000, BLOCK=256)
    return {'out': out, 'integers': integers}


@triton.jit
def shape_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + where)
    left, right = tl.split(tl.reshape(v, (M, N // 2, 2)))
    joined = tl.reshape(tl.permute(tl.join(right, left), (2, 0, 1)), (2 * M, N // 2))
    at = tl.arange(0, 2 * M)[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :]
    tl.store(out + at, joined)
    tl.store(out + M * N + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.trans(v))
    tl.store(out + 2 * M * N + where, tl.flip(v, 1))


@feature
def shapes(device):
    x = random(device, 32, 64, seed=67)
    out = torch.empty((3, 32, 64), device=device)
    shape_kernel[(1,)](x, out, M=32, N=64)
    return {'x': x, 'out': out}


@triton.jit
def descriptor_kernel(x, out, total, M: tl.constexpr, N: tl.constexpr):
    """A block over the edge of the tensor is padded. The last descriptor adds."""
    v = x.load([1, tl.program_id(0) * M, tl.program_id(1) * N])
    out.store([tl.program_id(0) * M, tl.program_id(1) * N], tl.reshape(v, (M, N)))
    total.atomic_add([0, 0], tl.reshape(v, (M, N)).to(tl.int32))


@feature
def descriptors(device):
    x = torch.arange(3 * 40 * 48, device=device).reshape(3, 40, 48).to(torch.float32)
    out = torch.empty((64, 64), device=device)
    total = torch.zeros((32, 32), dtype=torch.int32, device=device)
    descriptor_kernel[(2, 2)](TensorDescriptor.from_tensor(x, [1, 32, 32], padding='nan'),
                              TensorDescriptor.from_tensor(out, [32, 32]),
                              TensorDescriptor.from_tensor(total[:, :], [32, 32]), M=32, N=32)
    return {'x': x, 'out': out, 'total': total}


@triton.jit
def assembly_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise('prmt.b32 $0, $1, 0, 0x0123;', '=r,r', [tl.load(x + at)], dtype=tl.int32,
                                  is_pure=True, pack=1)
    tl.store(out + at, v)


@feature
def assembly(device):
    x = torch.arange(0, 1 << 20, 1 << 10, dtype=torch.int32, device=device)
    out = torch.empty_like(x)
    assembly_kernel[(1,)](x, out, BLOCK=1024)
    return {'x': x, 'out': out}
