"""Tests of buffers, and of memory shared with other libraries."""
import gc
import pathlib

import ml_dtypes
import numpy as np
import pytest

from ptxi.testing import assert_bits_equal

KERNELS = pathlib.Path(__file__).with_name('kernels.ptx')


def test_a_buffer_is_seen_in_place(ptxi):
    add = ptxi.load(KERNELS).add
    x, y = ptxi.copy(np.arange(32, dtype='f4')), ptxi.zeros((4, 8), 'f4')
    assert (y.shape, y.nbytes, y.dtype) == ((4, 8), 128, np.dtype('f4'))
    add[1, 32](y, x, 1)
    assert_bits_equal(y.array, np.arange(1, 33, dtype='f4').reshape(4, 8))
    assert np.shares_memory(np.asarray(y), y.array)
    y[1:, ::2] = 0
    assert y[0, 1] == 2 and y[3, 6] == 0 and y[3, 7] == 32 and np.shares_memory(y[2], y.array)
    with pytest.raises(ptxi.LaunchError) as e:
        add[1, 33](y, x, 1)
    assert e.value.report.nearest_base == x.address
    x.free()
    with pytest.raises(ValueError, match='freed'):
        x.array
    with pytest.raises(ValueError, match='freed'):
        add[1, 1](y, x, 1)
    assert ptxi.empty(0, 'f4').array.shape == (0,)
    assert ptxi.copy(np.ones(2, ml_dtypes.bfloat16)).array.dtype == ml_dtypes.bfloat16


def test_an_array_keeps_its_buffer(ptxi):
    a = ptxi.zeros(1024, 'u1').array
    gc.collect()
    ptxi.load(KERNELS).swap[1, 1](a)
    b = ptxi.empty(1024).array
    b[:] = 255
    assert not a.any()


class Tensor:
    """A tensor of another library that supports only DLPack."""
    device = None

    def __init__(self, array, **only):
        self.array, self.only = array, only

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**(self.only or options))

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


def test_dlpack_out(ptxi):
    b = ptxi.copy(np.array([1, 2, 3, 4], 'u2'))
    a = np.from_dlpack(b)
    assert np.shares_memory(a, b.array) and a.flags.writeable
    del b
    gc.collect()
    assert a.tolist() == [1, 2, 3, 4]
    with pytest.raises(BufferError, match='bfloat16'):
        ptxi.zeros(1, ml_dtypes.bfloat16).__dlpack__()


@pytest.mark.parametrize('only', [{}, {'max_version': None}])
def test_dlpack_in(ptxi, only):
    swap = ptxi.load(KERNELS).swap
    a = np.array([1, 2, 3, 4], 'u2')
    swap[1, 2](Tensor(a, **only))
    assert a.tolist() == [2, 1, 4, 3]
    swap[1, 1](Tensor(a[2:], **only))
    assert a.tolist() == [2, 1, 3, 4]
    with pytest.raises(ptxi.LaunchError):
        swap[1, 3](Tensor(a, **only))
    elsewhere = Tensor(a)
    elsewhere.device = (2, 0)
    with pytest.raises(TypeError, match='only memory of the host'):
        swap[1, 1](elsewhere)


def test_dlpack_read_only(ptxi):
    a = np.array([1, 2], 'u2')
    a.flags.writeable = False
    with pytest.raises(ptxi.LaunchError) as e:
        ptxi.load(KERNELS).swap[1, 1](Tensor(a))
    assert e.value.report.fault == ptxi.Fault.READ_ONLY


@pytest.mark.parametrize('version', [None, (1, 0)])
def test_a_capsule_that_nobody_takes_is_freed(ptxi, version):
    from ptxi import _dlpack
    gc.collect()
    before = len(_dlpack._exported)
    capsule = ptxi.zeros(4, 'u4').__dlpack__(max_version=version)
    assert len(_dlpack._exported) == before + 1
    del capsule
    gc.collect()
    assert len(_dlpack._exported) == before


def test_cuda_array_interface_both_ways(ptxi):
    class Foreign:
        def __init__(self, buffer):
            self.__cuda_array_interface__ = buffer.__cuda_array_interface__

    b = ptxi.copy(np.array([1, 2], 'u2'))
    ptxi.load(KERNELS).swap[1, 1](Foreign(b))
    assert b.array.tolist() == [2, 1]
    assert b.__cuda_array_interface__ == {
        'shape': (2,), 'typestr': '<u2', 'data': (b.address, False), 'strides': None, 'version': 3}


def test_strided_arrays_are_open_from_end_to_end(ptxi):
    swap = ptxi.load(KERNELS).swap
    a = np.arange(8, dtype='u2')
    swap[1, 2](a[:4:3])
    assert a.tolist() == [1, 0, 3, 2, 4, 5, 6, 7]
    with pytest.raises(ptxi.LaunchError) as e:
        swap[1, 2](a[6:1:-2])
    assert (e.value.report.nearest_base, e.value.report.nearest_size) == (a[2:].ctypes.data, 10)
    with pytest.raises(ptxi.LaunchError):
        swap[1, 3](a[:4:3])


def test_arrays_that_kernels_cannot_read_are_refused(ptxi):
    mod = ptxi.load(KERNELS)
    for bad in np.zeros(32, '>f4'), np.array([1, 'x'], object), np.zeros(4, [('a', '>i2'), ('b', 'i2')]):
        with pytest.raises(ptxi.ArgumentError, match='argument 0 is a'):
            mod.swap[1, 1](bad)
        with pytest.raises(ValueError, match='cannot allocate a buffer of shape'):
            ptxi.empty(4, bad.dtype)
    assert_bits_equal(ptxi.copy(np.arange(4, dtype='>f4')).array, np.arange(4, dtype='f4'))


@pytest.mark.parametrize('shape, error', [(-1, ValueError), ((2, -2), ValueError), ((1 << 32, 1 << 32), ValueError),
                                          ('4', TypeError), (1.5, TypeError)])
def test_shapes_that_are_none(ptxi, shape, error):
    with pytest.raises(error):
        ptxi.empty(shape)


def test_a_buffer_of_a_closed_device_is_none(ptxi):
    device = ptxi.Device()
    b = ptxi.zeros(4, 'u4', device)
    device.close()
    for use in (lambda: b.array, lambda: np.asarray(b), lambda: b.__cuda_array_interface__,
                lambda: ptxi.load(KERNELS).swap[1, 1](b)):
        with pytest.raises(ValueError, match='freed'):
            use()


def test_a_buffer_is_freed_at_the_end_of_with(ptxi):
    with ptxi.copy(np.arange(6, dtype='u2').reshape(2, 3)) as buffer:
        assert len(buffer) == 2 and repr(buffer) == f'<ptxi.Buffer uint16[2, 3] at {buffer.address:#x}>'
    assert buffer.address == 0 and repr(buffer) == '<ptxi.Buffer uint16[2, 3], freed>'
    with pytest.raises(ValueError, match='freed'):
        buffer.array
    with pytest.raises(TypeError, match='no length'):
        len(ptxi.zeros((), 'u2'))
