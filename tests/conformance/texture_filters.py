"""Cases of textures.py for filters: sums of slices and levels, sRGB, and levels from gradients."""
import math

import texture_cases
import texture_blocks
import texture_ellipses
import texture_limits
import texture_random
from texture_cases import *


def random_float(e, sign, bits):
    """Returns a value in the binade of exponent e with a limited number of fraction bits."""
    return (sign << 31) | ((e + 127) << 23) | (R.getrandbits(23) >> (23 - bits) << (23 - bits))


def slice_weights(fx, fy, share):
    far = (share * fx + 128) >> 8
    near = share - far
    near_near, far_far = (near * (256 - fy) + 128) >> 8, (far * fy + 128) >> 8
    return near_near, far - far_far, near - near_near, far_far


# ---- sums of slices: one texel each, which cancel

def slices():
    for fmt in ('f32', 'f16'):
        for order in (0, 1):
            foot = []; rows = []
            for f in range(1, 256):
                for _ in range(6):
                    w1 = f; w0 = 256 - f
                    a = R.choice((1, -1)) * R.uniform(1, 2)
                    b = -a * w0 / w1
                    if fmt == 'f32':
                        a = bf(fb(a))
                        b = bf(
                            u(
                                fb(b)
                                + R.choice((0, 0, 1, -1, R.randrange(-300, 300), R.randrange(-(1 << 16), 1 << 16)))
                            )
                        )
                    p = len(foot); foot.append((a, b)); rows.append((fb(p + .5), fb(.5), fb(.5 + f / 256)))
            pack = (lambda v: floats(v)) if fmt == 'f32' else (lambda v: struct.pack('<e', v))
            r = res(
                fmt=fmt,
                w=len(foot),
                h=1,
                d=2,
                data=b''.join(pack(a) for a, b in foot) + b''.join(pack(b) for a, b in foot),
            )
            case('cancel/%s-%d' % (fmt, order), tex('3d'), r, T(LINEAR), rows)
            # the same along x, in one slice
            r = res(fmt=fmt, w=2 * len(foot), data=b''.join(pack(a) + pack(b) for a, b in foot))
            case(
                'cancel1/%s-%d' % (fmt, order),
                tex('1d'),
                r,
                T(LINEAR),
                [(fb(2 * k + 0.5 + (bf(z) - 0.5)),) for k, (x, y, z) in enumerate(rows)],
            )
    # different exponents, all signs: the significant bits
    for seed in range(2):
        foot = []; rows = []
        for k in range(0, 30):
            for s in range(4):
                for f in (1, 2, 3, 5, 9, 31, 64, 100, 127, 128, 129, 200, 255):
                    foot.append(
                        struct.pack(
                            '<2I',
                            random_float(0, s & 1, R.choice((23, 23, 3))),
                            random_float(-k, s >> 1, R.choice((23, 23, 3))),
                        )
                    )
                    if seed: foot[-1] = foot[-1][4:] + foot[-1][:4]
                    rows.append((fb(len(foot) - .5), fb(.5), fb(.5 + f / 256)))
        r = res(w=len(foot), h=1, d=2, data=b''.join(x[:4] for x in foot) + b''.join(x[4:] for x in foot))
        case('apart/%d' % seed, tex('3d'), r, T(LINEAR), rows)
    # eight texels, first slice's sum cancels the second's
    foot = []; rows = []
    for _ in range(2000):
        fx, fy, fz = (R.randrange(256) for _ in range(3))
        w = slice_weights(fx, fy, 256 - fz) + slice_weights(fx, fy, fz)
        v = [bf(fb(R.uniform(-1, 1) * 2.0 ** -R.randrange(6))) for _ in range(8)]
        k = max(range(8), key=lambda q: w[q])
        v[k] = bf(fb(-sum(v[q] * w[q] for q in range(8) if q != k) / w[k]))
        v[k] = bf(u(fb(v[k]) + R.randrange(-8, 9))) if v[k] else 1.0
        foot.append(v); rows.append((fb(2 * len(foot) - 1.5 + fx / 256), fb(.5 + fy / 256), fb(.5 + fz / 256)))
    r = res(
        w=2 * len(foot),
        h=2,
        d=2,
        data=b''.join(b''.join(floats(f[2 * q], f[2 * q + 1]) for f in foot) for q in range(4)),
    )
    case('cancel8/f32', tex('3d'), r, T(LINEAR), rows)
    r = res(
        w=2 * 700,
        h=2,
        d=2,
        fmt='f16',
        data=b''.join(struct.pack('<e', R.uniform(-1, 1) * 2.0 ** -R.randrange(12)) for _ in range(700 * 8)),
    )
    case(
        'cancel8/f16',
        tex('3d'),
        r,
        T(LINEAR),
        [
            (
                fb(2 * R.randrange(700) + 0.5 + R.randrange(256) / 256),
                fb(0.5 + R.randrange(256) / 256),
                fb(0.5 + R.randrange(256) / 256),
            )
            for _ in range(8000)
        ],
    )


# ---- levels

def levels():
    foot = []; rows = []
    n = 2048
    for k in range(n // 2):
        f = 1 + k % 255
        a = bf(fb(R.choice((1, -1)) * R.uniform(1, 2)))
        b = bf(u(fb(-a * (256 - f) / f) + R.choice((0, 1, -1, R.randrange(-300, 300)))))
        foot.append((a, b)); rows.append((fb((2 * k + .5) / n), fb(f / 256)))
    data = b''.join(floats(a, a) for a, b in foot) + b''.join(floats(b) for a, b in foot)
    for f in (POINT, LINEAR):
        case(
            'cancel-levels/%d' % f,
            tex('1d', mode='.level', tail=', %c1'),
            res('mip', 'f32', 1, n, 0, 0, 0, 2, data),
            T(f, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
            rows if f == POINT else rows + [(fb(R.random()), fb(R.random())) for _ in range(4000)],
        )
    for fmt in ('f32', 'f16', 'u8', 's8', 'u16', 's16'):
        for dims, w, h, d in ((2, 64, 32, 0), (3, 16, 8, 8)):
            tot = sum(max(1, w >> l) * max(1, h >> l) * max(1, d >> l) for l in range(3))
            r = res(
                'mip',
                fmt,
                1,
                w,
                h,
                d,
                0,
                3,
                b''.join(texels(fmt, R.choice((0, 1, 2, 3, 4, 5, 6)), 1) for _ in range(tot)),
            )
            for f in (POINT, LINEAR):
                case(
                    'blend3/%s-%dd-%d' % (fmt, dims, f),
                    tex('%dd' % dims, mode='.level', tail=', %%c%d' % dims),
                    r,
                    T(f, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
                    [tuple(fb(R.random()) for _ in range(dims)) + (fb(R.uniform(0, 2)),) for _ in range(3000)],
                )
    # coordinate precision: depends on the size of the level or of level 0
    for n in (16384, 12000, 40000 // 2, 9000):
        r = chain('f32', n, 0, 0, 4, lambda l, x, y, z: floats(x))
        for f in (POINT, LINEAR):
            case(
                'level-size/%d-%d' % (n, f),
                tex('1d', mode='.level', tail=', %c1'),
                r,
                T(f, CLAMP, NORM, mipfilter=POINT),
                [(fb(R.random()), fb(l)) for l in range(4) for _ in range(500)],
            )
    r = res(w=8, h=2, d=8193, ch=1, data=floats(*[z for z in range(8193) for _ in range(16)]))
    case('size/z-8193', tex('3d'), r, T(LINEAR, CLAMP, NORM), [(fb(.5), fb(.5), fb(R.random())) for _ in range(500)])
    case(
        'size/x-of-z-8193',
        tex('3d'),
        r,
        T(POINT, CLAMP, NORM),
        [(fb(0.5), fb(0.5), fb(R.random())) for _ in range(500)],
    )
    for n in (65537, 131072, 98304):
        r = res(w=n, data=floats(*[x & 4095 for x in range(n)]))
        for f in (POINT, LINEAR):
            for a in (CLAMP, WRAP, MIRROR):
                case(
                    'size/low-%d-%d-%d' % (n, f, a),
                    tex('1d'),
                    r,
                    T(f, a, NORM),
                    [(fb(R.uniform(-2, 2) if a != CLAMP else R.random()),) for _ in range(400)],
                )
    # levels without coordinates' floats, biases, .base, cubes
    ch = chain('f32', 64, 0, 0, 7, lambda l, x, y, z: floats(l * 100 + x))
    c2 = chain('f32', 64, 16, 0, 7, lambda l, x, y, z: floats(l * 1000 + x + 100 * y))
    cl = chain('f32', 64, 16, 3, 5, lambda l, x, y, z: floats(l * 10000 + x + 100 * y + 2000 * z), flags=LAYERED)
    for bias in (0.0, 1.5, -1.0, 20.0, 15.99):
        for lo, hi in ((0, 100), (2, 3)):
            t = lambda fl=NORM: T(POINT, CLAMP, fl, mipfilter=POINT, bias=bias, min=lo, max=hi)
            g = '%g-%g-%g' % (bias, lo, hi)
            case('plain/1d-' + g, tex('1d'), ch, t(), [(fb(x / 16),) for x in range(16)])
            case('plain/2d-' + g, tex('2d'), c2, t(), [(fb(x / 16), fb(.3)) for x in range(16)])
            case('plain/base-' + g, tex('2d', mode='.base'), c2, t(), [(fb(x / 16), fb(.3)) for x in range(16)])
            case('plain/2d-i-' + g, tex('2d', ct='s32'), c2, t(), [(u(x), u(y)) for x in (0, 1, 5) for y in (0, 1)])
            case(
                'ilevel/2d-' + g,
                tex('2d', ct='s32', mode='.level', tail=', %c2'),
                c2,
                t(),
                [(u(x), u(y), u(l)) for x in (-1, 0, 1, 7, 33) for y in (-1, 0, 1, 5) for l in range(-1, 9)],
            )
            case(
                'ilevel/2du-' + g,
                tex('2d', ct='s32', mode='.level', tail=', %c2'),
                c2,
                t(0),
                [
                    (u(x), u(y), u(l))
                    for x in (0, 7)
                    for y in (0, 1)
                    for l in (-0x80000000, -100, 0, 1, 3, 5, 100, 0x7FFFFFFF)
                ],
            )
            case(
                'ilevel/a2d-' + g,
                'tex.level.a2d.v4.f32.s32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1,%c2,%c2}], %c3;',
                cl,
                t(),
                [
                    (i, u(x), u(y), u(l))
                    for i in (0, 2, 3)
                    for x in (0, 1, 9)
                    for y in (0, 1, 3)
                    for l in range(-1, 6)
                ],
            )
            case(
                'ilevel/1d-' + g,
                tex('1d', ct='s32', mode='.level', tail=', %c1'),
                ch,
                t(),
                [(u(x), u(l)) for x in (0, 7) for l in (-1, 0, 1, 2)],
            )
    case(
        'ilevel/1d-array',
        tex('1d', ct='s32'),
        res(w=9, data=floats(*range(1, 10))),
        T(),
        [(u(x),) for x in range(-2, 12)],
    )
    for kind, f in (('linear', 0), ('linear', 1)):
        case(
            'ilevel/memory-offset-%d' % f,
            tex('1d', ct='s32', tail=', {2}') if f else tex('1d', ct='s32'),
            res('linear', 'f32', 1, 9, data=floats(*range(1, 10))),
            T(),
            [(u(x),) for x in range(-4, 12)],
        )
    c3 = chain('f32', 16, 8, 8, 4, lambda l, x, y, z: floats(l * 10000 + x + 100 * y + 1000 * z))
    case(
        'ilevel/3d',
        tex('3d', ct='s32', mode='.level', tail=', %c3'),
        c3,
        T(POINT, CLAMP, NORM, mipfilter=POINT),
        [(u(x), u(y), u(z), u(l)) for x in (0, 3, 9) for y in (0, 1, 5) for z in (0, 2, 5, 9) for l in range(-1, 5)],
    )
    case(
        'level/a2d',
        'tex.level.a2d.v4.f32.f32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1,%c2,%c2}], %c3;',
        cl,
        T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
        [
            (R.randrange(4), fb(R.uniform(-0.2, 1.2)), fb(R.uniform(-0.2, 1.2)), fb(R.uniform(-1, 5)))
            for _ in range(800)
        ],
    )


# ---- biases of a blend over less than the distance between two levels

def biases():
    r = res('mip', 'f32', 1, 16, 0, 0, 0, 5, b''.join(floats(*[256.0 * l] * (16 >> l)) for l in range(5)))
    for most in (2, 4):
        for bias in (
            0.0,
            1.0,
            -1.0,
            0.5,
            1.441964864730835,
            -1.4675079584121704,
            0.3,
            -1 / 3,
            *(k / 1024 for k in range(-3, 4)),
            0.125,
            0.1875,
        ):
            case(
                'bias/%d-0-%d-%r' % (most, NORM, bias),
                tex('1d', mode='.level', tail=', %c1'),
                r,
                T(POINT, CLAMP, NORM, mipfilter=LINEAR, aniso=most, bias=bias),
                [(fb(0.3), fb((2 * 256 + 3 * k + (k & 3) / 4) / 256)) for k in range(86)],
            )


# ---- single texels of only one level that pass through the filter

def whole_levels():
    for fmt in ('u8', 's8', 'u16', 's16', 'f16', 'f32'):
        size = FORMATS[fmt][1]
        bits = [k << 8 * (size - 1) | (k * 0x9E37 & (1 << 8 * (size - 1)) - 1) for k in range(256)] + [
            R.getrandbits(8 * size) for _ in range(128)
        ]
        r = res('mip', fmt, 1, 256, 0, 0, 0, 2, b''.join(k.to_bytes(size, 'little') for k in bits))
        for flags in (NORM | NOTRI, NORM | NOTRI | SRGB) if fmt == 'u8' else (NORM | NOTRI,):
            t = T(POINT, CLAMP, flags, mipfilter=LINEAR)
            case(
                'whole/%s-%d' % (fmt, flags),
                tex('1d', mode='.level', tail=', %c1'),
                r,
                t,
                [(fb((k + 0.5) / (256 >> l)), fb(l)) for l in (0, 1) for k in range(256 >> l)],
            )
            case('whole/%s-%d-base' % (fmt, flags), tex('1d'), r, t, [(fb((k + .5) / 256),) for k in range(256)])


# ---- colours

def srgb():
    by = lambda n: bytes(R.randrange(256) for _ in range(n))
    for ch in (1, 2, 4):
        for dims, w, h, d in ((1, 64, 0, 0), (2, 32, 32, 0), (3, 16, 16, 16)):
            r = res(fmt='u8', ch=ch, w=w, h=h, d=d, data=by(w * max(h, 1) * max(d, 1) * ch))
            case(
                'srgb3/x%d-%dd' % (ch, dims),
                tex('%dd' % dims),
                r,
                T(LINEAR, CLAMP, SRGB),
                [tuple(fb(R.uniform(0, v)) for v in (w, h, d)[:dims]) for _ in range(3000)],
                ch,
            )
    for dims, w, h, d in ((1, 256, 0, 0), (2, 32, 32, 0), (3, 16, 16, 16)):
        tot = sum(max(1, w >> l) * max(1, h >> l) * max(1, d >> l) for l in range(4))
        r = res('mip', 'u8', 4, w, h, d, 0, 4, by(4 * tot))
        for f in (POINT, LINEAR):
            case(
                'srgb3/mip-%dd-%d' % (dims, f),
                tex('%dd' % dims, mode='.level', tail=', %%c%d' % dims),
                r,
                T(f, CLAMP, SRGB | NORM | NOTRI, mipfilter=LINEAR),
                [tuple(fb(R.random()) for _ in range(dims)) + (fb(R.uniform(0, 3)),) for _ in range(2500)],
                4,
            )
    r = res(fmt='u8', ch=4, w=16, h=16, d=6, flags=CUBE, data=by(16 * 16 * 24))
    for fl in (0, SEAMLESS):
        case(
            'srgb3/cube-%d' % fl,
            tex('cube'),
            r,
            T(LINEAR, CLAMP, SRGB | NORM | fl),
            [tuple(fb(R.uniform(-1, 1)) for _ in range(3)) for _ in range(2000)],
            4,
        )
    r = res(fmt='u8', ch=4, w=8, data=by(32))
    for k in range(40):
        b = tuple(R.choice((R.random(), R.random(), R.randrange(256) / 255, 2.0 ** -R.randrange(14))) for _ in range(4))
        for f in (POINT, LINEAR):
            case(
                'srgb3/border-%d-%d' % (k, f),
                tex('1d'),
                r,
                T(f, BORDER, SRGB, border=b),
                [(fb(x / 16),) for x in range(-20, 20)],
                4,
            )
    case(
        'srgb3/half',
        tex('1d', 'f16'),
        res(fmt='u8', ch=4, w=64, data=by(256)),
        T(LINEAR, CLAMP, SRGB),
        [(fb(R.uniform(0, 64)),) for _ in range(1000)],
        4,
    )
    r = res(fmt='u8', ch=4, w=7, h=5, flags=GATHER, data=by(140))
    case(
        'srgb3/gather',
        'tld4.g.2d.v4.f32.f32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1}];',
        r,
        T(LINEAR, CLAMP, SRGB),
        [(fb(R.uniform(0, 7)), fb(R.uniform(0, 5))) for _ in range(100)],
        4,
    )


# ---- gradients

def grads():
    g1 = lambda: tex('1d', mode='.grad', tail=', {%c1}, {%c2}')
    g2 = lambda: tex('2d', mode='.grad', tail=', {%c2,%c3}, {%c4,%c5}')
    lev = lambda w, h=0, d=0, n=None, fl=0, L=lambda l, x, y, z: floats(l): chain(
        'f32', w, h, d, n or (max(w, h, 0 if fl else d)).bit_length(), L, flags=fl
    )
    lone = lambda **k: T(POINT, CLAMP, NORM | NOTRI, mipfilter=LINEAR, **k)
    for w in (
        3,
        5,
        6,
        7,
        9,
        11,
        13,
        15,
        17,
        19,
        21,
        23,
        25,
        31,
        37,
        51,
        73,
        85,
        100,
        101,
        119,
        127,
        129,
        171,
        200,
        213,
        255,
        257,
        341,
        511,
        513,
        1000,
        1023,
        4095,
    ):
        n = w.bit_length()
        rows = [(fb(.3), fb((1 + k / 1024) * 2.0 ** (e - int(math.log2(w)))), 0) for e in (0,) for k in range(1024)]
        rows += [
            (fb(0.3), fb((1 + R.random()) * 2.0 ** (R.randrange(-1, 1) - int(math.log2(w)))), 0) for _ in range(300)
        ]
        case('gsize/%d' % w, g1(), lev(w, n=n), lone(), rows)
    for h in (3, 100, 37):
        case(
            'gsize/y-%d' % h,
            g2(),
            lev(4, h),
            lone(),
            [(fb(0.3), fb(0.3), 0, fb((1 + k / 1024) * 2.0 ** (-int(math.log2(h)))), 0, 0) for k in range(1024)],
        )
        case(
            'gsize/xy-%d' % h,
            g2(),
            lev(h, 100),
            lone(),
            [
                (fb(0.3), fb(0.3))
                + tuple(fb(R.choice((-1, 1)) * R.random() * 2.0 ** -R.randrange(2, 6)) for _ in range(4))
                for k in range(3000)
            ],
        )
    b = lev(256, 256)
    for name, t in (('', lone()), ('-lin', T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR))):
        rows = []
        for k in range(24):
            a = 2.0 ** -5 * (1 + R.randrange(256) / 256) if k % 3 else 2.0 ** -5 * (1 + k / 24)
            for j in range(0, 513):
                q = (fb(a), fb(R.choice((1, -1)) * a * j / 512))
                rows.append((fb(.3), fb(.6)) + (q if k & 1 else q[::-1]) + (0, 0))
        case('gone/sweep' + name, g2(), b, t, rows)
    rows = []
    for k in range(24):
        a = 2.0 ** -5 * (1 + R.randrange(256) / 256) if k % 3 else 2.0 ** -5 * (1 + k / 24)
        for j in range(0, 513):
            q = (fb(a), fb(R.choice((1, -1)) * a * j / 512))
            rows.append((fb(.3),) + (q if k & 1 else q[::-1]))
    case('gtwo/sweep', g1(), lev(256), lone(), rows)
    case(
        'gtwo/random',
        g2(),
        b,
        lone(),
        [
            (fb(0.3), fb(0.6))
            + tuple(fb(R.choice((-1, 1)) * (1 + R.random()) * 2.0 ** -R.randrange(2, 6)) for _ in range(4))
            for _ in range(12000)
        ],
    )
    case(
        'gtwo/coarse',
        g2(),
        b,
        lone(),
        [
            (fb(0.3), fb(0.6))
            + tuple(fb(R.choice((-1, 1)) * R.randrange(17) / 16 * 2.0 ** -R.randrange(3, 5)) for _ in range(4))
            for _ in range(12000)
        ],
    )
    case(
        'gtwo/fixed',
        g2(),
        b,
        lone(),
        [
            (fb(0.3), fb(0.6)) + tuple(fb(R.choice((-1, 1)) * R.randrange(257) / 256 / 16) for _ in range(4))
            for _ in range(12000)
        ],
    )
    case(
        'gtwo/wrap',
        g2(),
        b,
        T(POINT, WRAP, NORM | NOTRI, mipfilter=LINEAR),
        [
            (fb(0.3), fb(0.6))
            + tuple(fb(R.choice((-1, 1)) * (1 + R.random()) * 2.0 ** -R.randrange(2, 6)) for _ in range(4))
            for _ in range(500)
        ],
    )
    # ranges: small ones with a bias, large ones
    for bias in (0.0, 4.0, 15.0, -3.3, -15.0, 0.7):
        case(
            'grange/%g' % bias,
            g1(),
            lev(256),
            lone(bias=bias),
            [(fb(0.3), fb((1 + R.random()) * 2.0**e), 0) for e in range(-30, 12) for _ in range(12)]
            + [(fb(0.3), b_, c) for b_ in HARD for c in (0, fb(0.01))],
        )
        case(
            'grange/near-%g' % bias,
            g1(),
            lev(256),
            T(POINT, CLAMP, NORM | NOTRI, mipfilter=POINT, bias=bias, min=0.3, max=6.6),
            [(fb(0.3), fb((1 + R.random()) * 2.0**e), 0) for e in range(-12, 3) for _ in range(40)],
        )
    for geometry, w, h, d in (('3d', 64, 64, 64), ('3d', 64, 32, 16), ('cube', 64, 64, 6)):
        cube = geometry == 'cube'
        r = lev(w, h, d, 7, CUBE if cube else 0)
        op = tex(geometry, mode='.grad', tail=', {%c3,%c4,%c5,%c5}, {%c6,%c7,%c8,%c8}')
        rows = [
            (tuple(fb(R.uniform(-1, 1)) for _ in range(3)) if cube else (fb(0.3), fb(0.6), fb(0.2)))
            + tuple(fb(R.choice((-1, 1)) * (1 + R.random()) * 2.0 ** -R.randrange(2, 6)) for _ in range(6))
            for _ in range(3000)
        ]
        case('g%s/random-%d-%d-%d' % (geometry, w, h, d), op, r, lone(), rows)
        rows = []
        for k in range(2000):
            v = [0] * 6
            for axis in R.sample(range(6), 2):
                v[axis] = fb(R.choice((-1, 1)) * R.randrange(1, 64) / 256)
            rows.append((fb(.25), fb(.5), fb(1 if cube else .25)) + tuple(v))
        case('g%s/pairs-%d-%d-%d' % (geometry, w, h, d), op, r, lone(), rows)



def all_cases():
    texture_cases.all_cases()
    R.seed(777)
    for make in (
        slices,
        levels,
        biases,
        srgb,
        grads,
        texture_ellipses.ellipses,
        texture_random.cases,
        texture_blocks.blocks,
        whole_levels,
        texture_limits.limits,
    ):
        make()
    return CASES
