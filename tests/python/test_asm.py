"""Tests of ptxi.asm: operands, templates, arrays, and errors with positions in the template."""
import ml_dtypes
import numpy as np
import pytest

from ptxi.testing import assert_bits_equal


def test_one_thread(ptxi):
    mad = ptxi.asm('mad.lo.u32 %0, %1, %2, %3;', '=r', 'r', 'r', 'r')
    result = mad(2, 3, 4)
    assert result == 10 and isinstance(result, np.uint32)
    assert mad(-1, 1, 0) == 2 ** 32 - 1
    assert mad is ptxi.asm('mad.lo.u32 %0, %1, %2, %3;', '=r', 'r', 'r', 'r')
    assert repr(ptxi.asm('bar.sync 0;')) == "<ptxi.asm 'bar.sync 0;'>"


def test_a_warp_and_arrays(ptxi):
    x = np.arange(32, dtype='u4')
    rotated = ptxi.asm('shfl.sync.idx.b32 %0, %1, %2, 31, -1;', '=r', 'r', 'r')(x, (x + 1) % np.uint32(32))
    assert_bits_equal(rotated, np.roll(x, -1))
    y = np.arange(3000, dtype='f4').reshape(3, 1000)
    assert_bits_equal(ptxi.asm('fma.rn.f32 %0, %1, %2, %1;', '=f', 'f', 'f')(y, 2), y * 3)
    table = ptxi.asm('add.u32 %0, %1, %2;', '=r', 'r', 'r')(np.arange(3, dtype='u4')[:, None], np.arange(4, dtype='i4'))
    assert_bits_equal(table, np.add.outer(np.arange(3, dtype='u4'), np.arange(4, dtype='u4')))
    assert ptxi.asm('mov.u32 %0, 1;', '=r', 'r')(np.zeros(0, 'u4')).shape == (0,)


def test_every_letter(ptxi):
    assert ptxi.asm('add.u16 %0, %1, %1;', '=h', 'h')(40000) == 80000 - 65536
    assert ptxi.asm('shl.b64 %0, %1, %2;', '=l', 'l', 'n')(1, 40) == 1 << 40
    assert ptxi.asm('sqrt.rn.f64 %0, %1;', '=d', 'd')(2.0) == np.sqrt(2.0)
    assert ptxi.asm('%1 %0, %2, %3;', '=r', 'C', 'r', 'n')('xor.b32', 12, 10) == 6
    swap = ptxi.asm('{ .reg .b64 a, b; mov.b128 {a, b}, %1; mov.b128 %0, {b, a}; }', '=q', 'q')
    assert swap(np.void(bytes(range(16)))).tobytes() == bytes([*range(8, 16), *range(8)])
    half = np.array([1.5, -2], ml_dtypes.bfloat16)
    assert_bits_equal(ptxi.asm('neg.bf16 %0, %1;', '=h', 'h')(half).view(ml_dtypes.bfloat16), -half)


def test_several_outputs_and_none(ptxi):
    low, high = ptxi.asm('mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;', '=r', '=r', 'r', 'r')(1 << 20, 1 << 20)
    assert (low, high) == (0, 256)
    assert ptxi.asm('')() is None
    b = ptxi.zeros(1, 'u4')
    assert ptxi.asm('st.u32 [%0], %1;', 'l', 'r')(b.address, 42) is None
    assert b.array[0] == 42
    assert ptxi.asm('ld.u32 %0, [%1];', '=r', 'l')(b.address) == 42


def test_what_is_read_and_written(ptxi):
    cond = ptxi.asm('{ .reg .pred %p; setp.eq.s32 %p, %1, 34; @%p mov.s32 %0, 1; }', '+r', 'r')
    x = np.array([34, 35, 34], 'i4')
    assert cond(np.full(3, 7, 'u4'), x).tolist() == [1, 7, 1]
    assert x.tolist() == [34, 35, 34]


@pytest.mark.parametrize('text, constraints, place, says', [
    ('mov.u32 %0, %1;', ['=rf', 'r'], '<constraints>:1:1', 'only one letter'),
    ('mov.u32 %0, %1;', ['=r', 'x'], '<constraints>:1:4', 'accepted: h, r, l'),
    ('mov.u32 %0, %1;', ['r', '=r'], '<constraints>:1:3', 'an output must not follow an input'),
    ('mov.u32 %0, %2;', ['=r', 'r'], '<asm>:1:13', 'operand %2 does not exist'),
    ('mov.u32 %0, %1;\nmov.u32 %0, %%nothing;', ['=r', 'r'], '<asm>:2:13', "use of undeclared name '%nothing'"),
    ('add.s32 %0, %0, %1;', ['=f', 'r'], '<asm>:1:9', 'is a .f32 register'),
])
def test_errors_point_into_the_template(ptxi, text, constraints, place, says):
    with pytest.raises(ptxi.ModuleError) as e:
        ptxi.asm(text, *constraints)(1)
    assert str(e.value).startswith(place) and says in str(e.value)


def test_reports_point_into_the_template(ptxi):
    with pytest.raises(ptxi.LaunchError, match='<asm>:1:1: error: read of 4 bytes at 0x0') as e:
        ptxi.asm('ld.u32 %0, [%1];', '=r', 'l')(0)
    assert e.value.report.fault == ptxi.Fault.NULL


@pytest.mark.parametrize('letter, bad, says', [
    ('r', 1.0, "operand 'r' accepts 32-bit integers, not a float"),
    ('r', np.int8(1), 'not int8'),
    ('r', np.zeros(2, 'f4'), 'not float32'),
    ('r', 1 << 32, 'does not fit'),
    ('f', np.zeros(2), "operand 'f' accepts float32 values, not float64"),
    ('f', 'x', 'accepts float32'),
    ('n', 1.5, "operand 'n' accepts an integer"),
    ('C', 1, "operand 'C' accepts a str, not an int"),
])
def test_what_does_not_fit_is_refused(ptxi, letter, bad, says):
    with pytest.raises(ptxi.ArgumentError) as e:
        ptxi.asm('// %0', letter)(bad)
    assert says in str(e.value)


def test_the_byte_order_of_arrays(ptxi):
    assert ptxi.asm('add.u32 %0, %1, 1;', '=r', 'r')(np.array([1, 2], '>u4')).tolist() == [2, 3]
    assert ptxi.asm('add.f32 %0, %1, 0f3F800000;', '=f', 'f')(np.array([1, 2], '>f4')).tolist() == [2, 3]


@pytest.mark.parametrize('text, constraint, x', [('// %0\0', 'r', 1), ('// %0', 'C', 'a\0b')])
def test_zero_bytes(ptxi, text, constraint, x):
    with pytest.raises(ValueError, match='zero byte'):
        ptxi.asm(text, constraint)(x)


def test_the_number_of_arguments(ptxi):
    with pytest.raises(ptxi.ArgumentError, match='1 arguments for 2 input operands: r, r'):
        ptxi.asm('add.u32 %0, %1, %2;', '=r', 'r', 'r')(1)


def test_each_device_has_its_own(ptxi):
    asm = ptxi.asm('mov.u32 %0, %1;', '=r', 'n')
    for profile in ('sm_75', 'sm_90'):
        with ptxi.Device(profile):
            assert asm(3) == 3


def test_integers_of_any_width(ptxi):
    add = ptxi.asm('add.s17 %0, %1, 1;', '=r', 'r')
    with pytest.raises(ptxi.ModuleError, match="'add' has no modifier '.s17'"):
        add(0)
    with ptxi.Device(dialect=ptxi.Dialect.ANY_WIDTH):
        assert add(np.array([0, 0xffff, -1], 'i4')).view('i4').tolist() == [1, -65536, 0]
