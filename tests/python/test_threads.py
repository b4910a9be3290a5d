"""Tests of concurrent calls from several threads, and of closing objects that other threads use.

Each program runs in its own process, because a bug here may crash it or make it hang. PTXI_THREAD_ROUNDS multiplies
the number of rounds.
"""
import os

import pytest
from ends import prints, run

MORE = int(os.environ.get('PTXI_THREAD_ROUNDS', '1'))

TOOLS = f"MORE = {MORE}\n" + """
CLOSED = ('the device is closed', 'the stream is closed', 'the buffer has been freed',
          'the graph is closed, or its capture has not been completed')
wrong, done = [], []

def run(*functions, ignored=CLOSED):
    '''Start each function in its own thread. Add an exception to `wrong`, unless its message is ignored.'''
    def one(f):
        try:
            f()
        except Exception as e:
            if not str(e).startswith(ignored):
                import traceback
                wrong.append(traceback.format_exc())
        done.append(f)
    threads = [threading.Thread(target=one, args=[f]) for f in functions]
    for t in threads:
        t.start()
    return threads

def join(threads):
    for t in threads:
        t.join()

def repeat(n, f):
    def loop():
        for _ in range(n):
            f()
    return loop

def tell():
    print('wrong:', len(wrong), *wrong[:2])
"""
SIMPLE = r"""
ONE = '''.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) f(.param .b32 a);
.visible .entry one(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }
.visible .entry call(.param .u64 p) {
  .reg .b32 %r; .reg .b64 %d; .param .b32 a, r; st.param.b32 [a], 7; call (r), f, (a);
  ld.param.b32 %r, [r]; ld.param.u64 %d, [p]; st.global.u32 [%d], %r; ret; }
.visible .entry spin(.param .u64 p) { .reg .b32 %i; .reg .pred %q; .reg .b64 %d; mov.u32 %i, 0;
L: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 20000; @%q bra L; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }'''
"""


def test_waits_of_other_threads_release_nothing_that_runs():
    assert prints(TOOLS + SIMPLE + """
m, s, more = ptxi.loads(ONE), ptxi.Stream(), [True]
def wait():
    while more:
        s.synchronize()
        s.done()
        ptxi.Event().record(s).synchronize()
def launch():
    for _ in range(400 * MORE):
        m.spin[1, 1, 0, s](np.zeros(4096, 'u4'))
    more.clear()
join(run(wait, wait, launch))
s.synchronize()
tell()
print(ptxi._ranges.left())
""") == 'wrong: 0\n[]\n'


@pytest.mark.parametrize('how', [
    'm.one[1, 1](x)', 'm.spin[1, 1, 0, s](np.zeros(4, "u4"))', 's.synchronize()',
    'ptxi.zeros(64, "u4", d).array[:] = 1', 'ptxi.loads(ONE, device=d)', 'ptxi.Event(d).record(s).done()',
    'b.array[:] = 1', 'm.one[1, 1](b)', 'd.synchronize()', 'add(1, 2)',
    "m.bind('f', lambda x: x, ctypes.c_int, ctypes.c_int); m.call[1, 1](np.zeros(1, 'i4'))",
    'g.launch()', 'g.launch(s)', 'd.close()', 'ptxi.Stream(d); ptxi.zeros(4, device=d).free()'])
def test_a_device_is_closed_while_others_call(how):
    assert prints(TOOLS + SIMPLE + f"""
for _ in range(15 * MORE):
    d = ptxi.Device(workers=2)
    m, s, b, x = ptxi.loads(ONE, device=d), ptxi.Stream(d), ptxi.zeros(4, 'u4', d), np.zeros(4, 'u4')
    add = ptxi.asm('add.u32 %0, %1, %2;', '=r', 'r', 'r', device=d)
    with s.capture() as g:
        m.one[1, 1, 0, s](x)
    def call():
        {how}
    threads = run(*[repeat(50, call)] * 3)
    time.sleep(0.003)
    d.close()
    try:
        call()
    except ValueError as e:
        assert str(e) in CLOSED, e
    join(threads)
del g
ptxi.zeros(1)
tell()
print(len(ptxi._lifetime._cores), ptxi._ranges.left())
""") == 'wrong: 0\n1 []\n'


@pytest.mark.parametrize('how, end', [
    ('m.one[1, 1, 0, s](x)', 's.close()'), ('s.synchronize()', 's.close()'), ('ptxi.Event().record(s)', 's.close()'),
    ('m.one[1, 1](b)', 'b.free()'), ('b.array[:] = 1', 'b.free()'), ('g.launch()', 'g.close()'),
    ('g.launch(t)', 'g.close()')])
def test_an_object_is_ended_while_others_use_it(how, end):
    assert prints(TOOLS + SIMPLE + f"""
m, t, x = ptxi.loads(ONE), ptxi.Stream(), np.zeros(4, 'u4')
for _ in range(40 * MORE):
    s, b = ptxi.Stream(), ptxi.zeros(4, 'u4')
    with s.capture() as g:
        m.one[1, 1, 0, s](x)
    def call():
        {how}
    threads = run(*[repeat(20, call)] * 3)
    time.sleep(0.001)
    {end}
    junk = [ptxi.zeros(4, 'u4') for _ in range(4)]
    assert not any(j.array.any() for j in junk)
    join(threads)
t.synchronize()
tell()
""") == 'wrong: 0\n'


def test_functions_are_bound_while_others_launch():
    assert prints(TOOLS + SIMPLE + """
m, s, out = ptxi.loads(ONE), ptxi.Stream(), np.zeros(64, 'i4')
m.bind('f', lambda x: x, ctypes.c_int, ctypes.c_int)
def bind():
    for n in range(30 * MORE):
        m.bind('f', lambda x, keep=bytes(4096): x + len(keep) - 4096, ctypes.c_int, ctypes.c_int)
def launch():
    for _ in range(100 * MORE):
        m.call[1, 1](out)
        m.call[1, 1, 0, s](out)
join(run(bind, bind, launch, launch))
s.synchronize()
tell()
print(out[0])
""") == 'wrong: 0\n7\n'


EXITS = {
    'queued': 's = ptxi.Stream(); mod.forever[1, 1, 0, s](); mod.count[1, 1, 0, s](x)',
    'running': 's = ptxi.Stream(); mod.forever[1, 1, 0, s](); time.sleep(0.2)',
    'of another thread':
        't = threading.Thread(target=lambda: mod.forever[1, 1, 0, ptxi.Stream()]()); t.start(); t.join()',
    'waited for by another thread':
        'threading.Thread(target=lambda: mod.forever[1, 1](), daemon=True).start(); time.sleep(0.2)',
    'launched again and again': '''
def again():
    while True:
        try:
            mod.forever[1, 1]()
        except ptxi.LaunchError:
            pass
for _ in range(3):
    threading.Thread(target=again, daemon=True).start()
time.sleep(0.2)''',
    'of devices in a cycle': '''
d = ptxi.Device()
d.circle = [d, ptxi.Stream(d)]
m = ptxi.loads(FOREVER, device=d)
m.forever[1, 1, 0, d.circle[1]]()
del d''',
    'of a device that is dropped': '''
d = ptxi.Device()
ptxi.loads(FOREVER, device=d).forever[1, 1, 0, ptxi.Stream(d)]()
del d
gc.collect()''',
    'of a graph': 's = ptxi.Stream()\nwith s.capture() as g: mod.forever[1, 1, 0, s]()\ng.launch(s)',
    'that calls Python': '''
m = ptxi.loads('.version 8.0\\n.target sm_90\\n.address_size 64\\n.extern .func f();\\n'
               '.visible .entry k() { L: call f; bra L; }')
m.bind('f', lambda: None)
m.k[1, 1, 0, ptxi.Stream()]()
time.sleep(0.2)''',
    'at sys.exit in a with statement': '''
d = ptxi.Device()
with d:
    ptxi.loads(FOREVER).forever[1, 1, 0, ptxi.Stream()]()
    sys.exit()''',
}


@pytest.mark.parametrize('what', EXITS.values(), ids=EXITS)
def test_the_interpreter_ends_while_a_kernel_runs(what):
    head = """
FOREVER = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry forever() { L: bra L; }'
print('begun', flush=True)
"""
    assert prints(head + what, 30) == 'begun\n'


def test_daemon_threads_end_with_the_interpreter():
    result = run('''
FOREVER = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry forever() { L: bra L; }'
''' + EXITS['launched again and again'], 30)
    assert (result.returncode, result.stderr) == (0, '')


WAITS = {
    'close': 'd.close()',
    'free': 'b.free()',
    'an event': 'e.synchronize()',
    'bind': "m.bind('f', lambda: None)",
    'a graph': 'g.launch()',
    'the close of a graph': 'g.close()',
    'a device': 'd.synchronize()',
    'the end of a stream': 's.__exit__(None, None, None)',
}


@pytest.mark.parametrize('what', WAITS.values(), ids=WAITS)
def test_an_interrupt_ends_every_wait(what):
    assert prints(f"""
d = ptxi.Device()
m = ptxi.loads('.version 8.0\\n.target sm_90\\n.address_size 64\\n.extern .func f();\\n'
               '.visible .entry forever() {{ L: bra L; }} .visible .entry k() {{ call f; ret; }}', device=d)
s, b = ptxi.Stream(d), ptxi.zeros(4, device=d)
with s.capture() as g:
    m.forever[1, 1, 0, s]()
m.forever[1, 1, 0, s]()
e = ptxi.Event(d).record(s)
press()
try:
    {what}
except KeyboardInterrupt:
    print('interrupted')
try:
    d.synchronize()
except (ptxi.LaunchError, ValueError):
    pass
d.close()
print(len(ptxi._lifetime._cores))
""") == 'interrupted\n1\n'


def test_a_signal_handler_may_call_anything():
    assert prints("""
def handle(*_):
    try:
        handled()
    except BlockingIOError:  # the interrupted launch was closing the array
        pass
    signal.setitimer(signal.ITIMER_REAL, time.time() < end and 0.002)
def handled():
    global other
    mod.count[1, 1](y)
    mod.count[1, 1, 0, own](y)
    own.synchronize()
    gc.collect()
    other.close()
    other = ptxi.Device(workers=1)
    ptxi.zeros(4, device=other).free()
y, s, own, other = np.zeros(1, 'u4'), ptxi.Stream(), ptxi.Stream(), ptxi.Device(workers=1)
signal.signal(signal.SIGALRM, handle)
end = time.time() + 3
signal.setitimer(signal.ITIMER_REAL, 0.002)
n = 0
while time.time() < end:
    mod.count[1, 1](x)
    mod.count[1, 1, 0, s](x)
    b = ptxi.zeros(4)
    ptxi.Stream().synchronize()
    s.synchronize()
    ptxi.Device(workers=1).close()
    n += 2
signal.setitimer(signal.ITIMER_REAL, 0)
print(x[0] == n, y[0] > 0, b.device is ptxi.current(), ptxi._ranges.left())
""") == 'True True True []\n'


def test_a_signal_handler_closes_the_device_that_is_called():
    assert prints("""
for k in range(20):
    d = ptxi.Device(workers=1)
    text = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k(.param .u64 p) { ret; }'
    m = ptxi.loads(text, device=d)
    signal.signal(signal.SIGALRM, lambda *_: d.close())
    signal.setitimer(signal.ITIMER_REAL, 0.005 + k * 0.0003)
    try:
        while True:
            m.k[1, 1](x)
    except ValueError as e:
        assert str(e) == 'the device is closed', e
ptxi.Device()
print(len(ptxi._lifetime._cores))
""") == '1\n'


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='os.fork is not available')
def test_a_child_forked_while_others_call_gets_errors():
    assert prints("""
more = [True]
def launch():
    while more:
        mod.count[1, 1](np.zeros(1, 'u4'))
        ptxi.Device(workers=1).close()
threads = [threading.Thread(target=launch) for _ in range(4)]
for t in threads:
    t.start()
s, b, d, codes = ptxi.Stream(), ptxi.zeros(4), ptxi.Device(workers=1), set()
for _ in range(20):
    child = os.fork()
    if not child:
        import faulthandler; faulthandler.dump_traceback_later(10, exit=True)
        code = 0
        for f in (lambda: mod.count[1, 1](x), s.synchronize, lambda: mod.count[1, 1, 0, s](x), ptxi.Device,
                  ptxi.Stream, b.free, d.close):
            try:
                f()
                code = 1
            except ptxi.Error as e:
                code |= e.result != ptxi.Result.ERROR_NOT_INITIALIZED
        del s, b, mod, d
        gc.collect()
        sys.stdout.flush()
        os._exit(code)
    codes.add(os.waitpid(child, 0)[1])
more.clear()
for t in threads:
    t.join()
print(codes)
""") == '{0}\n'


def test_a_subinterpreter_is_refused():
    pytest.importorskip('_xxsubinterpreters')
    assert prints("""
import _xxsubinterpreters as interpreters
i = interpreters.create()
try:
    interpreters.run_string(i, f'import sys; sys.path[:] = {sys.path}\\nimport ptxi')
except Exception as e:
    print('ImportError' in str(e) or type(e))
""") == 'True\n'


def test_everything_at_once():
    """16 threads create, use, close and drop shared objects."""
    assert prints(TOOLS + SIMPLE + """
import random
IGNORED = CLOSED + ('LAUNCH_TIMEOUT', 'a writable array overlaps', 'PTXI_ERROR_STREAM_CAPTURE',
                    'PTXI_ERROR_LAUNCH_TIMEOUT', 'PTXI_ERROR_ILLEGAL_STATE')
class Place:
    def __init__(self):
        self.device = ptxi.Device(workers=2)
        self.module, self.stream = ptxi.loads(ONE, device=self.device), ptxi.Stream(self.device)
        self.buffer, self.array = ptxi.zeros(64, 'u4', self.device), np.zeros(64, 'u4')
        self.module.bind('f', lambda x: x, ctypes.c_int, ctypes.c_int)
        self.graph = self.capture()
        self.add = ptxi.asm('add.u32 %0, %1, %2;', '=r', 'r', 'r', device=self.device)
    def capture(self):
        s = ptxi.Stream(self.device)
        with s.capture() as g:
            self.module.one[1, 1, 0, s](np.zeros(64, 'u4'))
        return g

def act(p, r):
    what = r.randrange(22)
    m, s = p.module, p.stream
    if what == 0: m.one[1, 1](p.array)
    elif what == 1: m.spin[1, 1, 0, s](np.zeros(256, 'u4'))
    elif what == 2: m.spin[1, 1, 0, s](bytearray(64))
    elif what == 3: s.synchronize()
    elif what == 4: p.device.synchronize()
    elif what == 5: m.call[1, 4](np.zeros(1, 'i4'))
    elif what == 6: m.bind('f', lambda x, keep=bytes(1000): x, ctypes.c_int, ctypes.c_int)
    elif what == 7: p.graph.launch(s)
    elif what == 8: p.graph.launch()
    elif what == 9: p.graph = p.capture()
    elif what == 10: p.buffer.array[:] = 1
    elif what == 11: p.buffer, old = ptxi.zeros(64, 'u4', p.device), p.buffer; old.free()
    elif what == 12: m.one[1, 1, 0, s](p.buffer)
    elif what == 13: p.stream = ptxi.Stream(p.device)
    elif what == 14: p.stream, old = ptxi.Stream(p.device), p.stream; old.close()
    elif what == 15: assert p.add(1, 2) == 3
    elif what == 16: e = ptxi.Event(p.device).record(s); e.done(); e.synchronize()
    elif what == 17: ptxi._library.library().CtxInterrupt(p.device._context) if r.randrange(8) == 0 else None
    elif what == 18:
        m = ptxi.loads(ONE, device=p.device)
        m.bind('f', lambda x: x, ctypes.c_int, ctypes.c_int)
        p.module = m
    elif what == 19: ptxi.Stream(p.device).wait_event(ptxi.Event(p.device).record(s))
    elif what == 20: gc.collect() if r.randrange(8) == 0 else None
    elif what == 21 and r.randrange(10) == 0:
        k = places.index(p) if p in places else 0
        places[k], old = Place(), places[k]
        if r.randrange(2): old.device.close()

places = [Place() for _ in range(3)]
def work(seed):
    r = random.Random(seed)
    for _ in range(60 * MORE):
        try:
            act(r.choice(places), r)
        except (ValueError, BlockingIOError, ptxi.LaunchError, ptxi.Error) as e:
            fault = isinstance(e, ptxi.LaunchError) and e.report.fault
            if fault != ptxi.Fault.INTERRUPTED and not str(e).startswith(IGNORED) and 'LAUNCH_TIMEOUT' not in str(e):
                raise
import faulthandler
faulthandler.dump_traceback_later(50 * MORE, exit=True)
join(run(*[lambda seed=seed: work(seed) for seed in range(16)]))
for p in places:
    p.device.close()
del p, places
gc.collect()
ptxi.zeros(4)
tell()
print(len(ptxi._lifetime._cores), ptxi._ranges.left())
""", 60 * MORE) == 'wrong: 0\n1 []\n'
