"""Tests of ptxi.testing: the message has the elements that differ, and their distance."""
import ml_dtypes
import numpy as np
import pytest

from ptxi.testing import assert_bits_equal


def message(actual, expected, **options):
    with pytest.raises(AssertionError) as e:
        assert_bits_equal(actual, expected, **options)
    return str(e.value)


def test_equal():
    nan = np.array([np.nan, -0.0], 'f4')
    assert_bits_equal(nan, nan.copy())
    assert_bits_equal(np.zeros((0, 3)), np.zeros((0, 3)))
    assert_bits_equal(np.float32(1), np.float32(1))
    assert_bits_equal(np.arange(6)[::2], [0, 2, 4])


def test_one_ulp():
    x = np.array([[1, 2], [3, 4]], 'f4')
    y = x.copy()
    y[1, 0] = np.nextafter(y[1, 0], np.float32(9))
    assert message(y, x) == ('1 of 4 elements differ, by at most 1 ulp:\n'
                             '  [1, 0]: 3.0000002 (0x40400001), expected 3.0 (0x40400000), 1 ulp')


def test_across_zero_and_nan():
    text = message(np.array([-1e-45, 0.0, np.nan], 'f4'), np.array([1e-45, -0.0, 1.0], 'f4'))
    assert '3 of 3 elements differ, by at most 2 ulp, 1 of them with a NaN' in text
    assert '[1]: 0.0 (0x00000000), expected -0.0 (0x80000000), 0 ulp' in text
    assert text.endswith('[2]: nan (0x7fc00000), expected 1.0 (0x3f800000)')


def test_wide_and_small_types():
    assert '1 ulp' in message(np.array([np.nextafter(1.0, 2)]), np.array([1.0]))
    assert f'{2 * 0x7ff0000000000000} ulp' in message(np.array([-np.inf]), np.array([np.inf]))
    assert '1 ulp' in message(np.array([1.0078125], ml_dtypes.bfloat16), np.array([1], ml_dtypes.bfloat16))
    assert '8 ulp' in message(np.array([2], ml_dtypes.float8_e4m3fn), np.array([1], ml_dtypes.float8_e4m3fn))
    assert '2 ulp' in message(np.array([4], ml_dtypes.float8_e8m0fnu), np.array([1], ml_dtypes.float8_e8m0fnu))
    assert 'ulp' not in message(np.array([1]), np.array([2]))
    assert '1 of 1 elements' in message(np.array([1 + 2j]), np.array([1 + 3j]))
    record = np.dtype([('a', 'u1'), ('b', 'f4')])
    assert '1 of 2 elements' in message(np.array([(1, 2), (3, 4)], record), np.array([(1, 2), (3, 5)], record))


def test_types_and_shapes():
    assert 'the array has type float32, expected float64' in message(np.zeros(1, 'f4'), np.zeros(1))
    assert 'the array has shape (2,), expected (1, 2)' in message(np.zeros(2), np.zeros((1, 2)))


def test_only_the_first_are_listed():
    text = message(np.zeros(10), np.ones(10), first=3)
    assert text.count('expected') == 3 and text.endswith('... and 7 more')
