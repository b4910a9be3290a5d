"""Kernels like those of Triton's tutorials, each with a function that runs it.

The functions take a torch device, so the same programs run on the CPU with libptxi and on a GPU. They return tensors by
name. `TUTORIALS` has them all. No result depends on the order of blocks.
"""
import contextlib
import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

TUTORIALS = {}
opened = contextlib.nullcontext  # on a CPU, ptxi_triton.opened: memory that kernels find through pointers in memory


def tutorial(function):
    """Add a function to TUTORIALS."""
    TUTORIALS[function.__name__] = function
    return function


def random(device, *shape, seed=0, dtype=torch.float32, scale=1.0):
    """Return normally distributed numbers, the same ones on every device."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * scale).to(dtype).to(device)


def allocate(size, alignment, stream):
    """Allocate the scratch memory in which kernels make tensor maps."""
    return torch.empty(size, dtype=torch.int8, device=allocate.device)


# ---- vector addition

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@tutorial
def vector_add(device):
    n = 9843
    x, y = random(device, n, seed=1), random(device, n, seed=2)
    out = torch.zeros_like(x)
    add_kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, out, n, BLOCK=1024)
    return {'x': x, 'y': y, 'out': out}


# ---- softmax, each program with several rows

@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    column = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        v = tl.load(x + row * x_stride + column, mask=column < columns, other=-float('inf'))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * out_stride + column, e / tl.sum(e, axis=0), mask=column < columns)


@tutorial
def softmax(device):
    x = random(device, 83, 781, seed=3)
    out = torch.empty_like(x)
    softmax_kernel[(8,)](out, x, out.stride(0), x.stride(0), *x.shape, BLOCK=1024, STAGES=2, num_warps=8)
    return {'x': x, 'out': out}


# ---- matrix multiplication

@triton.jit
def grouped(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Return the row and the column of a tile, in an order that uses the cache well."""
    per_group = GROUP * tiles_n
    first = tile // per_group * GROUP
    height = min(tiles_m - first, GROUP)
    return first + tile % per_group % height, tile % per_group // height


@triton.jit
def matmul_kernel(a, b, c, M, N, K, a_m, a_k, b_k, b_n, c_m, c_n, BM: tl.constexpr, BN: tl.constexpr,
                  BK: tl.constexpr, GROUP: tl.constexpr, LEAKY: tl.constexpr):
    row, column = grouped(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n, k = (row * BM + tl.arange(0, BM)) % M, (column * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    left, right = a + m[:, None] * a_m + k[None, :] * a_k, b + k[:, None] * b_k + n[None, :] * b_n
    sum = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        inside = k < K - step * BK
        sum = tl.dot(tl.load(left, mask=inside[None, :], other=0.0), tl.load(right, mask=inside[:, None], other=0.0),
                     sum)
        left += BK * a_k
        right += BK * b_k
    if LEAKY:
        sum = tl.where(sum >= 0, sum, 0.01 * sum)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * c_m + n[None, :] * c_n, sum.to(c.dtype.element_ty),
             mask=(m < M)[:, None] & (n < N)[None, :])


def run_matmul(a, b, leaky=False, dtype=torch.float16, **options):
    """Return a @ b."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros((m, n), device=a.device, dtype=dtype)
    options = {'BM': 64, 'BN': 64, 'BK': 32, 'GROUP': 4, 'num_stages': 3, 'num_warps': 4, **options}
    matmul_kernel[lambda meta: (triton.cdiv(m, meta['BM']) * triton.cdiv(n, meta['BN']),)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), LEAKY=leaky, **options)
    return c


@tutorial
def matmul(device):
    a = random(device, 200, 192, seed=4, dtype=torch.float16)
    b = random(device, 192, 144, seed=5, dtype=torch.float16)
    return {'a': a, 'b': b, 'c': run_matmul(a, b), 'leaky': run_matmul(a, b, leaky=True)}


@tutorial
def matmul_fp8(device):
    a = random(device, 128, 128, seed=6).to(torch.float8_e5m2)
    b = random(device, 128, 128, seed=7).to(torch.float8_e5m2)
    return {'a': a, 'b': b, 'c': run_matmul(a, b.T, BK=64)}


@tutorial
def matmul_tf32(device):
    a, b = random(device, 96, 80, seed=8), random(device, 80, 64, seed=9)
    return {'a': a, 'b': b, 'c': run_matmul(a, b, dtype=torch.float32)}


@tutorial
def matmul_cluster(device):
    """Two blocks in a cluster share the work of a program."""
    a = random(device, 128, 96, seed=4, dtype=torch.float16)
    b = random(device, 96, 128, seed=5, dtype=torch.float16)
    return {'a': a, 'b': b, 'c': run_matmul(a, b, BM=128, BN=128, num_ctas=2)}


# ---- dropout

@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(tl.rand(seed, at) > p, v / (1 - p), 0.0), mask=at < n)


@tutorial
def dropout(device):
    x = random(device, 3000, seed=10)
    outs = {f'out{seed}': torch.empty_like(x) for seed in (123, 512)}
    for seed, out in zip((123, 512), outs.values()):
        dropout_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), 0.4, seed, BLOCK=1024)
    return {'x': x, **outs}


# ---- layer normalisation, forward and backward

@triton.jit
def layer_norm_kernel(x, y, weight, bias, means, scales, stride, N, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.where(at < N, tl.load(x + at, mask=at < N, other=0.0).to(tl.float32) - mean, 0.0)
        total += v * v
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / N + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = (tl.load(x + at, mask=at < N, other=0.0).to(tl.float32) - mean) * scale
        v = v * tl.load(weight + at, mask=at < N) + tl.load(bias + at, mask=at < N)
        tl.store(y + at, v, mask=at < N)


@triton.jit
def layer_norm_dx_kernel(dx, dy, x, weight, means, scales, dw_parts, db_parts, stride, N, rows, BLOCK: tl.constexpr):
    """Each program has every num_programs-th row. It writes its own part of the sums over rows."""
    part, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < N
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    dw, db = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for row in range(part, rows, tl.num_programs(0)):
        g = tl.load(dy + row * stride + at, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(scales + row)
        normal = tl.where(inside, (v - tl.load(means + row)) * scale, 0.0)
        wg = w * g
        c1, c2 = tl.sum(normal * wg, axis=0) / N, tl.sum(wg, axis=0) / N
        tl.store(dx + row * stride + at, (wg - (normal * c1 + c2)) * scale, mask=inside)
        dw += g * normal
        db += g
    tl.store(dw_parts + part * N + at, dw, mask=inside)
    tl.store(db_parts + part * N + at, db, mask=inside)


@triton.jit
def column_sum_kernel(parts, out, rows, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, rows, BM):
        m = start + tl.arange(0, BM)
        total += tl.load(parts + m[:, None] * N + n[None, :], mask=(m < rows)[:, None] & (n < N)[None, :], other=0.0)
    tl.store(out + n, tl.sum(total, axis=0), mask=n < N)


@tutorial
def layer_norm(device):
    rows, n = 37, 600
    x = random(device, rows, n, seed=11, dtype=torch.float16, scale=2.3) - 0.5
    weight, bias = random(device, n, seed=12, dtype=torch.float16), random(device, n, seed=13, dtype=torch.float16)
    dy = random(device, rows, n, seed=14, dtype=torch.float16, scale=0.1)
    y, dx, parts = torch.empty_like(x), torch.empty_like(x), 8
    means, scales = (torch.empty(rows, device=device) for _ in range(2))
    layer_norm_kernel[(rows,)](x, y, weight, bias, means, scales, x.stride(0), n, 1e-5, BLOCK=256, num_warps=4)
    dw_parts, db_parts = (torch.empty((parts, n), device=device) for _ in range(2))
    layer_norm_dx_kernel[(parts,)](dx, dy, x, weight, means, scales, dw_parts, db_parts, x.stride(0), n, rows,
                                   BLOCK=1024, num_warps=4)
    dw, db = (torch.empty(n, device=device) for _ in range(2))
    for part, out in ((dw_parts, dw), (db_parts, db)):
        column_sum_kernel[(triton.cdiv(n, 128),)](part, out, parts, n, BM=8, BN=128)
    return {'x': x, 'weight': weight, 'bias': bias, 'dy': dy, 'y': y, 'dx': dx, 'dw': dw, 'db': db}


# ---- attention, forward and backward, with heads in a grid of two dimensions

@triton.jit
def attention_kernel(q, k, v, out, logs, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                     CAUSAL: tl.constexpr):
    """Attention in one pass over the keys: the sums are scaled again whenever the largest score grows."""
    head, block, d, j = tl.program_id(1), tl.program_id(0), tl.arange(0, D), tl.arange(0, BN)
    m, base = block * BM + tl.arange(0, BM), head * N * D
    queries = tl.load(q + base + m[:, None] * D + d[None, :])
    largest = tl.full((BM,), -float('inf'), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    end = (block + 1) * BM if CAUSAL else N
    for start in range(0, end, BN):
        keys = tl.load(k + base + (start + j)[None, :] * D + d[:, None])
        scores = tl.dot(queries, keys) * (scale * 1.44269504)
        if CAUSAL:
            scores = tl.where(m[:, None] >= (start + j)[None, :], scores, -1.0e6)
        larger = tl.maximum(largest, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(largest - larger)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + base + (start + j)[:, None] * D + d[None, :])
        sum = tl.dot(p.to(tl.float16), values, sum * shrink[:, None])
        largest = larger
    tl.store(out + base + m[:, None] * D + d[None, :], (sum / total[:, None]).to(tl.float16))
    tl.store(logs + head * N + m, largest + tl.log2(total))


@triton.jit
def attention_delta_kernel(out, dout, delta, N, D: tl.constexpr, BM: tl.constexpr):
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    where = at[:, None] * D + tl.arange(0, D)[None, :]
    products = tl.load(out + where).to(tl.float32) * tl.load(dout + where).to(tl.float32)
    tl.store(delta + at, tl.sum(products, axis=1))


@triton.jit
def attention_dkdv_kernel(q, k, v, dout, dk, dv, logs, delta, scale, N, D: tl.constexpr, BM: tl.constexpr,
                          BN: tl.constexpr, CAUSAL: tl.constexpr):
    """The gradients of a block of keys and values: a loop over the queries."""
    head, block, d, i = tl.program_id(1), tl.program_id(0), tl.arange(0, D), tl.arange(0, BM)
    n, base = block * BN + tl.arange(0, BN), head * N * D
    keys = tl.load(k + base + n[:, None] * D + d[None, :])
    values = tl.load(v + base + n[:, None] * D + d[None, :])
    dkeys, dvalues = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    begin = block * BN // BM * BM if CAUSAL else 0
    for start in range(begin, N, BM):
        m = start + i
        queries = tl.load(q + base + m[None, :] * D + d[:, None])
        p = tl.exp2(tl.dot(keys, queries) * (scale * 1.44269504) - tl.load(logs + head * N + m)[None, :])
        if CAUSAL:
            p = tl.where(m[None, :] >= n[:, None], p, 0.0)
        g = tl.load(dout + base + m[:, None] * D + d[None, :])
        dvalues += tl.dot(p.to(tl.float16), g)
        ds = p * (tl.dot(values, tl.trans(g)) - tl.load(delta + head * N + m)[None, :])
        dkeys += tl.dot(ds.to(tl.float16), tl.trans(queries))
    tl.store(dv + base + n[:, None] * D + d[None, :], dvalues.to(tl.float16))
    tl.store(dk + base + n[:, None] * D + d[None, :], (dkeys * scale).to(tl.float16))


@triton.jit
def attention_dq_kernel(q, k, v, dout, dq, logs, delta, scale, N, D: tl.constexpr, BM: tl.constexpr,
                        BN: tl.constexpr, CAUSAL: tl.constexpr):
    """The gradient of a block of queries: a loop over the keys."""
    head, block, d, j = tl.program_id(1), tl.program_id(0), tl.arange(0, D), tl.arange(0, BN)
    m, base = block * BM + tl.arange(0, BM), head * N * D
    queries = tl.load(q + base + m[:, None] * D + d[None, :])
    g = tl.load(dout + base + m[:, None] * D + d[None, :])
    log, change = tl.load(logs + head * N + m)[:, None], tl.load(delta + head * N + m)[:, None]
    dqueries = tl.zeros((BM, D), tl.float32)
    end = (block + 1) * BM if CAUSAL else N
    for start in range(0, end, BN):
        n = start + j
        keys = tl.load(k + base + n[None, :] * D + d[:, None])
        values = tl.load(v + base + n[None, :] * D + d[:, None])
        p = tl.exp2(tl.dot(queries, keys) * (scale * 1.44269504) - log)
        if CAUSAL:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        ds = p * (tl.dot(g, values) - change)
        dqueries += tl.dot(ds.to(tl.float16), tl.trans(keys))
    tl.store(dq + base + m[:, None] * D + d[None, :], (dqueries * scale).to(tl.float16))


def run_attention(device, causal):
    heads, n, depth = 2, 128, 64
    q, k, v, dout = (random(device, heads, n, depth, seed=20 + i, dtype=torch.float16, scale=0.5) for i in range(4))
    out, dq, dk, dv = (torch.empty_like(q) for _ in range(4))
    logs, delta = (torch.empty((heads, n), device=device) for _ in range(2))
    scale, options = 1 / math.sqrt(depth), {'D': depth, 'BM': 64, 'BN': 32, 'CAUSAL': causal}
    attention_kernel[(n // 64, heads)](q, k, v, out, logs, scale, n, **options, num_warps=4, num_stages=2)
    attention_delta_kernel[(heads * n // 64,)](out, dout, delta, n, D=depth, BM=64)
    attention_dkdv_kernel[(n // 32, heads)](q, k, v, dout, dk, dv, logs, delta, scale, n, **options, num_stages=2)
    attention_dq_kernel[(n // 64, heads)](q, k, v, dout, dq, logs, delta, scale, n, **options, num_stages=2)
    return {'q': q, 'k': k, 'v': v, 'dout': dout, 'out': out, 'dq': dq, 'dk': dk, 'dv': dv}


@tutorial
def attention(device):
    return run_attention(device, False)


@tutorial
def attention_causal(device):
    return run_attention(device, True)


# ---- several products in one launch, found through pointers in memory

@triton.jit
def group_gemm_kernel(a_ptrs, b_ptrs, c_ptrs, sizes, strides, COUNT: tl.constexpr, PROGRAMS: tl.constexpr,
                      BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile, last = tl.program_id(0), 0
    for g in range(COUNT):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * tiles_n
        while tile >= last and tile < last + tiles:
            a = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float16))
            lda, ldb, ldc = tl.load(strides + g * 3), tl.load(strides + g * 3 + 1), tl.load(strides + g * 3 + 2)
            m = (tile - last) // tiles_n * BM + tl.arange(0, BM)
            n = (tile - last) % tiles_n * BN + tl.arange(0, BN)
            sum = tl.zeros((BM, BN), tl.float32)
            for step in range(0, tl.cdiv(K, BK)):
                k = step * BK + tl.arange(0, BK)
                sum += tl.dot(tl.load(a + m[:, None] * lda + k[None, :]), tl.load(b + k[:, None] * ldb + n[None, :]))
            tl.store(c + m[:, None] * ldc + n[None, :], sum.to(tl.float16))
            tile += PROGRAMS
        last += tiles


@tutorial
def group_gemm(device):
    shapes = [(128, 64, 64), (64, 128, 32), (64, 64, 96)]
    a = [random(device, m, k, seed=30 + i, dtype=torch.float16) for i, (m, n, k) in enumerate(shapes)]
    b = [random(device, k, n, seed=40 + i, dtype=torch.float16) for i, (m, n, k) in enumerate(shapes)]
    c = [torch.zeros((m, n), dtype=torch.float16, device=device) for m, n, k in shapes]
    pointers = [torch.tensor([x.data_ptr() for x in group], device=device) for group in (a, b, c)]
    sizes = torch.tensor(shapes, dtype=torch.int32, device=device)
    strides = torch.tensor([[k, n, n] for m, n, k in shapes], dtype=torch.int32, device=device)
    with opened(*a, *b, *c):
        group_gemm_kernel[(4,)](*pointers, sizes, strides, COUNT=3, PROGRAMS=4, BM=64, BN=64, BK=32)
    return {f'{name}{i}': x for name, group in zip('abc', (a, b, c)) for i, x in enumerate(group)}


# ---- persistent matrix multiplication, with pointers and with tensor descriptors

@triton.jit
def matmul_persistent_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                             GROUP: tl.constexpr, PROGRAMS: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        row, column = grouped(tile, tiles_m, tiles_n, GROUP)
        m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
        sum = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            k = step * BK + tl.arange(0, BK)
            left = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
            right = tl.load(b + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            sum = tl.dot(left, right, sum)
        tl.store(c + m[:, None] * N + n[None, :], sum.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def matmul_tma_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """a, b and c are tensor descriptors. b is transposed."""
    row, column = grouped(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    sum = tl.zeros((BM, BN), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        sum = tl.dot(a.load([row * BM, step * BK]), b.load([column * BN, step * BK]).T, sum)
    c.store([row * BM, column * BN], sum.to(tl.float16))


@triton.jit
def matmul_descriptor_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                             GROUP: tl.constexpr, PROGRAMS: tl.constexpr):
    """The kernel makes the tensor descriptors. b is transposed."""
    left = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    right = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    out = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS):
        row, column = grouped(tile, tiles_m, tiles_n, GROUP)
        sum = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            sum = tl.dot(left.load([row * BM, step * BK]), right.load([column * BN, step * BK]).T, sum)
        out.store([row * BM, column * BN], sum.to(tl.float16))


def matrices(device):
    """Return two matrices that are no multiple of the tiles, the second one transposed."""
    return (random(device, 152, 160, seed=50, dtype=torch.float16),
            random(device, 136, 160, seed=51, dtype=torch.float16))


@tutorial
def matmul_persistent(device):
    a, b = matrices(device)
    c = torch.zeros((len(a), len(b)), dtype=torch.float16, device=device)
    matmul_persistent_kernel[(4,)](a, b.T.contiguous(), c, len(a), len(b), a.shape[1], BM=64, BN=64, BK=32, GROUP=8,
                                   PROGRAMS=4, num_stages=3)
    return {'a': a, 'b': b, 'c': c}


@tutorial
def matmul_tma(device):
    a, b = matrices(device)
    c = torch.zeros((len(a), len(b)), dtype=torch.float16, device=device)
    descriptors = [TensorDescriptor.from_tensor(x, block) for x, block in ((a, [64, 64]), (b, [64, 64]), (c, [64, 64]))]
    matmul_tma_kernel[(9,)](*descriptors, len(a), len(b), a.shape[1], BM=64, BN=64, BK=64, GROUP=8, num_stages=3)
    return {'a': a, 'b': b, 'c': c}


@tutorial
def matmul_descriptor(device):
    a, b = matrices(device)
    c = torch.zeros((len(a), len(b)), dtype=torch.float16, device=device)
    allocate.device = device
    triton.set_allocator(allocate)
    matmul_descriptor_kernel[(4,)](a, b, c, len(a), len(b), a.shape[1], BM=64, BN=64, BK=64, GROUP=8, PROGRAMS=4,
                                   num_stages=3)
    return {'a': a, 'b': b, 'c': c}


# ---- functions of libdevice

@triton.jit
def libdevice_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    v = tl.extra.cuda.libdevice.asin(v) + tl.extra.cuda.libdevice.erf(v) * tl.extra.cuda.libdevice.pow(2.0, v)
    tl.store(out + at, v, mask=at < n)


@tutorial
def libdevice(device):
    x = torch.linspace(-1, 1, 3001).to(device)
    out = torch.empty_like(x)
    libdevice_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
    return {'x': x, 'out': out}
