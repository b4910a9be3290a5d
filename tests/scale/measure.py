"""Measures what ptxi.scale costs: python measure.py [sweep] [track] [merge] [schedule]; default: all but the sweep.

sweep     an exhaustive comparison of two kernels over 2^32 operands, on one process and on two, each with one worker
track     a launch with and without tracking, in CPU time
merge     merging the changes of windows, compared with the CPU time of their launch
schedule  tasks in a second that one process can give out and collect, and what that means for many workers
"""
import concurrent.futures
import ctypes
import multiprocessing
import statistics
import sys
import time

import numpy as np

import ptxi
import ptxi.scale
from ptxi.scale import _launch

SWEEP = '''
.version 7.0
.target sm_80
.address_size 64
// Adds the number of operands in first ... first + 256 * blocks for which 1 / x and rcp.rn(x) differ.
.visible .entry compare(.param .u32 first, .param .u64 count)
{
    .reg .b32 %t, %i, %n; .reg .f32 %x, %y, %z; .reg .b64 %p; .reg .pred %q, %r;
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, %t;
    ld.param.u32 %n, [first]; add.u32 %i, %i, %n; mov.b32 %x, %i;
    rcp.rn.f32 %y, %x; mov.f32 %z, 0f3F800000; div.rn.f32 %z, %z, %x;
    setp.neu.f32 %q, %y, %z; setp.num.and.f32 %r, %x, %x, %q;
    @!%r ret;
    ld.param.u64 %p, [count]; red.global.add.u32 [%p], 1;
    ret;
}
'''
STREAM = '''
.version 7.0
.target sm_80
.address_size 64
// data[i] = data[i] * 5 + i, sixteen times
.visible .entry stream(.param .u64 data)
{
    .reg .b32 %t, %i, %v, %k; .reg .b64 %p; .reg .pred %q;
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, %t;
    ld.param.u64 %p, [data]; mad.wide.u32 %p, %i, 4, %p;
    mov.u32 %k, 0;
again:
    ld.global.u32 %v, [%p]; mad.lo.u32 %v, %v, 5, %i; st.global.u32 [%p], %v;
    add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 16; @%q bra again;
    ret;
}
'''


def compare(part):
    """Compare the operands with the bits of a range."""
    device = _launch._device('sm_80', 1)
    if not hasattr(compare, 'kernel'):
        compare.kernel = ptxi.loads(SWEEP, device=device).compare
    count = np.zeros(1, 'u4')
    compare.kernel[len(part) * (1 << 16) // 256, 256](part.start << 16, count)
    return int(count[0])


def add(a, b):
    """Combine two counts."""
    return a + b


def sweep():
    """One process and two, five times each, alternating. Says first how long that takes."""
    seconds = {1: [], 2: []}
    compare(range(1))
    start = time.monotonic()
    compare(range(0x3f00, 0x3f10))
    each = (time.monotonic() - start) * (1 << 16) / 16
    print(f'the sweep will take about {each * 7.5 / 60:.0f} minutes on two idle cores', flush=True)
    for _ in range(5):
        for n, found in seconds.items():
            with concurrent.futures.ProcessPoolExecutor(
                    n, mp_context=multiprocessing.get_context('spawn')) as pool:
                list(pool.map(compare, [range(1)] * n))
                start = time.monotonic()
                wrong = ptxi.scale.sweep(compare, range(1 << 16), executor=pool, reduce=add)
                found.append(time.monotonic() - start)
                assert wrong == 0
                print(f'{n} processes: {found[-1]:.1f} s', flush=True)
    one, two = (statistics.median(s) for s in seconds.values())
    print(f'sweep of 2^32 operands: one process {one:.1f} s, two {two:.1f} s, ratio {one / two:.2f}')


def track():
    """CPU time of a launch that stores as often as it computes."""
    with ptxi.Device('sm_80', 1) as device:
        kernel, x = ptxi.loads(STREAM).stream, np.zeros(1 << 22, 'u4')
        found = {0: [], 1: [], 3: []}
        for _ in range(7):
            for what, times in found.items():
                ptxi._library.call('CtxSetTracking', device._context, what)
                kernel[x.size // 256, 256](x)
                start = time.process_time()
                kernel[x.size // 256, 256](x)
                times.append(time.process_time() - start)
        plain, writes, reads = (statistics.median(t) for t in found.values())
        print(f'tracking: plain {plain:.3f} s, changes {writes / plain:.2f} times, '
              f'with reads {reads / plain:.2f} times')
        ptxi._library.call('CtxSetTracking', device._context, 0)


def merge():
    """Merge the windows of a launch of about a second."""
    x = np.zeros(1 << 22, 'u4')
    with ptxi.Device('sm_80', 1):
        module = ptxi.loads(STREAM)
        start = time.process_time()
        passes = 0
        while time.process_time() - start < 1:
            module.stream[x.size // 256, 256](x)
            passes += 1
        launch = time.process_time() - start
        for windows in (1, 2, 7, 64, 1024):
            parts = []
            keep, merge_ = {}, _launch._merge
            try:
                _launch._merge = lambda arrays, data: keep.update(parts=data)
                ptxi.scale.launch(module.stream, x.size // 256, 256, (x,), windows=windows)
            finally:
                _launch._merge = merge_
            parts = keep['parts']
            start = time.process_time()
            merge_([x], parts)
            spent = time.process_time() - start
            print(f'merge of {windows} windows, {sum(map(len, parts)) >> 20} MiB: {spent * 1e3:.1f} ms, '
                  f'{spent / launch:.1%} of a launch of {launch:.1f} s')


class Instant(concurrent.futures.Executor):
    """An executor of many workers. Tasks take no time, so the cost of ptxi.scale itself is seen."""

    def __init__(self, workers):
        self._max_workers = workers

    def submit(self, fn, /, *args, **kwargs):
        """Return a future that is done."""
        future = concurrent.futures.Future()
        future.set_result((0.0, 0))
        return future


def schedule():
    """Tasks in a second, and the workers that this keeps busy with chunks of ten seconds."""
    for workers in (16, 256, 4096):
        count = 4 * workers
        start = time.process_time()
        ptxi.scale.sweep(add, range(count), executor=Instant(workers), size=1, reduce=add)
        each = (time.process_time() - start) / count
        print(f'{workers} workers: {each * 1e6:.0f} us a task; chunks of 10 s keep {10 / each:.0f} workers busy')


if __name__ == '__main__':
    assert ctypes.sizeof(ctypes.c_void_p) == 8
    for name in sys.argv[1:] or ('track', 'merge', 'schedule'):
        {'sweep': sweep, 'track': track, 'merge': merge, 'schedule': schedule}[name]()
