"""Tests of Ctrl-C, garbage collection at any time, fork, and the end of the interpreter."""
import ctypes
import gc
import os

import pytest
from ends import prints, run

import ptxi as package

WAITS = {
    'a launch': 'mod.forever[2, 64]()',
    'a stream': 's = ptxi.Stream(); mod.forever[1, 1, 0, s](); s.synchronize()',
    'a device': 's = ptxi.Stream(); mod.forever[1, 1, 0, s](); time.sleep(0.1); ptxi.current().synchronize()',
    'a buffer': 'b = ptxi.zeros(1); s = ptxi.Stream(blocking=False); mod.forever[1, 1, 0, s](); b.free()',
    'a template': "ptxi.asm('L: bra L;')()",
}


@pytest.mark.parametrize('wait', WAITS.values(), ids=WAITS)
def test_an_interrupt_ends_kernels(wait):
    text = f"""
press()
try:
    {wait}
except KeyboardInterrupt:
    print('interrupted')
mod.count[2, 32](x)
print(x)
"""
    assert prints(text) == 'interrupted\n[64]\n'


def test_an_interrupt_at_any_time():
    """After an interrupt at any step, the array can be used again, and no kernel uses an array that was closed."""
    text = """
s = ptxi.Stream()
for k in range(60):
    try:
        press(0.003 + k * 0.0003)
        while True:
            mod.count[1, 32](x)
            mod.count[1, 32, 0, s](x)
            s.synchronize()
    except KeyboardInterrupt:
        pass
    except ptxi.LaunchError as e:
        if e.report.fault != ptxi.Fault.INTERRUPTED: raise
        time.sleep(1)
    try:
        ptxi.current().synchronize()
    except ptxi.LaunchError as e:
        if e.report.fault != ptxi.Fault.INTERRUPTED: raise
    for _ in range(3):
        mod.count[1, 32](x)
press()
try:
    time.sleep(10)
except KeyboardInterrupt:
    mod.count[1, 32](x)
    print('ended', ptxi._ranges.left())
"""
    assert prints(text) == 'ended []\n'


def test_what_the_program_does_of_signals_is_left_alone():
    text = """
signal.signal(signal.SIGINT, lambda *_: print('handled'))
ptxi.current().set_limit(ptxi.Limit.MILLISECONDS, 600)
press()
try:
    mod.forever[1, 1]()
except ptxi.LaunchError as e:
    print(e.report.fault == ptxi.Fault.TIMEOUT)
read, write = os.pipe()
os.set_blocking(write, False)
signal.set_wakeup_fd(write)
signal.signal(signal.SIGINT, signal.default_int_handler)
press()
try:
    mod.forever[1, 1]()
except KeyboardInterrupt:
    print(list(os.read(read, 9)))
"""
    assert prints(text) == 'handled\nTrue\n[2]\n'


def test_a_program_that_ends_before_its_kernels_can_be_interrupted():
    result = run("press(1)\ns = ptxi.Stream()\nmod.forever[1, 1, 0, s]()\nprint('end')")
    assert result.stdout == 'end\n' and result.returncode == 0, result.stderr


def test_garbage_at_any_time():
    text = """
gc.set_threshold(1)
devices = [ptxi.Device(workers=1) for _ in range(2)]
for k in range(40):
    for d in devices:
        with d:
            s, b = ptxi.Stream(), ptxi.zeros(1, 'u4')
            m = ptxi.loads('.version 8.0\\n.target sm_90\\n.address_size 64\\n.entry k(.param .u64 p) { ret; }')
            with s.capture() as g:
                m.k[1, 1, 0, s](x)
            g.launch(s)
            m.k[1, 1, 0, s](b)
            s.synchronize()
            circle = [s, b, m, g, ptxi.Event()]
            circle.append(circle)
            del s, b, m, g, circle
    mod.count[1, 1](x)
print(x)
"""
    assert prints(text) == '[40]\n'


def test_the_end_of_an_object_leaves_the_device_current(ptxi):
    ours, other = ptxi.Device(workers=1), ptxi.Device(workers=1)
    mod = ptxi.loads('.version 8.0\n.target sm_90\n.address_size 64\n.entry k() { ret; }', device=other)
    stream = ptxi.Stream(other)
    with stream.capture() as graph:
        mod.k[1, 1, 0, stream]()
    things = [graph, stream, mod, ptxi.Event(other), ptxi.zeros(4, 'u4', other), other]
    del mod, stream, graph, other
    current = ctypes.c_void_p()
    library = package._library.library()
    ours.activate()
    while things:
        things.pop(0)
        gc.collect()
        library.CtxGetCurrent(ctypes.byref(current))
        assert current.value == ours._context.value


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='os.fork is not available')
def test_a_forked_child_gets_errors():
    text = """
mod.count[1, 32](x)
child = os.fork()
if not child:
    try:
        mod.count[1, 32](x)
    except ptxi.Error as e:
        os._exit(3 if e.result == ptxi.Result.ERROR_NOT_INITIALIZED and 'the method "spawn"' in str(e) else 4)
    os._exit(5)
print(os.waitpid(child, 0)[1] >> 8)
mod.count[1, 32](x)
print(x)
"""
    assert prints(text) == '3\n[64]\n'
