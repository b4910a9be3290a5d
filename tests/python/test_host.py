"""Tests of Python functions that kernels call."""
import ctypes

import numpy as np
import pytest

HEAD = '.version 8.0\n.target sm_80\n.address_size 64\n'

CALLS = HEAD + '''
.extern .func (.param .b32 r) scale(.param .b32 x, .param .b32 k);
.extern .func (.param .align 4 .b8 r[8]) turn(.param .align 4 .b8 v[8]);
.func inside() { ret; }
.visible .entry scales(.param .u64 out, .param .f32 k) {
  .reg .u32 %t; .reg .u64 %d; .reg .f32 %f; .param .b32 x, y, z;
  ld.param.u64 %d, [out]; ld.param.f32 %f, [k]; mov.u32 %t, %tid.x; mad.wide.u32 %d, %t, 4, %d;
  st.param.b32 [x], %t; st.param.f32 [y], %f; call (z), scale, (x, y);
  ld.param.b32 %t, [z]; st.global.u32 [%d], %t; ret; }
.visible .entry turns(.param .u64 out) {
  .reg .u32 %t; .reg .u64 %d; .reg .f32 %f, %g; .param .align 4 .b8 x[8]; .param .align 4 .b8 z[8];
  ld.param.u64 %d, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %d, %t, 8, %d; cvt.rn.f32.u32 %f, %t;
  st.param.f32 [x], %f; st.param.f32 [x+4], 0f41200000; call (z), turn, (x);
  ld.param.f32 %f, [z]; ld.param.f32 %g, [z+4]; st.global.v2.f32 [%d], {%f, %g}; ret; }'''


class Vector(ctypes.Structure):
    _fields_ = [('v', ctypes.c_float * 2)]


@pytest.fixture
def mod(ptxi):
    return ptxi.loads(CALLS)


def test_numbers(ptxi, mod):
    out = np.zeros(40, 'i4')
    with pytest.raises(ptxi.LaunchError, match="'scale', which kernel scales can reach, is undefined"):
        mod.scales[1, 40](out, 2.5)
    mod.bind('scale', lambda x, k: int(x * k) - 1, ctypes.c_int, ctypes.c_int, ctypes.c_float)
    mod.scales[1, 40](out, 2.5)
    assert (out == (np.arange(40) * 2.5).astype('i4') - 1).all()
    mod.bind('scale', None)
    with pytest.raises(ptxi.Error):
        mod.scales[1, 40](out, 2.5)


def test_structures(mod):
    out = np.zeros((40, 2), 'f4')
    mod.bind('turn', lambda v: Vector((-v.v[1], v.v[0])), Vector, Vector)
    mod.turns[1, 40](out)
    assert (out[:, 0] == -10).all() and (out[:, 1] == np.arange(40)).all()


def test_who_calls(ptxi, mod):
    out, seen = np.zeros(40, 'i4'), []

    def scale(x, k):
        t = ptxi.host_thread()
        assert t.thread == (x, 0, 0) and t.block_dim == (40, 1, 1) and t.grid_dim == (1, 1, 1) and t.lane == x % 32
        assert (t.function, t.kernel) == ('scale', 'scales')
        seen.append(x)
        return 0
    mod.bind('scale', scale, ctypes.c_int, ctypes.c_int, ctypes.c_float)
    mod.scales[1, 40](out, 1)
    assert seen == list(range(40))
    with pytest.raises(ptxi.Error):
        ptxi.host_thread()


def test_an_exception_fails_the_launch(ptxi, mod):
    def scale(x, k):
        return 10 // (5 - x)
    mod.bind('scale', scale, ctypes.c_int, ctypes.c_int, ctypes.c_float)
    with pytest.raises(ptxi.LaunchError, match='host function failed: scale: ZeroDivisionError') as e:
        mod.scales[1, 40](np.zeros(40, 'i4'), 1)
    assert e.value.report.fault == ptxi.Fault.HOST_FUNCTION and e.value.report.thread == (5, 0, 0)
    assert '10 // (5 - x)' in str(e.value)


def test_what_cannot_be_bound(ptxi, mod):
    with pytest.raises(KeyError, match="no external function 'inside'"):
        mod.bind('inside', print)
    with pytest.raises(ptxi.ModuleError, match='parameter 1 has 8 bytes, 4 in the declaration'):
        mod.bind('scale', print, ctypes.c_int, ctypes.c_int, ctypes.c_double)
    with pytest.raises(TypeError, match='of ctypes'):
        mod.bind('scale', print, int, ctypes.c_int, ctypes.c_float)
