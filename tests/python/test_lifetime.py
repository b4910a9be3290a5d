"""Tests of the objects that work holds while it runs, and of dropped objects.

Programs that might crash run in their own process.
"""
import array
import copy
import gc
import mmap
import pickle
import threading

import numpy as np
import pytest
from ends import prints

LINE = """
.version 8.6
.target sm_90
.address_size 64
// waits until *gate is not 0, then writes n bytes
.visible .entry fill(.param .u64 p, .param .u32 n, .param .u64 gate) {
  .reg .b64 %d, %e, %g; .reg .b32 %n, %i, %v; .reg .pred %q;
  ld.param.u64 %d, [p]; ld.param.u32 %n, [n]; ld.param.u64 %g, [gate]; mov.u32 %i, 0;
W: ld.volatile.global.u32 %v, [%g]; setp.eq.u32 %q, %v, 0; @%q bra W;
L: setp.ge.u32 %q, %i, %n; @%q ret; cvt.u64.u32 %e, %i; add.u64 %e, %d, %e;
  st.global.u8 [%e], 0x41; add.u32 %i, %i, 1; bra L; }
.visible .global .align 4 .u32 counter;
.visible .entry bump() { .reg .b32 %r; atom.global.add.u32 %r, [counter], 1; ret; }
"""


class Running:
    """A launch that runs until end(), while the test changes the memory that it uses."""

    def __init__(self, ptxi, memory, size=4096):
        self.gate = ptxi.zeros(1, 'u4')
        self.stream = ptxi.Stream()
        self.mod = ptxi.loads(LINE)
        self.mod.fill[1, 1, 0, self.stream](memory, size, self.gate)

    def end(self):
        self.gate.array[0] = 1
        self.stream.synchronize()


@pytest.mark.parametrize('make, grow', [
    (lambda: bytearray(4096), lambda b: b.extend(bytes(1 << 20))),
    (lambda: bytearray(4096), lambda b: b.clear()),
    (lambda: array.array('B', bytes(4096)), lambda b: b.extend(bytes(1 << 20))),
])
def test_a_buffer_in_use_does_not_move(ptxi, make, grow):
    b = make()
    running = Running(ptxi, b)
    with pytest.raises(BufferError):
        grow(b)
    running.end()
    assert bytes(b) == b'A' * 4096
    grow(b)


def views(a):
    return {'itself': a, 'a view': a[:], 'a view of a view': a[0:4096].view('i1')[:]}


@pytest.mark.parametrize('which', views(np.zeros(1)))
def test_a_numpy_array_in_use_does_not_move(ptxi, which):
    a = np.zeros(4096, 'u1')
    running = Running(ptxi, views(a)[which])
    with pytest.raises(ValueError):
        a.resize(1 << 20, refcheck=False)
    running.end()
    assert (a == 0x41).all()
    gc.collect()
    a.resize(1 << 20, refcheck=False)


def test_an_array_over_a_buffer_holds_it(ptxi):
    """numpy.ndarray(buffer=...) itself holds no export of the buffer."""
    b = bytearray(4096)
    running = Running(ptxi, np.ndarray(4096, 'u1', buffer=b))
    with pytest.raises(BufferError):
        b.extend(b'x')
    running.end()
    assert b == b'A' * 4096
    b.extend(b'x')


def test_a_map_in_use_is_not_closed(ptxi):
    m = mmap.mmap(-1, 4096)
    running = Running(ptxi, np.ndarray(4096, 'u1', buffer=m))
    with pytest.raises(BufferError):
        m.close()
    running.end()
    assert m[:] == b'A' * 4096
    m.close()


def test_a_released_memoryview_is_still_held(ptxi):
    b = bytearray(4096)
    view = memoryview(b)
    running = Running(ptxi, view)
    view.release()
    with pytest.raises(BufferError):
        b.extend(b'x')
    running.end()
    assert b == b'A' * 4096


def test_a_buffer_freed_while_work_uses_it(ptxi):
    b = ptxi.zeros(4096)
    shown = b.array
    running = Running(ptxi, b)
    opener = threading.Timer(0.05, running.gate.array.__setitem__, (0, 1))
    opener.start()
    b.free()
    assert (shown == 0x41).all()
    opener.join()
    with pytest.raises(ValueError, match='freed'):
        b.array
    other = ptxi.zeros(4096)
    assert (shown == 0x41).all() and not other.array.any()


def test_a_dropped_buffer_does_not_wait():
    """Other dropped objects do not wait either, and the interpreter can still end."""
    assert prints("""
s = ptxi.Stream(blocking=False)
mod.forever[1, 1, 0, s]()
text = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.entry k() { ret; }'
things = [ptxi.zeros(4), ptxi.Event().record(s), ptxi.loads(text), ptxi.Stream(), s]
del s
while things:
    things.pop()
gc.collect()
print('dropped')
""") == 'dropped\n'


def test_arrays_outlive_the_device():
    assert prints("""
d = ptxi.Device()
b = ptxi.copy(np.arange(1 << 20), d)
shown, taken = b.array, np.from_dlpack(b)
text = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .global .align 4 .u32 v[4] = {1, 2, 3, 4};'
mod = ptxi.loads(text, device=d)
v = mod.variable('v', 'u4')
d.close()
junk = [ptxi.zeros(1 << 20) for _ in range(8)]
print((shown == np.arange(1 << 20)).all(), (taken == shown).all(), v, d)
print(len(ptxi._lifetime._cores))
del shown, taken, v
print(len(ptxi._lifetime._cores))
""") == 'True True [1 2 3 4] <ptxi.Device sm_90, closed>\n2\n1\n'


def test_a_dropped_stream_holds_what_its_work_uses(ptxi):
    a = np.zeros(4096, 'u1')
    running = Running(ptxi, a)
    del running.stream
    gc.collect()
    with pytest.raises(ValueError):
        a.resize(1 << 20, refcheck=False)
    running.gate.array[0] = 1
    ptxi.current().synchronize()
    assert (a == 0x41).all()
    a.resize(1 << 20, refcheck=False)


def test_a_dropped_stream_is_freed_without_a_wait_for_the_device(ptxi):
    core, mod, other = ptxi.current()._core, ptxi.loads(LINE), ptxi.Stream()
    for _ in range(200):
        mod.bump[1, 1, 0, ptxi.Stream()]()
        mod.bump[1, 1, 0, other]()
        other.synchronize()
    assert len(core.queues) < 100


def test_unsynchronised_launches_do_not_gather(ptxi):
    mod, stream = ptxi.loads(LINE), ptxi.Stream()
    for _ in range(5000):
        mod.bump[1, 1, 0, stream]()
    while not stream.done():
        pass
    assert not stream.queue._pending
    for _ in range(50):
        for _ in range(100):
            mod.bump[1, 1, 0, stream]()
        event = ptxi.Event().record(stream)
        event.synchronize()
        assert not stream.queue._pending
    assert mod.variable('counter', 'u4')[0] == 10000


def test_a_wait_that_was_not_one_releases_nothing(ptxi):
    """An array of a capture stays with the graph, even if a call fails that would wait for it."""
    mod, stream, a = ptxi.loads(LINE), ptxi.Stream(), np.zeros(64, 'u1')
    running = Running(ptxi, a)
    with pytest.raises(ptxi.Error, match='CAPTURE_INVALIDATED'):
        with running.stream.capture():
            with pytest.raises(ptxi.Error, match='CAPTURE'):
                running.stream.synchronize()
            with pytest.raises(ValueError):
                a.resize(1 << 20, refcheck=False)
    running.gate.array[0] = 1
    with pytest.raises(ptxi.LaunchError):  # the kernel writes 4096 bytes to an array of 64
        running.stream.synchronize()
    del mod, stream


def test_a_capture_of_two_streams_holds_what_both_were_given(ptxi):
    mod, gate = ptxi.loads(LINE), ptxi.copy(np.ones(1, 'u4'))
    a, b = np.zeros(64, 'u1'), np.zeros(64, 'u1')
    with ptxi.Stream() as s, ptxi.Stream() as t:
        with s.capture() as graph:
            t.wait_event(ptxi.Event().record(s))
            mod.fill[1, 1, 0, t](b, 64, gate)
            s.wait_event(ptxi.Event().record(t))
            mod.fill[1, 1, 0, s](a, 64, gate)
        t.synchronize()
        del gate
        gc.collect()
        graph.launch()
    assert (a == 0x41).all() and (b == 0x41).all()
    for x in a, b:
        with pytest.raises(ValueError):
            x.resize(128, refcheck=False)
    graph.close()
    a.resize(128, refcheck=False)


CALLS = """
calls = ptxi.loads('''.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) f(.param .b32 a);
.visible .entry call(.param .u64 p) {
  .reg .b32 %r; .reg .b64 %d; .param .b32 a, r; st.param.b32 [a], 7; call (r), f, (a);
  ld.param.b32 %r, [r]; ld.param.u64 %d, [p]; st.global.u32 [%d], %r; ret; }''')
"""


def test_what_a_host_function_drops_is_freed():
    assert prints(CALLS + """
def left():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    ptxi.current().activate()
    ptxi._library.library().MemGetInfo(ctypes.byref(free), ctypes.byref(total))
    return free.value
before = left()
kept = [ptxi.zeros(1 << 20) for _ in range(50)]
others = [ptxi.Device(workers=1) for _ in range(3)]
with ptxi.Stream() as s, s.capture() as graph:
    mod.count[1, 1, 0, s](x)
def drop(_):
    global graph
    graph = None
    for things in kept, others:
        if things:
            things.pop()
    gc.collect()
    return 1
calls.bind('f', drop, ctypes.c_int, ctypes.c_int)
calls.call[2, 32](np.zeros(1, 'i4'))
print(len(kept), before - left(), ptxi._ranges.left())
mod.count[1, 1](x)
ptxi.Device()
print(len(ptxi._lifetime._cores), ptxi._ranges.left())
""") == '0 0 []\n1 []\n'


def test_calls_that_a_host_function_must_not_make_are_errors():
    assert prints(CALLS + """
other, b, seen = ptxi.Device(workers=1), ptxi.zeros(4), []
def call(_):
    for f in (ptxi.current().close, ptxi.current().synchronize, other.close, b.free, ptxi.Device, ptxi.Stream,
              lambda: calls.call[1, 1](x), lambda: calls.bind('f', None)):
        try:
            f()
            seen.append('no error')
        except ptxi.Error as e:
            seen.append(e.result.name)
    return 1
calls.bind('f', call, ctypes.c_int, ctypes.c_int)
y = np.zeros(1, 'i4')
calls.call[1, 1](y)
print(set(seen), len(seen), y, ptxi.current(), other)
""") == "{'ERROR_NOT_PERMITTED'} 8 [1] <ptxi.Device sm_90> <ptxi.Device sm_90>\n"


def test_a_bound_function_lives_while_launches_may_call_it():
    assert prints(CALLS + """
out, stream, gone = np.zeros(64, 'i4'), ptxi.Stream(), []
class Function:
    def __init__(self, n): self.n = n
    def __call__(self, x): return self.n
    def __del__(self): gone.append(self.n)
for n in range(64):
    calls.bind('f', Function(n), ctypes.c_int, ctypes.c_int)
    calls.call[1, 1, 0, stream](out[n:])
stream.synchronize()
gc.collect()
print((out == np.arange(64)).all(), sorted(gone) == list(range(63)))
for bad in lambda: calls.bind('g', print), lambda: calls.bind('f', print, ctypes.c_int, ctypes.c_double):
    try:
        bad()
    except (KeyError, ptxi.ModuleError):
        pass
calls.call[1, 1](out)
del calls
gc.collect()
ptxi.zeros(1)
print(out[0], len(gone))
""") == 'True True\n63 64\n'


def test_an_interrupt_in_a_host_function_is_raised():
    """The interrupt is raised regardless of the thread that runs the function."""
    assert prints("""
again = ptxi.loads('.version 8.0\\n.target sm_90\\n.address_size 64\\n.extern .func f();\\n'
                   '.visible .entry again() { L: call f; bra L; }')
again.bind('f', lambda: sum(range(100)))
press()
try:
    again.again[1, 1]()
except KeyboardInterrupt:
    print('interrupted')
""") == 'interrupted\n'


def test_an_interrupt_at_the_entry_of_a_host_function_is_raised():
    """Python discards it there, because no statement of the callback has run yet."""
    assert prints("""
main = ptxi.loads('''.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) raise(.param .b32 s);
.extern .func f();
.visible .entry main() {
  { .param .b32 r; .param .b32 s; st.param.b32 [s], 2; call (r), raise, (s); }
L: call f; bra L; }''')
main.bind('f', lambda: None)
core, libc = main.device._core, ctypes.CDLL(None)
assert not core.run(core.waited, 'ModuleBindHostFunction', main._handle, b'raise', libc['raise'], b'int(int)')
for _ in range(3):
    try:
        main.main[1, 1]()
    except KeyboardInterrupt:
        print('interrupted')
""") == 'interrupted\n' * 3


def owners(ptxi):
    stream, mod = ptxi.Stream(), ptxi.loads(LINE)
    with stream.capture() as graph:
        mod.bump[1, 1, 0, stream]()
    return {'Device': ptxi.current(), 'Buffer': ptxi.zeros(4), 'Stream': stream, 'Event': ptxi.Event(), 'Graph': graph,
            'Module': mod, 'Kernel': mod.bump, 'Handle': stream.handle}


@pytest.mark.parametrize('copied', [copy.copy, copy.deepcopy, pickle.dumps, lambda x: copy.deepcopy([x]),
                                    lambda x: pickle.dumps([x], 2)])
def test_owners_are_not_copied(ptxi, copied):
    for name, x in owners(ptxi).items():
        with pytest.raises(TypeError, match=f'{name} of ptxi owns'):
            copied(x)


ROUNDS = {
    'Stream': 'ptxi.Stream()',
    'Stream with work': 's = ptxi.Stream(); mod.count[1, 1, 0, s](x); s.synchronize()',
    'Stream dropped with work': 'mod.count[1, 1, 0, ptxi.Stream()](np.zeros(1, "u4"))',
    'Stream closed': 's = ptxi.Stream(); mod.count[1, 1, 0, s](x); s.close()',
    'Event': 'ptxi.Event().record().synchronize()',
    'Buffer': 'ptxi.zeros(1 << 16)',
    'Buffer freed': 'ptxi.zeros(1 << 16).free()',
    'Buffer shown': 'np.asarray(ptxi.zeros(1 << 16))[:4].sum()',
    'Buffer taken': 'np.from_dlpack(ptxi.zeros(1 << 16)); ptxi.zeros(4).__dlpack__()',
    'Graph': 's = stream.capture(); g = s.__enter__(); mod.count[1, 1, 0, stream](x); '
             's.__exit__(None, None, None); g.launch(); del g',
    'Module': "ptxi.loads('.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k() { ret; }').k[1, 1]()",
    'Device': "ptxi.loads('.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k() { ret; }', "
              'device=ptxi.Device(workers=1)).k[1, 1]()',
    'Device closed': 'ptxi.Device(workers=1).close()',
    'launch': 'mod.count[1, 1](x); mod.count[1, 1](bytearray(4))',
    'launch that fails': 'try: mod.count[1, 1](0)\n        except ptxi.LaunchError: pass',
    'asm': "add(1, 2); ptxi.asm('add.u32 %0, %1, 1;', '=r', 'r', device=ptxi.current())(3)",
    'bind': "calls.bind('f', lambda x: 1, ctypes.c_int, ctypes.c_int); calls.call[1, 1](x)",
    'threads': 't = threading.Thread(target=lambda: mod.count[1, 1](np.zeros(1, "u4"))); t.start(); t.join()',
}


@pytest.mark.parametrize('what', ROUNDS)
def test_a_round_leaves_nothing(what):
    rounds = 200 if 'Device' in what or what in ('threads', 'Module') else 1000
    assert prints(CALLS + f"""
import tracemalloc
stream, add = ptxi.Stream(), ptxi.asm('add.u32 %0, %1, %2;', '=r', 'r', 'r')
def work(n):
    for _ in range(n):
        {ROUNDS[what]}
    stream.synchronize()
    ptxi.current().synchronize()
    ptxi.zeros(1)
    gc.collect()
work(100)
tracemalloc.start()
work(20)
before = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
work({rounds})
after = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
left = after[0] - before[0]
print(left < 32768 + 4 * {rounds} or left, after[1] - before[1] < {rounds} // 10 or after[1] - before[1],
      len(ptxi._lifetime._cores), ptxi._ranges.left())
""") == 'True True 1 []\n'
