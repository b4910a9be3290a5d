#!/usr/bin/env python3
"""Measure what a launch from Python costs, with the library that PTXI_LIBRARY names.

    launches.py [WAY...]

Prints a Markdown table: the time of a launch of a kernel with four arguments on one warp, and that time as a multiple
of numpy.add of four elements. The time is CPU time: that of the process, with the threads of the library, and that of
the calling thread. Each way is measured in 40 rounds, which alternate between the ways; the median and the minimum are
given. Triton's rows need torch and triton. With the names of ways, only these are measured.
"""
import functools
import statistics
import sys
import time

import numpy as np

import ptxi

ROUNDS, ADDITIONS, LAUNCHES = 40, 2000, 200
ADD = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry add4(.param .u64 z, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .u64 %z, %x, %y, %o;
    .reg .u32 %t, %n;
    .reg .f32 %f, %g;
    .reg .pred %p;
    ld.param.u64 %z, [z];
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, %n;
    @%p ret;
    mul.wide.u32 %o, %t, 4;
    add.u64 %z, %z, %o;
    add.u64 %x, %x, %o;
    add.u64 %y, %y, %o;
    ld.global.f32 %f, [%x];
    ld.global.f32 %g, [%y];
    add.f32 %f, %f, %g;
    st.global.f32 [%z], %f;
    ret;
}
"""


def ways_of_ptxi(device):
    """Return the ways to launch a kernel of the Python package, and a function that ends their work."""
    kernel, stream = ptxi.loads(ADD)['add4'], ptxi.Stream()
    x, y, z = (np.arange(4, dtype='f4') for _ in range(3))
    buffers = [ptxi.zeros(4, 'f4') for _ in range(3)]
    shaped, streamed = kernel[1, 4], kernel[1, 4, 0, stream]
    return {
        'numpy.add': lambda: np.add(x, y, z),
        'kernel[1, 4](z, x, y, 4)': lambda: kernel[1, 4](z, x, y, 4),
        'the same, with kernel[1, 4] kept': lambda: shaped(z, x, y, 4),
        'the same, with ptxi buffers': lambda: shaped(*buffers, 4),
        'prepared': kernel.prepare(1, 4, (z, x, y, 4)),
        'into a stream': lambda: streamed(z, x, y, 4),
        'prepared, into a stream': kernel.prepare(1, 4, (z, x, y, 4), stream=stream),
    }, device.synchronize


def ways_of_triton():
    """Return the ways to launch a kernel of Triton again, or none if it is not installed."""
    try:
        import torch
        import triton
        import triton.language as tl

        import ptxi_triton
    except ImportError:
        return {}
    ptxi_triton.enable()

    def add(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

    add.__globals__['tl'] = tl
    kernel = triton.jit(add)
    launch = functools.partial(kernel[(1,)], BLOCK=32, num_warps=1)
    tensors, arrays = ([make(4) for _ in range(3)] for make in (torch.zeros, np.zeros))
    return {'Triton, torch tensors': lambda: launch(*tensors, 4), 'Triton, NumPy arrays': lambda: launch(*arrays, 4)}


def measure(call, finish, count):
    """Return the time of the process and of the thread for one call, in microseconds."""
    call()
    finish()
    process, thread = time.process_time(), time.thread_time()
    for _ in range(count):
        call()
    thread = time.thread_time() - thread
    finish()
    return (time.process_time() - process) / count * 1e6, thread / count * 1e6


def main():
    """Print the table."""
    with ptxi.Device(workers=1) as device:
        ways, finish = ways_of_ptxi(device)
        ways.update(ways_of_triton())
        chosen = {n: w for n, w in ways.items() if n == 'numpy.add' or not sys.argv[1:] or n in sys.argv[1:]}
        found = {name: [] for name in chosen}
        for _ in range(ROUNDS):
            for name, call in chosen.items():
                count = ADDITIONS if name == 'numpy.add' else LAUNCHES
                found[name].append(measure(call, finish, count))
    unit = statistics.median(process for process, _ in found['numpy.add'])
    print('| way | us, median | us, minimum | us in the calling thread, median | times numpy.add |')
    print('|---|---|---|---|---|')
    for name, times in found.items():
        process, thread = zip(*times)
        median = statistics.median(process)
        print(f'| {name} | {median:.2f} | {min(process):.2f} | {statistics.median(thread):.2f} | {median / unit:.1f} |')


if __name__ == '__main__':
    main()
