"""Functions and kernels that the tests of ptxi.scale send to other processes."""
import os
import pathlib
import signal
import time

import numpy as np

KERNELS = '''
.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 sum, .param .f32 by)
{
    .reg .b32 %t, %i;
    .reg .f32 %f, %b;
    .reg .b64 %p, %s;
    mov.u32 %t, %tid.x;
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %i, %i, 64, %t;
    ld.param.u64 %p, [x];
    mad.wide.u32 %p, %i, 4, %p;
    ld.global.f32 %f, [%p];
    ld.param.f32 %b, [by];
    mul.f32 %f, %f, %b;
    st.global.f32 [%p], %f;
    ld.param.u64 %s, [sum];
    red.global.add.f32 [%s], %f;
    ret;
}
.visible .entry clash(.param .u64 x)
{
    .reg .b32 %i;
    .reg .b64 %p;
    mov.u32 %i, %ctaid.x;
    ld.param.u64 %p, [x];
    st.global.u32 [%p], %i;
    ret;
}
.visible .entry next(.param .u64 x)
{
    .reg .b32 %i;
    .reg .b64 %p;
    ld.param.u64 %p, [x];
    atom.global.add.u32 %i, [%p], 1;
    st.global.u32 [%p + 4], %i;
    ret;
}
'''


def total(part):
    """Return the sum of the squares, modulo 2^61 - 1, so that every element counts."""
    return sum(k * k for k in part) % (2**61 - 1)


def slow_total(part):
    """The same, but slowly, so that there is time to kill the process."""
    time.sleep(0.05)
    return total(part)


def add(a, b):
    """Combine two sums."""
    return (a + b) % (2**61 - 1)


def total_or_die(part, flag):
    """The same, but the process that meets element 700 dies once."""
    if 700 in part and not os.path.exists(flag):
        pathlib.Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return slow_total(part)


def fails(part):
    """Raise an exception."""
    raise ZeroDivisionError(f'at {part}')


def arrays():
    """Return the arguments of the kernel `scale`."""
    rng = np.random.default_rng(1)
    return rng.random(64 * 50, 'f4') * 1e6, np.zeros(1, 'f4')


def whole():
    """Return the arguments after the whole grid has run on one worker."""
    import ptxi
    x, s = arrays()
    with ptxi.Device('sm_90', 1):
        ptxi.loads(KERNELS).scale[50, 64](x, s, 0.3)
    return x, s
