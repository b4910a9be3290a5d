"""Tests of launches: arguments of every type, grids and blocks, streams, and failures."""
import array
import ctypes
import dataclasses
import pathlib
import struct
import threading

import ml_dtypes
import numpy as np
import pytest

from ptxi.testing import assert_bits_equal

KERNELS = pathlib.Path(__file__).with_name('kernels.ptx')


@pytest.fixture
def mod(ptxi):
    return ptxi.load(KERNELS)


def test_arrays_are_used_in_place(mod):
    x, y = np.arange(256, dtype='f4'), np.zeros(256, 'f4')
    assert mod.add[2, 128](y, x, 0.5) is None
    assert_bits_equal(y, x + np.float32(0.5))


def test_views_may_overlap(mod):
    a = np.arange(64, dtype='f4')
    mod.add[1, 32](a[16:48], a[:32], 100)
    assert_bits_equal(a[16:48], np.arange(32, dtype='f4') + 100)
    assert_bits_equal(a[48:], np.arange(48, 64, dtype='f4'))
    mod.add[1, 64](a, a, 0)


def test_a_view_is_not_left(ptxi, mod):
    a = np.zeros(64, 'f4')
    with pytest.raises(ptxi.LaunchError) as e:
        mod.add[1, 33](a[:32], a[:32], 0)
    assert e.value.report.thread == (32, 0, 0)
    assert e.value.report.fault == ptxi.Fault.OUT_OF_BOUNDS
    assert e.value.report.nearest_base == a.ctypes.data and e.value.report.nearest_size == 128


def test_memory_is_closed_after_the_launch(ptxi, mod):
    a = np.zeros(32, 'f4')
    mod.add[1, 32](a, a, 1)
    with pytest.raises(ptxi.LaunchError):
        mod.add[1, 32](a.ctypes.data, a.ctypes.data, 1)
    assert_bits_equal(a, np.ones(32, 'f4'))


def test_read_only_arrays_are_not_written(ptxi, mod):
    x, y = np.ones(32, 'f4'), np.zeros(32, 'f4')
    x.flags.writeable = False
    mod.add[1, 32](y, x, 1)
    with pytest.raises(ptxi.LaunchError) as e:
        mod.add[1, 32](x, y, 1)
    assert e.value.report.fault == ptxi.Fault.READ_ONLY
    assert e.value.result == ptxi.Result.ERROR_ILLEGAL_ADDRESS
    assert_bits_equal(x, np.ones(32, 'f4'))


def test_ml_dtypes_go_by_their_bits(mod):
    a = np.array([1, 2, 3, 4], ml_dtypes.bfloat16)
    mod.swap[1, 2](a)
    assert_bits_equal(a, np.array([2, 1, 4, 3], ml_dtypes.bfloat16))
    b = np.array([1, 2, 3, 4], ml_dtypes.float8_e4m3fn)
    mod.swap[1, 1](b)
    assert_bits_equal(b, np.array([3, 4, 1, 2], ml_dtypes.float8_e4m3fn))


@pytest.mark.parametrize('make', [bytearray, lambda b: memoryview(bytearray(b)), lambda b: array.array('H', b),
                                  lambda b: (ctypes.c_ushort * 2).from_buffer_copy(b)])
def test_other_memory(mod, make):
    x = make(b'abcd')
    mod.swap[1, 1](x)
    assert bytes(x) == b'cdab'


RECORD = np.dtype([('x', 'f4'), ('n', 'i4'), ('tail', 'u4')])


class Record(ctypes.Structure):
    _fields_ = [('x', ctypes.c_float), ('n', ctypes.c_int), ('tail', ctypes.c_uint)]


@pytest.mark.parametrize('record', [np.array((1.5, -2, 7), RECORD), np.array([(1.5, -2, 7)], RECORD)[0],
                                    Record(1.5, -2, 7)])
def test_parameters_of_every_type(mod, record):
    out = np.zeros(48, 'u1')
    mod.params[1, 1](out, 200, -3, np.float32(0.1), np.int8(-1), 0.1, np.float32(0.5), record)
    assert out[0] == 200
    assert out[2:4].view('i2')[0] == -3
    assert_bits_equal(out[4:8].view('f4')[0], np.float32(0.1))
    assert out[8:16].view('i8')[0] == -1
    assert_bits_equal(out[16:18].view('f2')[0], np.float16(0.1))
    assert_bits_equal(out[24:32].view('f8')[0], 0.5)
    assert out[32:44].tobytes() == bytes(record if isinstance(record, Record) else record.tobytes())


GOOD = (None, 1, 2, 3, 4, 5, 6, bytes(12))


@pytest.mark.parametrize('index, bad, says', [
    (0, 1.0, "argument 0 is a float; the parameter '.u64 out' accepts an array or an address"),
    (0, [1, 2], 'a list'),
    (1, 256, '256, which does not fit in 8 bits'),
    (1, -129, '-129, which does not fit in 8 bits'),
    (2, np.zeros(2, 'i2'), "an int16 array of shape (2,); the parameter '.s16 b' accepts a number"),
    (3, 1.0, 'a float'),
    (3, np.float64(1), 'a float64'),
    (4, 1 << 64, 'does not fit in 64 bits'),
    (5, 70000.0, '70000.0, which is too large'),
    (6, 'x', 'a str'),
    (6, 10 ** 400, 'an integer that is too large'),
    (7, np.zeros(3, '>i4'), 'a >i4 array of shape (3,) with another byte order'),
    (0, np.zeros(3, object), 'an object array of shape (3,) with Python objects'),
    (0, [1, 2], 'a list, not an array (numpy.array makes one)'),
    (0, 1.5, "a float; the parameter '.u64 out' accepts an array or an address"),
    (7, bytes(11), "a value of 11 bytes; the parameter '.b8 g[12]' accepts 12 bytes"),
    (7, 1, 'an int'),
])
def test_what_does_not_fit_is_refused(ptxi, mod, index, bad, says):
    arguments = list(GOOD)
    arguments[index] = bad
    with pytest.raises(ptxi.ArgumentError) as e:
        mod.params[1, 1](*arguments)
    assert says in str(e.value)
    assert 'params(.u64 out, .u8 a, .s16 b, .b32 c, .s64 d, .f16 e, .f64 f, .align 8 .b8 g[12])' in str(e.value)


def test_the_number_of_arguments(ptxi, mod):
    with pytest.raises(ptxi.ArgumentError, match=r'2 arguments for 3 parameters: add\(\.u64 y, \.u64 x, \.f32 a\)'):
        mod.add[1, 1](1, 2)
    with pytest.raises(ptxi.ArgumentError, match=r'1 arguments for 3 .*pass them one by one, as in kernel\[grid'):
        mod.add[1, 1]((1, 2, 3))


@pytest.mark.parametrize('start', ['launch', 'prepare'])
@pytest.mark.parametrize('arguments, given', [
    ((np.zeros(3, 'f4'), np.zeros(3, 'f4'), 1), r'a float32 array of shape \(3,\)'),
    ((7, np.zeros(3, 'f4')), 'an int'), ((None,), 'a NoneType'), (('abc',), 'a str'), ((iter([]),), 'a list_iterator'),
])
def test_arguments_of_a_launch_are_a_sequence(ptxi, mod, start, arguments, given):
    form = rf'use add.{start}\(grid, block, arguments\) with a tuple or a list, not {given}$'
    with pytest.raises(ptxi.ArgumentError, match=form):
        getattr(mod.add, start)(1, 3, *arguments)


def test_opens_shared_and_stream_of_wrong_types(ptxi, mod):
    x = np.zeros(3, 'f4')
    with pytest.raises(ptxi.ArgumentError, match='use opens= with a tuple or a list, not a float32 array'):
        mod.add.launch(1, 3, (x, x, 1), opens=x)
    for shared, given in (x, 'a float32 array'), (ptxi.Stream(), 'a Stream'), (1.5, 'a float'):
        with pytest.raises(TypeError, match=f'invalid shared memory: {given}.*use a number of bytes'):
            mod.add[1, 3, shared](x, x, 1)
    for wrong in lambda: mod.add[1, 3, 0, 5](x, x, 1), lambda: mod.add.launch(1, 3, (x, x, 1), stream=0):
        with pytest.raises(TypeError, match='[05] is not a ptxi.Stream'):
            wrong()


@pytest.mark.parametrize('shape, limit', [
    ((1, 1025), r'can have 1024 threads at most, and this one has 1025'),
    ((1, (1, 1, 65)), r'the block can be \(1024, 1024, 64\) at most; grid'),
    (((1, 65536), 1), r'the grid can be \(2147483647, 65535, 65535\) at most; grid'),
    ((1, 1, 49153), r'can have 49152 bytes of dynamic shared memory at most'),
])
def test_a_refused_shape_names_the_limit(ptxi, mod, shape, limit):
    for launch in mod.shape[shape], mod.shape[(*shape, 0)[:3] + (ptxi.Stream(),)]:
        with pytest.raises(ptxi.Error, match=limit):
            launch(0)


def test_a_refused_cluster_is_named(ptxi, mod):
    with pytest.raises(ptxi.Error, match=r'INVALID_CLUSTER_SIZE.*cluster \(3, 1, 1\)'):
        mod.shape.launch(2, 32, (0,), cluster=3)


def test_shapes_and_shared_memory(ptxi, mod):
    out = np.zeros(2, 'u4')
    mod.shape[(1, 1), (1, 3), 1024](out)
    assert out.tolist() == [1024, 3]
    with pytest.raises(ptxi.Error, match='INVALID_VALUE.*shape.*u64 out') as e:
        mod.shape[1, 2048](out)
    assert e.value.result == ptxi.Result.ERROR_INVALID_VALUE
    with pytest.raises(ptxi.Error):
        mod.shape[1, 1, 100 << 10](out)
    mod.shape.set_attribute(ptxi.FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10)
    mod.shape[1, 1, 100 << 10](out)
    assert out.tolist() == [100 << 10, 1]
    for bad in (0, (1, 2, 3, 4), 1.5, ()):
        with pytest.raises((ValueError, TypeError)):
            mod.shape[bad, 1](out)
    for bad in (-1, 1 << 32, (1 << 40) + 8):
        with pytest.raises(ValueError, match='out of range'):
            mod.shape[1, 1, bad](out)
    with pytest.raises(ValueError, match='out of range'):
        mod.shape.launch(1, 1, [out], attributes={ptxi.LaunchAttribute.PRIORITY: 1 << 32})
    with pytest.raises(TypeError, match=r'shape\[grid, block\]'):
        mod.shape[1](out)
    with pytest.raises(TypeError, match='no grid and block'):
        mod.shape(out)
    mod.shape.launch(1, 1, [out], cooperative=True)


def test_frequent_conversions_equal_the_general_ones(mod):
    from ptxi.arguments import Packer
    numbers = [0, 1, -1, True, 1.5, -0.0, 0.1, 1e-45, 1e-50, 3.4e38, 1e39, np.inf, -np.inf, np.nan, 2**128, None, 'x']
    numbers += [s * 2**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, 0, 1) for s in (-1, 1)]
    numbers += list(np.random.default_rng(1).integers(0, 2**64, 200, np.uint64).view('f8').tolist())
    numbers += [np.dtype(t).type(x) for t in ('i1', 'u1', 'i4', 'u8', 'f4', 'f8') for x in (0, 1, 7.5)]
    array = np.zeros(10, 'u2')
    numbers += [array, array[2:5], array[::2], array.view('V2'), np.array([], 'u1'), np.array(5), array.astype(object)]
    frequent = 0
    for p in mod.params.parameters:
        packer = Packer('one', [dataclasses.replace(p, offset=0)])
        for x in numbers:
            buffer = bytearray(packer.range_offset + 24 * packer.ranges)
            if packer.fill(buffer, (x,)) is None:
                continue
            frequent += 1
            expected, pointers = packer.pack((x,))
            assert buffer[:packer.size] == expected, (p, x)
            if packer.ranges:
                start, size, flags = struct.unpack_from('QQI', buffer, packer.range_offset)
                span = pointers[0].span if pointers else (0, 0, True)
                assert (start, start + size, flags == 3) == tuple(span)
    assert frequent > 300


CHASE = """.version 8.0
.target sm_75
.address_size 64
.visible .entry chase(.param .u64 where) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [where]; ld.global.u64 %a, [%a]; ld.global.u32 %v, [%a]; add.u32 %v, %v, 1;
    st.global.u32 [%a], %v; ret;
}"""


def test_arrays_that_are_no_arguments(ptxi):
    """The kernel finds the address of `x` in memory."""
    x = np.zeros(1, 'u4')
    where, chase = np.array([x.ctypes.data], 'u8'), ptxi.loads(CHASE).chase
    with pytest.raises(ptxi.LaunchError):
        chase.launch(1, 1, [where])
    chase.launch(1, 1, [where], opens=[x])
    with ptxi.Stream() as s:
        chase.launch(1, 1, [where], stream=s, opens=(x, x))
    with chase.prepare(1, 1, [where], opens=[x]) as launch:
        launch()
    assert x[0] == 3
    with pytest.raises(ptxi.LaunchError):
        chase[1, 1](where)
    with pytest.raises(ValueError, match='closed'):
        launch()
    with pytest.raises(ptxi.ArgumentError, match='an int has no memory'):
        chase.launch(1, 1, [where], opens=[1])


def test_repr_of_streams(ptxi, mod):
    stream, event = ptxi.Stream(), ptxi.Event()
    assert repr(stream) == f'<ptxi.Stream of {stream.device!r}>'
    assert repr(event) == f'<ptxi.Event of {stream.device!r}>'
    assert repr(event.record(stream)) == f'<ptxi.Event of {stream.device!r}, recorded>'
    y = np.zeros(32, 'f4')
    with stream.capture() as graph:
        mod.add[1, 32, 0, stream](y, y, 1)
    with graph:
        assert repr(graph) == '<ptxi.Graph>'
        graph.launch()
    assert repr(graph) == '<ptxi.Graph, closed or not complete>' and (y == 1).all()
    stream.close()
    assert repr(stream) == f'<ptxi.Stream of {stream.device!r}, closed>'


def test_repr(mod):
    assert repr(mod.add) == '<ptxi.Kernel add(.u64 y, .u64 x, .f32 a)>'
    assert repr(mod.add[(2, 1), 32, 8]) == ('<ptxi.Kernel add: grid (2, 1, 1), block (32, 1, 1), '
                                            '8 bytes of shared memory>')


def test_prepared_launches(ptxi, mod):
    x, y = np.arange(64, dtype='f4'), np.zeros(64, 'f4')
    add = mod.add.prepare(2, 32, (y, x, 0.5))
    for _ in range(3):
        y[...] = 0
        add()
        assert_bits_equal(y, x + np.float32(0.5))
    assert repr(add).startswith('<ptxi.Launch add: grid (2, 1, 1), block (32, 1, 1)')
    with pytest.raises(ValueError, match='referenc|refcheck'):
        y.resize(128)
    mod.add[2, 32](y, x, 1)  # the array is open already
    assert_bits_equal(y, x + 1)
    add.close()
    with pytest.raises(ValueError, match='closed'):
        add()
    with pytest.raises(ptxi.LaunchError):
        mod.add[1, 32](y.ctypes.data, x.ctypes.data, 1)
    with pytest.raises(ptxi.ArgumentError):
        mod.add.prepare(1, 32, (y, x))
    with pytest.raises(ValueError, match='block'):
        mod.add.prepare(1, 0, (y, x, 1))


def test_prepared_launches_in_streams(ptxi, mod):
    x = np.zeros(32, 'f4')
    s = ptxi.Stream()
    add = mod.add.prepare(1, 32, (x, x, 1), stream=s)
    for _ in range(100):
        add()
    del add
    s.synchronize()
    assert_bits_equal(x, np.full(32, 100, 'f4'))
    leaves = mod.add.prepare(1, 64, (x[:32], x[:32], 1), stream=s)
    leaves()
    with pytest.raises(ptxi.LaunchError):
        s.synchronize()
    other = ptxi.Device()
    with pytest.raises(ValueError, match='another device'):
        mod.add.prepare(1, 32, (x, x, 1), stream=ptxi.Stream(other))
    s.close()
    with pytest.raises(ValueError, match='closed'):
        leaves()
    other.close()


def test_a_dropped_preparation_closes_its_memory(ptxi, mod):
    x = np.zeros(32, 'f4')
    mod.add.prepare(1, 32, (x, x, 1))()
    mod.add[1, 32](np.zeros(32, 'f4'), np.zeros(32, 'f4'), 1)
    with pytest.raises(ptxi.LaunchError):
        mod.add[1, 32](x.ctypes.data, x.ctypes.data, 1)


def test_streams(ptxi, mod):
    x, y = np.zeros(64, 'f4'), np.zeros(64, 'f4')
    with ptxi.Stream() as s:
        start = ptxi.Event().record(s)
        for _ in range(10):
            mod.add[1, 64, 0, s](x, x, 1)
        end = ptxi.Event().record(s)
        other = ptxi.Stream()
        other.wait_event(end)
        mod.add[1, 64, 0, other](y, x, 0)
        other.synchronize()
        end.synchronize()
        assert end.done() and s.done() and end.elapsed(start) >= 0
    assert_bits_equal(y, np.full(64, 10, 'f4'))


def test_a_closed_stream_is_not_the_default_one(ptxi, mod):
    x, event = np.zeros(32, 'f4'), ptxi.Event()
    with ptxi.Stream() as stream:
        mod.add[1, 32, 0, stream](x, x, 1)
        stream.close()
    for use in (lambda: mod.add[1, 32, 0, stream](x, x, 1), stream.synchronize, stream.done,
                lambda: stream.wait_event(event), lambda: event.record(stream)):
        with pytest.raises(ValueError, match='the stream is closed'):
            use()
    ptxi.current().synchronize()
    assert_bits_equal(x, np.ones(32, 'f4'))


def test_clusters_and_attributes(ptxi, mod):
    out = np.zeros(4, 'u4')
    mod.ranks.launch(4, 32, [out], cluster=2, cooperative=True, attributes={ptxi.LaunchAttribute.PRIORITY: -1})
    assert out.tolist() == [200, 201, 200, 201]
    mod.ranks.launch((4, 1), 1, [out], cluster=(4, 1, 1))
    assert out.tolist() == [400, 401, 402, 403]
    with pytest.raises(ptxi.Error, match=r'grid \(4, 1, 1\).*ranks'):
        mod.ranks.launch(4, 32, [out], cluster=3)
    with pytest.raises(ptxi.Error, match='COOPERATIVE_LAUNCH_TOO_LARGE'):
        mod.ranks.launch(100000, 1024, [out], cooperative=True)
    with pytest.raises(ptxi.Error, match='NOT_SUPPORTED'):
        mod.ranks.launch(4, 32, [out], attributes={ptxi.LaunchAttribute.DEVICE_UPDATABLE_KERNEL_NODE: 1})


def test_graphs(ptxi, mod):
    y = np.zeros(64, 'f4')
    with ptxi.Stream() as s:
        with s.capture() as graph:
            mod.add[1, 64, 0, s](y, np.arange(64, dtype='f4'), 1)
            mod.add[1, 64, 0, s](y, y, 10)
        assert not y.any()
        for _ in range(2):
            y[:] = 0
            graph.launch()
            assert_bits_equal(y, np.arange(64, dtype='f4') + 11)
        graph.launch(s)
        s.synchronize()
    graph.close()
    with pytest.raises(ValueError, match='closed'):
        graph.launch()


def test_captures_that_fail(ptxi, mod):
    s, y = ptxi.Stream(), np.zeros(64, 'f4')
    with pytest.raises(KeyError):
        with s.capture() as graph:
            mod.add[1, 64, 0, s](y, y, 1)
            raise KeyError
    with pytest.raises(ValueError, match='capture has not been completed'):
        graph.launch()
    with pytest.raises(ptxi.Error, match='CAPTURE_INVALIDATED'):
        with s.capture():
            with pytest.raises(ptxi.Error, match='CAPTURE_UNSUPPORTED'):
                s.done()
    mod.add[1, 64, 0, s](y, y, 1)
    s.synchronize()
    assert y.all()
    with s.capture() as graph:
        mod.trapped[1, 1, 0, s]()
    with pytest.raises(ptxi.LaunchError, match='kernel trapped'):
        graph.launch()


def test_an_array_of_a_stream_lives_until_its_end(ptxi, mod):
    with ptxi.Stream() as s:
        for _ in range(50):
            mod.add[4, 256, 0, s](np.zeros(1024, 'f4'), np.zeros(1024, 'f4'), 1)


def test_a_failure_in_a_stream_is_raised_by_what_waits(ptxi, mod):
    s = ptxi.Stream()
    mod.trapped[1, 1, 0, s]()
    with pytest.raises(ptxi.LaunchError, match='kernel trapped, block'):
        s.synchronize()
    s.synchronize()
    with pytest.raises(ValueError, match='another device'):
        mod.trapped[1, 1, 0, ptxi.Stream(ptxi.Device())]()


def test_threads_may_use_the_same_arrays(mod):
    x = np.arange(2048, dtype='f4')
    out = [np.zeros(1024, 'f4') for _ in range(4)]
    ended = []

    def work(o):
        for k in range(100, 200):
            mod.add[4, 256](o, x[k:k + 1024], 1)
        ended.append(o)

    threads = [threading.Thread(target=work, args=[o]) for o in out]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(ended) == 4
    for o in out:
        assert_bits_equal(o, x[199:199 + 1024] + 1)
