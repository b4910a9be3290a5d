#!/usr/bin/env python3
"""Derives the coefficient tables of libptxi/num/approx_tables.c from GPU outputs.

    derive_approx.py DUMPS > approx_tables.c

DUMPS holds raw 32-bit outputs. `record.py dump PLAN FORM FIRST COUNT FILE` writes them on a machine with a GPU:

    FILE        FORM                            FIRST       COUNT
    rcp.raw     rcp.approx.ftz.f32 %r0, %r1     0x3f800000  2^23     1 <= a < 2
    rsqrt.raw   rsqrt.approx.ftz.f32 %r0, %r1   0x3f800000  2^24     1 <= a < 4
    sqrt.raw    sqrt.approx.ftz.f32 %r0, %r1    0x3f800000  2^24
    ex2p.raw    ex2.approx.ftz.f32 %r0, %r1     0x3f800000  2^23
    lg2.raw     lg2.approx.ftz.f32 %r0, %r1     0x3f000000  2^24     1/2 <= a < 2
    sin.raw     sin.approx.ftz.f32 %r0, %r1     0x3f800000  3 * 2^23 1 <= a < 8
    tanh.raw    tanh.approx.f32 %r0, %r1        0x3b800000  11 * 2^23  2^-8 <= a < 8

Each unit cuts its canonical range into 64 or 128 segments and evaluates, in integers,

    total = (c0 << shift) + c1 * x + c2 * square(x) + bias

where x is the position in the segment and `square` a squarer that drops the partial products below its last column.
The output is the truncated total. Thus every output bounds the total from both sides. The total is linear in the
coefficients. A linear program finds the centre of the feasible region. Integers near it are checked against every
output. Only the sum of c0 and the bias is known. They are separated by requiring one bias for all segments.
"""
import sys

import numpy as np
from scipy.optimize import linprog

BINADE = 1 << 23
TANH_LEAST = 119                                        # the exponent of the binade from 2^-8
TANH_BITS = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3]          # segments of a binade, as powers of two
TANH_SHIFT = [7, 7, 6, 7, 5, 6, 6, 5, 6, 8, 6]         # 17 - t; c1 and c2 are multiples of 2^t
UNITS = {  # shift, slope, unit of c2
    'rcp': (13, -4, 1),
    'rsqrt': (14, -2, 4),
    'sqrt': (15, 2, 1),
    'ex2': (13, 4, 1),
    'lg2': (12, 8, 2),
    'sin': (11, 0, 1),
}
FINER = {'lg2': 4, 'sin': 4}  # additional bits of c0 and the slope in the table, not in the shift
FOLDED = {                                              # additional term of the table's c0 for row i
    'rcp': lambda i: i << 18,
    'rsqrt': lambda i: ((i & 63) << 18) + ((252 if i < 64 else 251) << 24),
    'sqrt': lambda i: -((i & 63) << 18) + ((124 if i < 64 else 125) << 24),
    'ex2': lambda i: -(i << 19) + (126 << 25),
    'lg2': lambda i: -(i << 24),
    'sin': lambda i: 0,
}


def square(x):
    """x * x / 2^18 for a 17-bit x, each row of partial products cut at the last column, then halved."""
    total = np.zeros_like(x)
    for i in range(17):
        total += np.where(x >> i & 1, x >> (18 - i), 0)
    return total >> 1


def real_solution(x, s, lo, hi):
    """Returns real c1, c2 that keep lo <= c0 + c1 x + c2 s <= hi with the largest margin."""
    unit = float(np.median(hi - lo)) + 1
    xs, ss = float(x.max()), float(s.max())
    low, high = (lo - lo[0]) / unit, (hi - lo[0]) / unit
    rows = np.stack([np.ones(len(x)), x / xs, s / ss], 1)
    active = np.linspace(0, len(x) - 1, 40).astype(int)
    while True:
        a = rows[active]
        one = np.ones((len(active), 1))
        lp = linprog([0, 0, 0, -1], A_ub=np.vstack([np.hstack([a, one]), np.hstack([-a, one])]),
                     b_ub=np.concatenate([high[active], -low[active]]),
                     bounds=[(None, None)] * 3 + [(None, 1)], method='highs')
        value = rows @ lp.x[:3]
        excess = np.maximum(value - high, low - value) + lp.x[3]
        worst = np.argsort(-excess)[:30]
        new = np.setdiff1d(worst[excess[worst] > 1e-9], active)
        if len(new) == 0:
            return lp.x[1] * unit / xs, lp.x[2] * unit / ss
        active = np.union1d(active, new)


def fit_segment(x, s, lo, hi, c2_step, c1_step=1):
    """Returns integers [(c1, c2, least c0, greatest c0)], best first."""
    r1, r2 = real_solution(x, s, lo, hi)
    found = []
    for c2 in range(int(np.floor(r2 / c2_step)) - 1, int(np.floor(r2 / c2_step)) + 3):
        for c1 in range(int(np.floor(r1 / c1_step)) - 2, int(np.floor(r1 / c1_step)) + 4):
            c1 *= c1_step
            rest = c1 * x + c2 * c2_step * s
            least, greatest = int((lo - rest).max()), int((hi - rest).min())
            if least <= greatest:
                found.append((c1, c2, least, greatest))
    return sorted(found, key=lambda f: f[2] - f[3])


def common_bias(fits, shift):
    """Returns a bias with a c0 for every segment: the middle of the longest run of valid biases."""
    votes = np.zeros((1 << shift) + 1, int)
    for _, _, least, greatest in fits:
        if greatest - least >= 1 << shift:
            votes[0] += 1
            votes[-1] -= 1
            continue
        a, b = least % (1 << shift), greatest % (1 << shift)
        votes[a] += 1
        votes[b + 1] -= 1
        if a > b:
            votes[0] += 1
    good = np.flatnonzero(np.cumsum(votes)[:-1] == len(fits))
    if len(good) == 0:
        raise SystemExit('no common bias; best %d of %d' % (np.cumsum(votes)[:-1].max(), len(fits)))
    run = max(np.split(good, np.flatnonzero(np.diff(good) > 1) + 1), key=len)
    return int(run[len(run) // 2]), int(run[0]), int(run[-1])


def fit_unit(name, segments, shift, c2_step=1):
    """segments: [(x, s, lo, hi)]. Returns (rows, bias)."""
    fits = []
    for i, (x, s, lo, hi) in enumerate(segments):
        found = fit_segment(x, s, lo, hi, c2_step)
        if not found:
            raise SystemExit('%s: segment %d has no solution' % (name, i))
        if len(found) > 1:
            print('%s: segment %d has %d solutions' % (name, i, len(found)), file=sys.stderr)
        fits.append(found[0])
    bias, first, last = common_bias(fits, shift)
    print('%s: bias %#x of %#x..%#x, c0 freedom %d..%d' % (name, bias, first, last, min(g - l for _, _, l, g in fits),
          max(g - l for _, _, l, g in fits)), file=sys.stderr)
    rows = [((least - bias + (1 << shift) - 1 >> shift), c1, c2) for c1, c2, least, _ in fits]
    for (c0, _, _), (_, _, least, greatest) in zip(rows, fits):
        assert least <= (c0 << shift) + bias <= greatest
    return rows, bias


# ---- What an output says about the total ----

def significand(out, one_below):
    """Returns the 24-bit significand in units of the given binade. The result is 2^24 at its upper end."""
    return out.astype(np.int64) - (one_below << 23) + BINADE


def cut(values, bits, make):
    n = 1 << bits
    x = np.arange(n, dtype=np.int64)
    return [make(x, values[i * n:(i + 1) * n]) for i in range(len(values) // n)]


def fixed(drop, wide=False):
    """Makes the segments of a unit with the significand total >> drop."""
    return lambda x, f: (x, square(2 * x if wide else x), f << drop, (f + 1 << drop) - 1)


def floating(out, one):
    """Returns bounds of a total that was normalised to a float. The float 1.0 has the total 2^one."""
    exponent = (out >> 23 & 255).astype(np.int64) - 127 + one
    m = (out & (BINADE - 1) | BINADE).astype(np.int64)
    up = np.maximum(exponent - 23, 0)
    down = np.maximum(23 - exponent, 0)
    lo = (m << up) >> down
    return np.where(out == 0, 0, lo), np.where(out == 0, 0, lo + (1 << up) - 1)


def read(folder, name):
    return np.fromfile('%s/%s.raw' % (folder, name), dtype=np.uint32)


def rcp(folder):
    return fit_unit('rcp', cut(significand(read(folder, 'rcp'), 126), 16, fixed(15, True)), 13)


def rsqrt(folder):
    f = significand(read(folder, 'rsqrt'), 126)
    segments = cut(f, 17, fixed(16))
    segments[0] = tuple(column[1:] for column in segments[0])           # 1 gives exactly 1, an exception
    return fit_unit('rsqrt', segments, 14, 4)


def sqrt(folder):
    return fit_unit('sqrt', cut(significand(read(folder, 'sqrt'), 127), 17, fixed(17)), 15)


def ex2(folder):
    return fit_unit('ex2', cut(significand(read(folder, 'ex2p'), 128), 17, fixed(15)), 13)


def lg2(folder):
    out = read(folder, 'lg2')[BINADE:].astype(np.int64)
    lo, hi = floating(out, 36)
    n = 1 << 17
    x = np.arange(n, dtype=np.int64)
    s = square(x)
    segments = [(x, s, lo[i:i + n] << 2, (hi[i:i + n] << 2) + 3) for i in range(0, BINADE, n)]
    segments[0] = tuple(column[1:] for column in segments[0])           # 1 gives exactly 0, an exception
    return fit_unit('lg2', segments, 12, 2)


def turns(x_bits):
    """Converts x > 0 to quarter turns in 2.23 fixed point. This is the input of the sin and cos units."""
    m = (x_bits & (BINADE - 1) | BINADE).astype(np.int64) * 0xa2f983
    e = (x_bits >> 23 & 255).astype(np.int64) - 127 - 3
    carry = m >> 47
    t = m >> (23 + carry)
    e = e + carry + 2
    return np.where(e >= 0, t << np.clip(e, 0, 30), t >> np.clip(-e, 0, 30)) & 0x1ffffff


def sin(folder):
    out = read(folder, 'sin').astype(np.int64)
    q = turns(np.arange(0x3f800000, 0x3f800000 + len(out), dtype=np.int64))
    f = np.where(q >> 23 & 1, ~q, q) & (BINADE - 1)
    lo, hi = floating(out & 0x7fffffff, 37)
    segments = []
    for i in range(64):
        pick = np.flatnonzero(f >> 17 == i)
        x, keep = np.unique(f[pick] & 0x1ffff, return_index=True)
        segments.append((x, square(x), lo[pick][keep], hi[pick][keep]))
    return fit_unit('sin', segments, 11)


def tanh(folder):
    """A binade has 1 to 16 segments. Bits below the 17 bits of x do not affect the output."""
    out = read(folder, 'tanh').astype(np.int64)
    rows = []
    for binade, bits in enumerate(TANH_BITS):
        o = out[binade * BINADE:(binade + 1) * BINADE].reshape(-1, 1 << (6 - bits))
        assert (o == o[:, :1]).all()
        lo, hi = floating(o[:, 0], 48)
        for i in range(1 << bits):
            x = np.arange(1 << 17, dtype=np.int64)
            part = slice(i << 17, (i + 1) << 17)
            found = []
            for step in (4096, 2048, 1024, 512, 256):
                found = fit_segment(x, step * square(x), lo[part], hi[part], 1, step)
                if found:
                    break
            c1, c2, least, greatest = found[0]
            rows.append(((least + greatest) // 2, c1, c2 * step))
    return rows


def words(linear, square_step):
    """Packs the two signed 16-bit factors of a row into one number."""
    assert -0x8000 <= linear < 0x8000 and -0x8000 <= square_step < 0x8000
    return (linear & 0xffff) << 16 | (square_step & 0xffff)


def packed(name, rows):
    """Packs rows in the format of num/approx.h: c1 without the slope, and c0 with the contribution of the middle of x.

    A slope is a multiple of the whole operand. c0 subtracts the part of it that is not in x, and adds the result's
    exponent."""
    shift, slope, c2_step = UNITS[name]
    result = []
    for i, (c0, c1, c2) in enumerate(rows):
        c1 -= slope << shift
        c0 = (c0 + (c1 << 15 >> shift) << FINER.get(name, 0)) + FOLDED[name](i)
        result.append((c0 & 0xffffffff, words(c1, c2_step * c2)))
    return result


def packed_tanh(rows):
    """Does the same for tanh. The sum is in units of 2^17. c1 and c2 are in units of the binade's 2^t.

    2^15 of these units are subtracted from c1."""
    result = []
    for binade, (bits, n) in enumerate(zip(TANH_BITS, TANH_SHIFT)):
        for c0, c1, c2 in rows[len(result):len(result) + (1 << bits)]:
            t = 17 - n
            step = (c1 | c2) & -(c1 | c2)                               # lower bits of c0 have no effect
            assert step >= 1 << t and (c0 & -step) % (1 << 17) == 0
            c1 = (c1 >> t) - 0x8000
            result.append(((c0 >> 17) + (c1 << 15 >> n), words(c1, -(abs(c2) >> t))))
    return result


# Half rows: the rows that c0 takes half of in, and the shift of c1.
HALVES = {
    'rcp': 'TWICE, PAIR',
    'rsqrt': 'ONCE, HALVES_14',
    'sqrt': 'ONCE, HALVES_15',
    'ex2': 'TWICE, HALVES_13',
    'lg2': 'TWICE, HALVES_8',
    'sin': 'TWICE, HALVES_7',
    'tanh': 'ONCE, HALVES',
}
EIGHTS = '''
const struct ptxi_num_columns128 ptxi_num_rsqrt_eights = {
    { RSQRT_ROWS(EIGHTS_FIRST) }, { RSQRT_ROWS(EIGHTS_SECOND) }, { RSQRT_ROWS(EIGHTS_TURNED) }
};'''
MACROS = r'''#define PAIR(c0, c12, ...) { c0, c12 },
#define FIRST(c0, c12, ...) c0,
#define SECOND(c0, c12, ...) c12,
#define TURNED(c0, c12, ...) (uint32_t)(c12) << 16 | (c12) >> 16,
#define FIRST_LESS(c0, c12) (c0) - 0x10000,
#define HALVES(c0, c12, shift) { c0, c12 }, { (c0) + (C1(c12) << (16 - (shift))), c12 },
#define HALVES_13(c0, c12) HALVES(c0, c12, 13)
#define HALVES_14(c0, c12) HALVES(c0, c12, 14)
#define HALVES_15(c0, c12) HALVES(c0, c12, 15)
#define HALVES_8(c0, c12) HALVES((c0) - (127u << 30), c12, 8)
#define HALVES_7(c0, c12) HALVES(c0, c12, 7)
#define C1(c12) (((c12) >> 16 ^ 0x8000u) - 0x8000u)
#define EIGHTS_FIRST(c0, c12) (c0) - 2 * C1(c12),
#define EIGHTS_SECOND(c0, c12) (0u - C1(c12)) << 16 | ((0u - ((c12) & 0xffff) / 4) & 0xffff),
#define EIGHTS_TURNED(c0, c12) ((0u - C1(c12)) & 0xffff) | (0u - ((c12) & 0xffff) / 4) << 16,
#define ONCE(ROWS, ROW) ROWS(ROW)
#define TWICE(ROWS, ROW) ROWS(ROW) ROWS(ROW)
#define TABLE(name, size, ROWS, FIRST, BYTES, ROW)                                             \
    const struct ptxi_num_table##size ptxi_num_##name = {                                      \
        { ROWS(PAIR) }, { ROWS(FIRST) }, { ROWS(SECOND) }, { ROWS(TURNED) }, { BYTES(ROWS, ROW) } \
    };
'''


def table(name, rows):
    columns = 3 if len(rows[0]) > 2 else 4
    words = ['ROW(0x%08x, 0x%08x%s)' % (row[:2] + (', %d' % row[2] if row[2:] else '',)) for row in rows]
    lines = ['    ' + ' '.join(words[i:i + columns]) for i in range(0, len(words), columns)]
    parts = [lines[i:i + 24] for i in range(0, len(lines), 24)]         # a macro has at most 25 lines
    names = (
        ['%s_ROWS' % name.upper()]
        if len(parts) == 1
        else ['%s_ROWS_%d' % (name.upper(), k + 1) for k in range(len(parts))]
    )
    for part, macro in zip(parts, names):
        print('#define %s(ROW) \\\n%s' % (macro, ' \\\n'.join(part)))
    if len(parts) > 1:
        print('#define %s_ROWS(ROW) %s' % (name.upper(), ' '.join(macro + '(ROW)' for macro in names)))
    first = 'FIRST_LESS' if name == 'sin' else 'FIRST'
    print(
        'TABLE(%s, %d, %s_ROWS, %s, %s)%s\n'
        % (name, len(rows), name.upper(), first, HALVES[name], EIGHTS if name == 'rsqrt' else '')
    )


def by_exponent(values):
    """Returns values of binades, indexed by the last 4 bits of their exponents."""
    result = [0] * 16
    for k, value in enumerate(values):
        result[TANH_LEAST + k & 15] = value
    return result


def tanh_first():
    """Returns the first row of each binade. It is a multiple of the binade's number of rows.

    It is below 32 for binades with sums shifted by 5. With AVX-512 the row number shifted by 5 is then 0."""
    first, n = [0] * len(TANH_BITS), 0
    for k in sorted(range(len(TANH_BITS)), key=lambda k: (TANH_SHIFT[k] != 5, -TANH_BITS[k])):
        rows = 1 << TANH_BITS[k]
        first[k] = n = -(-n // rows) * rows
        n += rows
        assert n <= 32 or TANH_SHIFT[k] != 5
    return first


def placed_tanh(rows):
    """64 rows, as tanh_first() has them, with their shifts."""
    result = [(0, 0, 0)] * 64
    for first, bits, shift in zip(tanh_first(), TANH_BITS, TANH_SHIFT):
        result[first:first + (1 << bits)], rows = [row + (shift,) for row in rows[:1 << bits]], rows[1 << bits:]
    return result


def write_tanh_words(name, values):
    words = ['0x%02x' % v for v in by_exponent(values)]
    print('const _Alignas(64) uint32_t ptxi_num_tanh_%s[16] = {\n    %s\n};' % (name, ', '.join(words)))


def write_tanh_binades():
    down = [6 - bits for bits in TANH_BITS]
    half = [
        2 * first - (TANH_LEAST + k << bits + 1) & 0xFF
        for k, (first, bits) in enumerate(zip(tanh_first(), TANH_BITS))
    ]
    for name, values in (('down', down), ('shift', TANH_SHIFT), ('half', half), ('first', tanh_first())):
        print(
            'const _Alignas(16) uint8_t ptxi_num_tanh_%s[16] = { %s };'
            % (name, ', '.join('%d' % v for v in by_exponent(values)))
        )
    write_tanh_words('turn', [d + 17 for d in down])
    write_tanh_words(
        'mark', [(f ^ TANH_LEAST + k << bits) & 0x3F for k, (f, bits) in enumerate(zip(tanh_first(), TANH_BITS))]
    )
    write_tanh_words('shift_words', TANH_SHIFT)


def write(units, tanh_rows):
    """units: {name: (rows, bias)}"""
    print('/* Coefficients of the approximation units; written by tests/conformance/derive_approx.py. */')
    print('#include "num/approx.h"\n')
    print(MACROS)
    for name, (rows, bias) in units.items():
        if bias:
            print('_Static_assert(PTXI_%s_BIAS == %#x, "the bias belongs to the table");\n' % (name.upper(), bias))
        if name in ('rsqrt', 'sqrt'):
            rows = rows[64:] + rows[:64]                                # by the exponent's last bit
        table(name, packed(name, rows))
    table('tanh', placed_tanh(packed_tanh(tanh_rows)))
    write_tanh_binades()


def main():
    write({unit.__name__: unit(sys.argv[1]) for unit in (rcp, rsqrt, sqrt, ex2, lg2, sin)}, tanh(sys.argv[1]))


if __name__ == '__main__':
    main()
