"""Measures what ptxi.scale costs: python measure.py [sweep[=BITS]] [track] [red] [merge] [schedule] [--json FILE].

sweep     an exhaustive comparison of two instructions with double precision over 2^32 operands, on one process and on
          two, each with one worker. With BITS, over 2^BITS operands: the work for each operand is the same, so this
          takes 2^(BITS - 32) of the time. The start of the processes is not counted. The rate is printed, and a
          ratio of CPU times for busy machines: all of one process, and the most of a process if there are two.
track     a launch with and without tracking, on each tier, in CPU time
red       the same for sums of floats by `red`, each of which is logged, and the merge that repeats them
merge     taking and merging the changes of windows, compared with the CPU time of their launch
schedule  tasks in a second that one process can give out and collect, and what that means for many workers

The default is all but the sweep. PTXI_TIER selects the tier of sweep, red and merge.
"""
import argparse
import concurrent.futures
import ctypes
import json
import multiprocessing
import os
import statistics
import time

import numpy as np

import ptxi
import ptxi.scale
from ptxi.scale import _launch

SWEEP = '''
.version 7.0
.target sm_80
.address_size 64
// Adds the number of operands in first ... first + 16384 * blocks - 1 for which sqrt.rn.f32, or 1 / x, differs from the
// result of double precision, rounded to single precision; for 1 / x without subnormal results, which would be rounded
// twice.
.visible .entry compare(.param .u32 first, .param .u64 count)
{
    .reg .b32 %t, %i, %n, %k; .reg .f32 %x, %y, %z; .reg .f64 %d, %e; .reg .b64 %p; .reg .pred %q, %r, %s;
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 16384, %t;
    ld.param.u32 %n, [first]; add.u32 %i, %i, %n; mov.u32 %n, 0; mov.u32 %k, 0;
again:
    mov.b32 %x, %i; cvt.f64.f32 %d, %x;
    sqrt.rn.f32 %y, %x; sqrt.rn.f64 %e, %d; cvt.rn.f32.f64 %z, %e;
    setp.neu.f32 %q, %y, %z; setp.num.and.f32 %r, %y, %y, %q;
    selp.u32 %t, 1, 0, %r; add.u32 %n, %n, %t;
    rcp.rn.f32 %y, %x; rcp.rn.f64 %e, %d; cvt.rn.f32.f64 %z, %e;
    setp.neu.f32 %q, %y, %z; setp.num.and.f32 %r, %y, %y, %q; abs.f32 %y, %y;
    setp.ge.and.f32 %r, %y, 0f00800000, %r;
    selp.u32 %t, 1, 0, %r; add.u32 %n, %n, %t;
    add.u32 %i, %i, 256; add.u32 %k, %k, 1; setp.lt.u32 %s, %k, 64; @%s bra again;
    setp.eq.u32 %q, %n, 0; @%q ret;
    ld.param.u64 %p, [count]; red.global.add.u32 [%p], %n;
    ret;
}
'''
RED = '''
.version 7.0
.target sm_80
.address_size 64
// sums[i % 1024] += i, as floats
.visible .entry add(.param .u64 sums)
{
    .reg .b32 %t, %i; .reg .b64 %p; .reg .f32 %f;
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, %t; cvt.rn.f32.u32 %f, %i;
    and.b32 %t, %i, 1023; ld.param.u64 %p, [sums]; mad.wide.u32 %p, %t, 4, %p; red.global.add.f32 [%p], %f;
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
    .reg .b32 %t, %b, %i, %v, %w, %k; .reg .b64 %d, %p; .reg .pred %q;
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %i, %b, 256, %t;
    ld.param.u64 %d, [data]; mad.wide.u32 %p, %i, 4, %d;
    mov.u32 %k, 0;
again:
    ld.global.u32 %v, [%p]; mad.lo.u32 %w, %v, 5, %i; st.global.u32 [%p], %w;
    add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 16; @%q bra again;
    ret;
}
'''


figures = {}  # for --json

OPERANDS = 16  # a part has 2^16 operands


def compare(part):
    """Compare the operands with the bits of a range."""
    device = _launch._device('sm_80', 1)
    if not hasattr(compare, 'kernel'):
        compare.kernel = ptxi.loads(SWEEP, device=device).compare
    count = np.zeros(1, 'u4')
    compare.kernel[(len(part) << OPERANDS) // 16384, 256](part.start << OPERANDS, count)
    return int(count[0])


def warm_up(_):
    """Start ptxi, and leave the next task to another process."""
    compare(range(1))
    time.sleep(1)


def spent_here(_):
    """Return a process, and the CPU time that it has used. Leave the next task to another one."""
    time.sleep(1)
    return os.getpid(), time.process_time()


def spent(pool, processes):
    """Return the CPU time of each process of a pool, and that of this one."""
    return {**dict(pool.map(spent_here, range(processes))), 'this': time.process_time()}


def add(a, b):
    """Combine two counts."""
    return a + b


def sweep(bits=32):
    """One process and two, five times each, alternating."""
    seconds, most = {1: [], 2: []}, {1: [], 2: []}
    for _ in range(5):
        for n, found in seconds.items():
            with concurrent.futures.ProcessPoolExecutor(
                    n, mp_context=multiprocessing.get_context('spawn')) as pool:
                list(pool.map(warm_up, range(n)))
                before = spent(pool, n)
                start = time.monotonic()
                wrong = ptxi.scale.sweep(compare, range(1 << (bits - OPERANDS)), executor=pool, chunk=1, reduce=add)
                found.append(time.monotonic() - start)
                after = spent(pool, n)
                assert wrong == 0 and len(after) == n + 1
                most[n].append(max(after[k] - before[k] for k in after))
                print(f'{n} processes: {found[-1]:.1f} s, at most {most[n][-1]:.1f} s of CPU time', flush=True)
    one, two = (statistics.median(s) for s in seconds.values())
    cpu = statistics.median(most[1]) / statistics.median(most[2])
    figures[f'sweep of 2^{bits}'] = {'one': seconds[1], 'two': seconds[2], 'ratio': one / two, 'cpu_ratio': cpu}
    print(f'sweep of 2^{bits} operands: one process {one:.1f} s ({2**bits / one / 1e6:.0f} million a second), two '
          f'{two:.1f} s, ratio {one / two:.2f}, of CPU time {cpu:.2f}')


def time_tracking(device, launch, what):
    """Return the CPU time of a launch with a new tracker. 0: without."""
    ptxi._library.call('CtxSetTracking', device._context, what)
    start = time.process_time()
    launch()
    return time.process_time() - start


def track():
    """CPU time of a launch that stores as often as it computes. Each launch has a new tracker, as a window has."""
    for number, tier in ((1, 'interpreter'), (2, 'native')):
        with ptxi.Device('sm_80', 1) as device:
            ptxi._library.call('CtxSetTier', device._context, number)
            kernel, x = ptxi.loads(STREAM).stream, np.zeros(1 << 22, 'u4')
            found = {0: [], 1: [], 3: []}
            for _ in range(7):
                time_tracking(device, lambda: kernel[x.size // 256, 256](x), 0)
                for what, times in found.items():
                    times.append(time_tracking(device, lambda: kernel[x.size // 256, 256](x), what))
            plain, writes, reads = (statistics.median(t) for t in found.values())
            figures[f'tracking, {tier}'] = {'plain': plain, 'changes': writes / plain, 'reads': reads / plain}
            print(f'tracking, {tier}: plain {plain:.3f} s, changes {writes / plain:.2f} times, '
                  f'with reads {reads / plain:.2f} times', flush=True)
            ptxi._library.call('CtxSetTracking', device._context, 0)


def collect_windows(kernel, grid, arrays, windows):
    """Run windows of a launch. Return their changes."""
    keep, merge_ = {}, _launch._merge
    try:
        _launch._merge = lambda arrays, data: keep.update(parts=data)
        ptxi.scale.launch(kernel, grid, 256, arrays, windows=windows)
    finally:
        _launch._merge = merge_
    return keep['parts']


def take_seconds(device, launch, x):
    """Return the CPU time of taking the changes of a launch."""
    ptxi._library.call('CtxSetTracking', device._context, 1)
    launch()
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    start = time.process_time()
    ptxi._library.call('CtxTakeChanges', device._context, _launch._ranges([x]), 1, ctypes.byref(data),
                       ctypes.byref(size))
    spent = time.process_time() - start
    ptxi._library.library().Free(data)
    ptxi._library.call('CtxSetTracking', device._context, 0)
    return spent


def red():
    """A launch of four million sums of floats, with and without tracking; its log, and the merge."""
    count = 1 << 22
    with ptxi.Device('sm_80', 1) as device:
        kernel, x = ptxi.loads(RED).add, np.zeros(1024, 'f4')
        found = {0: [], 1: []}
        for _ in range(5):
            for what, times in found.items():
                times.append(time_tracking(device, lambda: kernel[count // 256, 256](x), what))
        plain, logged = (statistics.median(t) for t in found.values())
        take = take_seconds(device, lambda: kernel[count // 256, 256](x), x)
        parts = collect_windows(kernel, count // 256, (x,), 7)
        start = time.process_time()
        _launch._merge([x], parts)
        spent = time.process_time() - start
        size = sum(map(len, parts)) / count
        figures['red'] = {'plain': plain, 'logged': logged / plain, 'take': take, 'merge': spent, 'bytes': size}
        print(f'red.add.f32: {plain / count * 1e9:.1f} ns an operation, logged {logged / plain:.2f} times, '
              f'{size:.0f} bytes; taken in {take / count * 1e9:.1f} ns, repeated by the merge of 7 windows in '
              f'{spent / count * 1e9:.1f} ns')


def merge():
    """Take and merge the windows of launches that together take a second."""
    x = np.zeros(1 << 22, 'u4')
    with ptxi.Device('sm_80', 1) as device:
        module = ptxi.loads(STREAM)
        start = time.process_time()
        while time.process_time() - start < 1:
            module.stream[x.size // 256, 256](x)
        launch = time.process_time() - start
        take = take_seconds(device, lambda: module.stream[x.size // 256, 256](x), x)
        print(f'taking {x.nbytes >> 20} MiB of changes: {take * 1e3:.1f} ms, {take / launch:.1%} of a launch of '
              f'{launch:.1f} s')
        figures['merge'] = {'launch': launch, 'take': take, 'windows': {}}
        for windows in (1, 7, 64, 512, 4096):
            parts = collect_windows(module.stream, x.size // 256, (x,), windows)
            start = time.process_time()
            _launch._merge([x], parts)
            spent = time.process_time() - start
            figures['merge']['windows'][windows] = spent
            print(f'merge of {windows} windows, {sum(map(len, parts)) >> 20} MiB: {spent * 1e3:.1f} ms, '
                  f'{spent / launch:.1%} of a launch of {launch:.1f} s', flush=True)


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
    figures['schedule'] = {}
    for workers in (16, 64, 256, 1024, 4096):
        count = 4 * workers
        start = time.process_time()
        ptxi.scale.sweep(add, range(count), executor=Instant(workers), size=1, reduce=add)
        each = (time.process_time() - start) / count
        figures['schedule'][workers] = each
        print(f'{workers} workers: {each * 1e6:.0f} us a task; chunks of 10 s keep {10 / each:.0f} workers busy')


def main():
    """Measure what the arguments name."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('names', nargs='*', default=['track', 'red', 'merge', 'schedule'])
    p.add_argument('--json', metavar='FILE', help='add the figures to a file')
    args = p.parse_args()
    for name in args.names:
        name, _, number = name.partition('=')
        {'sweep': sweep, 'track': track, 'red': red, 'merge': merge, 'schedule': schedule}[name](
            *map(int, filter(None, [number])))
    if args.json:
        known = {}
        if os.path.exists(args.json):
            with open(args.json, encoding='utf-8') as f:
                known = json.load(f)
        with open(args.json, 'w', encoding='utf-8') as f:
            json.dump({**known, **figures}, f, indent=1)


if __name__ == '__main__':
    assert ctypes.sizeof(ctypes.c_void_p) == 8
    main()
