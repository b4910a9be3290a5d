"""Compares floating-point conversions of the ptxi command with NumPy.

The values of a narrow format are listed from its definition and checked against NumPy, and against ml_dtypes if
installed. Rounded results are looked up in this list. Results in f32 come from NumPy, corrected by one ulp for directed
rounding. doc/explanation/numerics.md defines NaNs, .ftz, .sat and .satfinite. Usage: convert.py PTXI"""
import subprocess
import sys
import tempfile

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

U16, U32, U64 = np.uint16, np.uint32, np.uint64
rng = np.random.default_rng(1)


class Format:
    """Format of up to 16 bits. top: count of finite magnitudes; nan: result for NaNs; dtype: reference type."""

    def __init__(self, bits, mantissa, bias, top, infinity, nan, dtype):
        self.bits, self.mantissa, self.bias, self.infinity, self.nan, self.dtype = (
            bits,
            mantissa,
            bias,
            infinity,
            nan,
            dtype,
        )
        m = np.arange(top + 1, dtype=np.int64)          # and the next magnitude after the largest
        e, f = m >> mantissa, m & ((1 << mantissa) - 1)
        f = np.where(e > 0, f + (1 << mantissa), f)
        self.magnitudes = np.ldexp(f.astype(np.float64), np.maximum(e, 1) - bias - mantissa)
        self.top = top
        self.sign = 1 << (bits - 1)

    def values(self):
        """Returns the values of all bit patterns; NaN for patterns without a value."""
        v = np.full(self.sign, np.nan)
        v[:self.top] = self.magnitudes[:self.top]
        if self.infinity:
            v[self.top] = np.inf
        return np.concatenate([v, -v])

    def rounded(self, x, mode, satfinite):
        """Returns the bit patterns of x rounded, an f64 array without NaNs."""
        negative, a = np.signbit(x), np.abs(x)
        low = np.minimum(np.searchsorted(self.magnitudes, a, 'right') - 1, self.top - 1)
        below, above = self.magnitudes[low], self.magnitudes[low + 1]
        middle = (below + above) / 2
        up = {'rn': (a > middle) | ((a == middle) & (low & 1 == 1)), 'rz': np.zeros(len(x), bool),
              'rm': negative & (a > below), 'rp': ~negative & (a > below)}[mode]
        r = low + up
        r = np.where(np.isinf(a), self.top, r)
        if satfinite:
            r = np.minimum(r, self.top - 1)
        return np.where(negative, r + self.sign, r).astype(U64)


def foreign(name):
    return getattr(ml_dtypes, name, None)


FORMATS = {
    'f16': Format(16, 10, 15, 0x7c00, True, 0x7fff, np.float16),
    'bf16': Format(16, 7, 127, 0x7f80, True, 0x7fff, foreign('bfloat16')),
    'e4m3': Format(8, 3, 7, 0x7f, False, 0x7f, foreign('float8_e4m3fn')),
    'e5m2': Format(8, 2, 15, 0x7c, True, 0x7f, foreign('float8_e5m2')),
}
NARROW = tuple(FORMATS)
WIDTH = {'f16': 16, 'bf16': 16, 'f32': 32, 'f64': 64, 'e4m3': 8, 'e5m2': 8}


def check_formats():
    """Checks value lists and rounding against NumPy and ml_dtypes."""
    compared = 0
    for name, f in FORMATS.items():
        if f.dtype is None:
            continue
        theirs = np.arange(1 << f.bits).astype(U16 if f.bits == 16 else np.uint8).view(f.dtype).astype(np.float64)
        assert np.array_equal(theirs, f.values(), equal_nan=True), name
        x = operands(f, np.float32).view(np.float32)
        x = x[np.abs(x) < f.magnitudes[f.top - 1]]
        theirs = x.astype(f.dtype).view(U16 if f.bits == 16 else np.uint8)
        assert np.array_equal(theirs, f.rounded(x.astype(np.float64), 'rn', False)), name
        compared += 1
    return compared


# --- operands, as bit patterns ---

def operands(target, source):
    """Returns values near target values and midpoints, special values of the source, and random bits."""
    unsigned = U32 if source == np.float32 else U64
    if target is None: # f32 from f64
        grid = np.concatenate(
            [rng.integers(0, 1 << 32, 20000).astype(U32), np.arange(0, 1 << 24, 1 << 12).astype(U32)]
        ).view(np.float32)
        grid = np.abs(grid[np.isfinite(grid)])
        with np.errstate(over='ignore'):
            above = np.nextafter(grid, np.float32(np.inf)).astype(np.float64)
        grid = grid.astype(np.float64)
        middles = (grid + np.where(np.isinf(above), 2. ** 128, above)) / 2
        grid = np.concatenate([grid, middles])
    else:
        some = np.concatenate(
            [
                np.arange(min(400, target.top)),
                np.arange(max(0, target.top - 400), target.top),
                rng.integers(0, target.top, 6000),
            ]
        )
        grid = np.concatenate([target.magnitudes[some], (target.magnitudes[some] + target.magnitudes[some + 1]) / 2])
    with np.errstate(over='ignore'):
        grid = grid.astype(source)
    bits = grid.view(unsigned)
    bits = np.concatenate([bits, bits + unsigned(1), bits - unsigned(1)])
    one = np.array([1], source).view(unsigned)[0]
    infinity = np.array([np.inf], source).view(unsigned)[0]
    quiet = unsigned(1) << unsigned(22 if source == np.float32 else 51)
    special = [
        unsigned(0),
        unsigned(1),
        infinity,
        infinity + unsigned(1),
        infinity | quiet,
        infinity | quiet | unsigned(0x12345),
        infinity - unsigned(1),
        infinity | quiet >> unsigned(1),
        one,
        one + unsigned(1),
        one - unsigned(1),
    ]
    if source == np.float64:
        special += [infinity | unsigned(0x1fffffff), infinity | quiet | unsigned(0xabcdef) << unsigned(25)]
    bits = np.concatenate(
        [bits, np.array(special, unsigned), rng.integers(0, 1 << 63, 20000, dtype=np.int64).astype(unsigned)]
    )
    sign = unsigned(1) << unsigned(31 if source == np.float32 else 63)
    return np.concatenate([bits, bits ^ sign])


# --- PTX semantics: source and result are arrays of 64-bit words with bit patterns ---

def numbers(bits, name):
    """Returns the values of bit patterns."""
    if name == 'f32':
        return bits.astype(U32).view(np.float32).astype(np.float64)
    return bits.view(np.float64) if name == 'f64' else FORMATS[name].values()[bits.astype(np.int64)]


def subnormal(bits, exponent, fraction):
    return (bits & U64(exponent) == 0) & (bits & U64(fraction) != 0)


def as_f32(x, mode):
    with np.errstate(over='ignore'):
        c = x.astype(np.float32)
    signed, exact = c, c.astype(np.float64)
    down, up = np.nextafter(c, np.float32(-np.inf)), np.nextafter(c, np.float32(np.inf))
    if mode == 'rm' or mode == 'rz':
        c = np.where((exact > x) & ((mode == 'rm') | (x > 0)), down, c)
    if mode == 'rp' or mode == 'rz':
        c = np.where((exact < x) & ((mode == 'rp') | (x < 0)), up, c)
    return np.copysign(c, signed)


def round_f32(x, mode, ftz):
    c = as_f32(x, mode)
    if ftz:  # flush results that are subnormal after rounding with unbounded exponent
        with np.errstate(over='ignore'):
            tiny = np.abs(as_f32(x * 2. ** 200, mode)) < np.float32(2. ** 74)
        c = np.where(tiny, np.copysign(np.float32(0), c), c)
    return c.view(U32).astype(U64)


def converted_nans(bits, source, target):
    """Implements doc/explanation/numerics.md, "NaN results"."""
    narrow = {'f16': (16, 10), 'bf16': (16, 7), 'f32': (32, 23), 'f64': (64, 52)}
    canonical = {'f32': 0x7fffffff, 'f64': 0x7fffffffe0000000}.get(target) or FORMATS[target].nan
    if 'f64' not in (source, target):
        return np.full(len(bits), canonical, U64)
    (sb, sf), (tb, tf) = narrow[source], narrow[target]             # keep the upper payload bits; set quiet bit
    sign, payload = bits >> U64(sb - 1) & U64(1), bits & U64((1 << sf) - 1)
    payload = payload << U64(tf - sf) if tf >= sf else payload >> U64(sf - tf)
    exponent = ((1 << (tb - 1)) - 1) ^ ((1 << tf) - 1)
    return sign << U64(tb - 1) | U64(exponent | 1 << (tf - 1)) | payload


def convert(bits, source, target, mode='rn', ftz=False, sat=False, relu=False, satfinite=False):
    if ftz and source == 'f32' and target != 'f16':
        bits = np.where(subnormal(bits, 0x7f800000, 0x7fffff), bits & U64(0x80000000), bits)
    if ftz and source == 'bf16':
        bits = np.where(subnormal(bits, 0x7f80, 0x7f), bits & U64(0x8000), bits)
    x = numbers(bits, source)
    nan = np.isnan(x)
    x = np.where(nan, 0, x)
    if target == 'f64':
        r = x.view(U64)
    elif target == 'f32':
        r = round_f32(x, mode, ftz)
    else:
        r = FORMATS[target].rounded(x, mode, satfinite)
    nans = converted_nans(bits, source, target)
    if source == 'bf16' and target == 'f32' and not ftz:
        nans = bits << U64(16)
    if ftz and target == 'f64':
        nans = np.full(len(bits), 0x7fffffffe0000000, U64)
    r = np.where(nan, nans, r)
    if relu:
        r = np.where(~nan & np.signbit(x), U64(0), r)
    if sat:
        one = {'f64': 0x3ff << 52, 'f32': 0x3f800000, 'f16': 0x3c00}[target]
        r = np.where(nan | np.signbit(x), U64(0), np.minimum(r, U64(one)))
    return r


# --- forms: (spelling, target, options); x2 forms have two operands, or one packed operand ---

MODES = ('rn', 'rz', 'rm', 'rp')


def spelled(mode, flags, target, source):
    return 'cvt.' + '.'.join([m for m in (mode,) if m] + [f for f in FLAGS if f in flags] + [target, source])


FLAGS = ('ftz', 'relu', 'sat', 'satfinite')


def subsets(flags):
    return [[f for k, f in enumerate(flags) if n >> k & 1] for n in range(1 << len(flags))]


def forms_of(source):
    """Returns all conversions from a format as (target, mode, flags, packed)."""
    def some(targets, modes, flags=(), packed=False):
        return [(t, m, f, packed) for t in targets for m in modes for f in subsets(flags)]

    narrowing = ('rn', 'rz')
    if source == 'f64':
        return some(['f32'], MODES, ['ftz', 'sat']) + some(['f16'], MODES, ['sat']) + some(['bf16'], MODES)
    if source == 'f32':
        return (
            some(['f64'], [''], ['ftz', 'sat'])
            + some(['f16'], MODES, ['ftz', 'sat'])
            + some(['bf16'], MODES)
            + some(['f16', 'bf16'], narrowing, ['relu', 'satfinite'])
            + some(['f16', 'bf16'], narrowing, ['relu', 'satfinite'], True)
            + [(t, 'rn', f + ['satfinite'], True) for t in ('e4m3', 'e5m2') for f in ([], ['relu'])]
        )
    if source == 'f16':
        return (some(['f32'], [''], ['ftz', 'sat']) + some(['f64', 'f16'], [''], ['sat']) + some(['bf16'], MODES) +
                [(t, 'rn', f + ['satfinite'], True) for t in ('e4m3', 'e5m2') for f in ([], ['relu'])])
    if source == 'bf16':
        return some(['f32'], [''], ['ftz']) + some(['f64'], ['']) + some(['f16'], MODES)
    return some(['f16'], ['rn'], ['relu'], True)


def instruction(source, form):
    """Returns PTX from %a, %b (second operand) or %c (packed operands) to %d (64 bits)."""
    target, mode, flags, packed = form
    width = WIDTH[target]
    if not packed:
        return f'{spelled(mode, flags, target, source)} %o{width}, %a; {widened(width)}'
    if WIDTH[source] == 32:
        text = f'{spelled(mode, flags, target + "x2", source)} %o{2 * width}, %a, %b;'
    else:
        text = f'{spelled(mode, flags, target + "x2", source + "x2")} %o{2 * width}, %c;'
    return f'{text} {widened(2 * width)}'


def widened(width):
    return 'mov.b64 %d, %o64;' if width == 64 else f'cvt.u64.u{width} %d, %o{width};'


def kernel(source, forms):
    width = WIDTH[source]
    register = max(width, 16)
    text = [
        '.version 8.6',
        '.target sm_90',
        '.address_size 64',
        '.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {',
        f'  .reg .b{register} %a, %b; .reg .b{min(2 * width, 64)} %c; .reg .b16 %o16; .reg .b32 %o32, %t, %u, %n; '
        f'.reg .b64 %o64, %d, %i, %p, %s;',
        '  .reg .pred %q; ld.param.u64 %i, [in]; ld.param.u64 %p, [out]; ld.param.u32 %n, [n];',
        '  mov.u32 %t, %tid.x; mov.u32 %u, %ctaid.x; mad.lo.u32 %t, %u, 256, %t; setp.ge.u32 %q, %t, %n; @%q ret;',
        f'  mul.wide.u32 %s, %n, 8; mad.wide.u32 %p, %t, 8, %p; mad.wide.u32 %d, %t, {width // 8}, %i;',
        f'  not.b32 %t, %t; add.u32 %t, %t, %n; mad.wide.u32 %i, %t, {width // 8}, %i;',
        f'  ld.global.b{width} %a, [%d]; ld.global.b{width} %b, [%i];',
    ]
    if width == 8:
        text.append('  shl.b16 %c, %a, 8; or.b16 %c, %c, %b;')
    elif width == 16:
        text.append('  mov.b32 %c, {%b, %a};')
    for form in forms:
        text.append(f'  {instruction(source, form)} st.global.u64 [%p], %d; add.u64 %p, %p, %s;')
    return '\n'.join(text + ['  ret; }', ''])


def run(ptxi, source, bits, forms, directory):
    """Runs all forms on all operands and returns the results."""
    width, n = WIDTH[source], len(bits)
    with open(f'{directory}/k.ptx', 'w') as f:
        f.write(kernel(source, forms))
    bits.astype(f'u{width // 8}').tofile(f'{directory}/in')
    subprocess.run(
        [
            ptxi,
            'run',
            f'{directory}/k.ptx',
            '-g',
            str((n + 255) // 256),
            '-b',
            '256',
            '-a',
            f'u{width}[{n}]=@{directory}/in',
            '-a',
            f'u64[{n * len(forms)}]',
            '-a',
            f'u32={n}',
            '-o',
            f'1={directory}/out',
        ],
        check=True,
    )
    return np.fromfile(f'{directory}/out', U64).reshape(len(forms), n)


def operands_of(source, forms):
    if WIDTH[source] < 32:
        return np.arange(1 << WIDTH[source])
    dtype = np.float32 if source == 'f32' else np.float64
    targets = {form[0] for form in forms if form[0] != 'f64'}
    return np.concatenate([operands(FORMATS.get(t), dtype) for t in sorted(targets)])


def main():
    np.seterr(invalid='ignore')                                     # signalling NaNs are intended
    failed = count = 0
    compared = check_formats()
    with tempfile.TemporaryDirectory() as directory:
        for source in WIDTH:
            forms = forms_of(source)
            bits = operands_of(source, forms).astype(U64)
            results = run(sys.argv[1], source, bits, forms, directory)
            for form, got in zip(forms, results):
                target, mode, flags, packed = form
                want = convert(bits, source, target, mode or 'rn', **{f: True for f in flags})
                if packed:
                    want = want << U64(WIDTH[target]) | want[::-1]
                wrong = np.flatnonzero(got != want)
                count += 1
                if len(wrong):
                    k = wrong[0]
                    failed += 1
                    print(
                        f'{instruction(source, form)} {len(wrong)} of {len(bits)} differ: '
                        f'a {bits[k]:#x}, got {got[k]:#x}, want {want[k]:#x}'
                    )
    print(f'{count} forms, {failed} differ; formats compared with NumPy and ml_dtypes: {compared} of {len(FORMATS)}')
    return failed != 0


sys.exit(main())
