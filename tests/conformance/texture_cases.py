"""The cases of textures.py: instructions, resources, samplers and coordinates. They are deterministic."""
import array
import random
import struct

from texture_driver import *

R = random.Random(12345)
CASES = []


def fb(x):
    try:
        return struct.unpack('<I', struct.pack('<f', x))[0]
    except OverflowError:
        return 0x7f800000 if x > 0 else 0xff800000


def bf(b):
    return struct.unpack('<f', struct.pack('<I', b & 0xffffffff))[0]


def u(i):
    return i & 0xffffffff


def ulp(x, n):
    """Returns the float n ulps from x > 0."""
    return bf(fb(x) + n)


def res(kind='array', fmt='f32', ch=1, w=1, h=0, d=0, flags=0, levels=1, data=b'', **more):
    return dict(kind=kind, fmt=fmt, ch=ch, w=w, h=h, d=d, flags=flags, levels=levels, data=bytes(data), **more)


def floats(*v):
    return struct.pack('<%df' % len(v), *v)


def case(name, op, r, t, rows, nout=1):
    nin = len(rows[0])
    a = array.array('I')
    for x in rows:
        a.extend(x)
    CASES.append(dict(name=name, op=op, res=r, tex=t, rows=a, nin=nin, nout=nout))


COORD = {
    '1d': '{%c0}',
    '2d': '{%c0,%c1}',
    '3d': '{%c0,%c1,%c2,%c2}',
    'a1d': '{%c0,%c1}',
    'a2d': '{%c0,%c1,%c2,%c2}',
    'cube': '{%c0,%c1,%c2,%c2}',
    'acube': '{%c0,%c1,%c2,%c3}',
}


def tex(geom, dt='f32', ct='f32', mode='', tail=''):
    regs = ','.join('%%%s%d' % ('h' if dt == 'f16' else 'd', k) for k in range(4))
    return 'tex%s.%s.v4.%s.%s {%s}, [%%t, %s]%s;' % (mode, geom, dt, ct, regs, COORD[geom], tail)


def T(filter=POINT, addr=CLAMP, flags=0, **kw):
    return dict(filter=filter, addr=addr if isinstance(addr, tuple) else (addr,) * 3, flags=flags, **kw)


# ---- weights and positions

def weights():
    ramp = res(w=64, data=floats(*range(64)))
    rows = [(fb(k / 2048),) for k in range(-2048, 3 * 2048)]
    for base in (0.5, 1, 2, 5, 33, 60):
        for j in range(256):
            for n in (-2, -1, 0, 1, 2):
                rows.append((fb(ulp(base + (2 * j + 1) / 512, n)),))
    case('weights/1d', tex('1d'), ramp, T(LINEAR), rows)
    wide = res(w=65536, data=floats(*range(65536)))
    case('weights/wide', tex('1d'), wide, T(LINEAR), [(fb(R.uniform(0, 65536)),) for _ in range(4096)])
    case(
        'weights/wide-point',
        tex('1d'),
        wide,
        T(POINT),
        [(fb(R.uniform(0, 65536)),) for _ in range(2048)]
        + [(fb(ulp(float(k), n)),) for k in range(1, 65536, 97) for n in (-2, -1, 0, 1)],
    )
    for n in (1, 2, 3, 5, 7, 37, 64, 100, 1000, 4096, 5000, 16384, 65536):
        r = res(w=n, data=floats(*range(n)))
        for f in (LINEAR, POINT):
            rows = [(fb(R.random()),) for _ in range(1500)]
            for _ in range(500):
                at = (R.randrange(n * 256) + R.choice((0, 0.5))) / 256 / n
                if at > 0:
                    rows += [(fb(ulp(at, k)),) for k in (-3, -2, -1, 0, 1, 2, 3)]
            for addr in (CLAMP,) + ((WRAP, MIRROR) if n in (1, 3, 37, 64, 1000) else ()):
                more = (
                    rows
                    if addr == CLAMP
                    else [(fb(R.uniform(-4, 4)),) for _ in range(1500)]
                    + [(fb(ulp(abs(bf(a)) + 1, 0)),) for a, in rows[1500:3000]]
                )
                case('weights/norm-%d-%d-%d' % (n, f, addr), tex('1d'), r, T(f, addr, NORM), more)
    w, h, d = 37, 53, 11
    r = res(ch=2, w=w, h=h, data=b''.join(floats(x, y) for y in range(h) for x in range(w)))
    for fl in (0, NORM):
        s = (1, 1, 1) if fl else (w, h, d)
        case(
            'weights/2d-%d' % fl,
            tex('2d'),
            r,
            T(LINEAR, CLAMP, fl),
            [(fb(R.uniform(-0.1, 1.1) * s[0]), fb(R.uniform(-0.1, 1.1) * s[1])) for _ in range(4096)],
            2,
        )
        r3 = res(
            ch=4,
            w=w,
            h=h,
            d=d,
            data=b''.join(floats(x, y, z, 1) for z in range(d) for y in range(h) for x in range(w)),
        )
        case(
            'weights/3d-%d' % fl,
            tex('3d'),
            r3,
            T(LINEAR, CLAMP, fl),
            [tuple(fb(R.uniform(-0.1, 1.1) * v) for v in s) for _ in range(4096)],
            4,
        )


# ---- arithmetic of the filter

def texels(fmt, p, n):
    """Returns n texels of pool class p."""
    size = FORMATS[fmt][1]
    if fmt[0] != 'f':
        top = (1 << 8 * size) - 1
        pick = {
            0: lambda: R.choice((0, 1, top, top >> 1, (top >> 1) + 1)),
            1: lambda: R.choice((0, top)),
            2: lambda: R.randrange(16),
        }.get(p % 8, lambda: R.randint(0, top))
        return b''.join(pick().to_bytes(size, 'little') for _ in range(n))
    e, m = (8, 23) if fmt == 'f32' else (5, 10)
    bias = (1 << e - 1) - 1
    base = R.randrange(bias - 6, bias + 6)

    def make(exp, man, sign=0):
        return (sign << e + m) | (max(0, min((1 << e) - 1, exp)) << m) | man
    rnd = lambda: R.randrange(1 << m)
    c = p % 8
    if c == 0:
        v = [make(base, rnd()) for _ in range(n)]
    elif c == 1:
        v = [make(base - R.randrange(5), rnd()) for _ in range(n)]
    elif c == 2:
        v = [make(base - R.randrange(30), rnd(), R.randrange(2)) for _ in range(n)]
    elif c == 3:
        v = [make(base - R.randrange(3), rnd(), R.randrange(2)) for _ in range(n)]
    elif c == 4:
        q = rnd()
        v = [make(base, max(0, min((1 << m) - 1, q + R.randrange(-3, 4))), 0) for _ in range(n)]
    elif c == 5:
        v = [R.choice((0, 0, make(bias, 0), make(base, rnd()))) for _ in range(n)]
    elif c == 6:
        v = [make(base - R.randrange(12), 0, R.randrange(2)) for _ in range(n)]
    else:
        v = [
            R.choice(
                (
                    R.randrange(1 << 1 + e + m),
                    make(0, rnd(), R.randrange(2)),
                    make((1 << e) - 2, rnd(), R.randrange(2)),
                    make((1 << e) - 1, R.choice((0, 0, rnd())), R.randrange(2)),
                    1 << e + m,
                )
            )
            for _ in range(n)
        ]
    return b''.join(x.to_bytes(size, 'little') for x in v)


def grid(dims, fmt, pairs, ch=1):
    """Returns a texture of `pairs` adjacent footprints. Footprint p covers x = 2p, 2p + 1 and y, z = 0, 1."""
    size = FORMATS[fmt][1] * ch
    n = 2 ** dims
    foot = [texels(fmt, p, n * ch) for p in range(pairs)]
    rows = []
    for yz in range(n // 2):
        rows.append(b''.join(f[2 * yz * size:(2 * yz + 2) * size] for f in foot))
    return res(fmt=fmt, ch=ch, w=2 * pairs, h=2 if dims > 1 else 0, d=2 if dims > 2 else 0, data=b''.join(rows))


def arith():
    for fmt in ('f32', 'f16', 'u8', 's8', 'u16', 's16'):
        for dims in (1, 2, 3):
            pairs, each = 2048, 12
            r = grid(dims, fmt, pairs)
            rows = []
            for p in range(pairs):
                for _ in range(each):
                    rows.append(
                        (
                            fb(
                                2 * p
                                + 0.5
                                + R.choice(
                                    (
                                        0,
                                        1,
                                        128,
                                        255,
                                        R.randrange(256),
                                        R.randrange(256),
                                        R.randrange(256),
                                        R.randrange(256),
                                    )
                                )
                                / 256
                            ),
                        )
                        + tuple(
                            fb(
                                0.5
                                + R.choice(
                                    (
                                        0,
                                        1,
                                        128,
                                        255,
                                        R.randrange(256),
                                        R.randrange(256),
                                        R.randrange(256),
                                        R.randrange(256),
                                    )
                                )
                                / 256
                            )
                            for _ in range(dims - 1)
                        )
                    )
            case('arith/%s-%dd' % (fmt, dims), tex('%dd' % dims), r, T(LINEAR), rows)
            case('arith/%s-%dd-half' % (fmt, dims), tex('%dd' % dims, 'f16'), r, T(LINEAR), rows[::8])
    for fmt, one in (('f32', floats(1)), ('u8', b'\xff'), ('f16', b'\x00\x3c')):
        z = b'\0' * len(one)
        r = res(fmt=fmt, w=2, h=2, data=z + z + z + one)
        case(
            'onehot/%s-2d' % fmt,
            tex('2d'),
            r,
            T(LINEAR),
            [(fb(0.5 + a / 256), fb(0.5 + b / 256)) for a in range(256) for b in range(256)],
        )
        for k in range(8):
            r = res(fmt=fmt, w=2, h=2, d=2, data=z * k + one + z * (7 - k))
            case(
                'onehot/%s-3d-%d' % (fmt, k),
                tex('3d'),
                r,
                T(LINEAR),
                [tuple(fb(0.5 + R.randrange(256) / 256) for _ in range(3)) for _ in range(2048)],
            )
    for fmt in ('f32', 'u8', 's16', 'f16'):
        for ch in (2, 4):
            r = grid(2, fmt, 128, ch)
            case(
                'arith/%s-2d-x%d' % (fmt, ch),
                tex('2d'),
                r,
                T(LINEAR),
                [
                    (fb(2 * R.randrange(128) + 0.5 + R.randrange(256) / 256), fb(0.5 + R.randrange(256) / 256))
                    for _ in range(1024)
                ],
                4,
            )
    # the lowest significant bit relative to the larger term: 1 plus a small value
    foot = []
    for k in range(48):
        for s in (1.0, -1.0):
            foot += [1.0, s * 2.0 ** -k, s * 1.9999998 * 2.0 ** -k, 1.0]
    r = res(w=len(foot), data=floats(*foot))
    case(
        'gap/1d',
        tex('1d'),
        r,
        T(LINEAR),
        [
            (fb(2 * p + 0.5 + a / 256),)
            for p in range(len(foot) // 2)
            for a in (0, 1, 2, 3, 5, 64, 85, 127, 128, 129, 170, 192, 251, 254, 255)
        ],
    )
    r = res(w=2, data=floats(1, 1))
    for name, bits in (('f32', 0x3f800001), ('f32', 0x3fffffff), ('f32', 0x4b7fffff)):
        for dims in (1, 2, 3):
            r = res(w=2, h=2 if dims > 1 else 0, d=2 if dims > 2 else 0, data=struct.pack('<I', bits) * 2 ** dims)
            case(
                'equal/%x-%dd' % (bits, dims),
                tex('%dd' % dims),
                r,
                T(LINEAR),
                [tuple(fb(0.5 + R.randrange(256) / 256) for _ in range(dims)) for _ in range(512)],
            )
    # sRGB
    r = res(
        fmt='u8',
        ch=4,
        w=256,
        h=2,
        data=bytes(x for x in range(256) for _ in range(4)) + bytes(R.randrange(256) for _ in range(1024)),
    )
    case(
        'srgb/point',
        tex('2d'),
        r,
        T(POINT, CLAMP, SRGB),
        [(fb(x + 0.5), fb(y + 0.5)) for y in (0, 1) for x in range(256)],
        4,
    )
    case(
        'srgb/linear',
        tex('2d'),
        r,
        T(LINEAR, CLAMP, SRGB),
        [(fb(R.uniform(0, 256)), fb(R.uniform(0, 2))) for _ in range(4096)],
        4,
    )
    for ch in (1, 2):
        r = res(fmt='u8', ch=ch, w=256, data=bytes(x for x in range(256) for _ in range(ch)))
        case('srgb/point-x%d' % ch, tex('1d'), r, T(POINT, CLAMP, SRGB), [(fb(x + .5),) for x in range(256)], 4)
    r = res(fmt='u16', ch=4, w=256, data=bytes(R.randrange(256) for _ in range(2048)))
    case('srgb/u16', tex('1d'), r, T(POINT, CLAMP, SRGB), [(fb(x + .5),) for x in range(256)], 4)


# ---- reading formats

SPECIAL32 = [
    0,
    0x80000000,
    1,
    0x80000001,
    0x7FFFFF,
    0x800000,
    0x3F800000,
    0xBF800000,
    0x7F7FFFFF,
    0xFF7FFFFF,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0x7F800001,
    0xFFC12345,
    0x33000000,
    0x33000001,
    0x32FFFFFF,
    0x387FC000,
    0x387FE000,
    0x38800000,
    0x477FE000,
    0x477FEFFF,
    0x477FF000,
    0x3F801000,
    0x3F803000,
    0x3F802FFF,
    0x3F801001,
    0x3FC00000,
    0x3F000000,
    0x4F000000,
    0xCF000000,
    0x4F800000,
]


def formats():
    for fmt in ('u8', 's8', 'u16', 's16', 'f16'):
        size = FORMATS[fmt][1]
        n = 256 if size == 1 else 65536
        r = res(fmt=fmt, w=n, data=b''.join(k.to_bytes(size, 'little') for k in range(n)))
        rows = [(fb(k + .5),) for k in range(n)]
        case('read/%s' % fmt, tex('1d'), r, T(), rows)
        if n == 256 or fmt == 'f16':
            case('read/%s-half' % fmt, tex('1d', 'f16'), r, T(), rows)
        else:
            case('read/%s-half' % fmt, tex('1d', 'f16'), r, T(), rows[::13])
        # linear filter at texel centres: compare with the point value
        case('read/%s-linear' % fmt, tex('1d'), r, T(LINEAR), rows[::1 if n == 256 else 5])
    bits = (
        SPECIAL32
        + [R.getrandbits(32) for _ in range(2000)]
        + [0x38000000 + R.randrange(0x10000000) for _ in range(2000)]
    )
    r = res(w=len(bits), data=array.array('I', bits).tobytes())
    rows = [(fb(k + .5),) for k in range(len(bits))]
    case('read/f32-half', tex('1d', 'f16'), r, T(), rows)
    case('read/f32', tex('1d'), r, T(), rows[:256])
    case('read/f32-linear', tex('1d'), r, T(LINEAR), rows[:2048])
    for fmt in FORMATS:
        for ch in (1, 2, 4):
            data = bytes(R.randrange(256) for _ in range(16 * ch * FORMATS[fmt][1] - 4)) + b'\xff\x7f\x80\x01'
            r = res(fmt=fmt, ch=ch, w=16, data=data)
            for fl in (0, INT):
                for dt in ('u32', 's32', 'f32', 'f16'):
                    case(
                        'channels/%s-x%d-%d-%s' % (fmt, ch, fl, dt),
                        tex('1d', dt),
                        r,
                        T(POINT, CLAMP, fl),
                        [(fb(k + 0.5),) for k in range(16)],
                        4,
                    )
            case(
                'channels/%s-x%d-f16x2' % (fmt, ch),
                'tex.1d.v2.f16x2.f32 {%d0,%d1}, [%t, {%c0}];',
                r,
                T(),
                [(fb(k + 0.5),) for k in range(16)],
                2,
            )
        if fmt[1:] == '32' and fmt[0] != 'f' or fmt in ('u8', 's16'):
            r = res(fmt=fmt, w=8, data=bytes(R.randrange(256) for _ in range(8 * FORMATS[fmt][1])))
            for dt in ('u32', 'f32'):
                try:
                    case(
                        'channels/%s-int-linear-%s' % (fmt, dt),
                        tex('1d', dt),
                        r,
                        T(LINEAR, CLAMP, INT),
                        [(fb(k / 16),) for k in range(-8, 140)],
                        4,
                    )
                except Failure:
                    pass


# ---- address modes

HARD = [
    0x7FC00000,
    0xFFC00000,
    0x7F800000,
    0xFF800000,
    0,
    0x80000000,
    1,
    0x80000001,
    fb(1e9),
    fb(-1e9),
    fb(2.0**31),
    fb(-(2.0**31)),
    fb(2.0**32),
    fb(1e20),
    fb(-1e20),
    fb(3e38),
    fb(2.0**23 + 1),
    fb(2.0**24),
    fb(2.0**22 + 0.5),
    fb(2.0**16 + 0.25),
    fb(-(2.0**16) + 0.25),
    fb(131072.5),
    fb(-131072.5),
    fb(2.0**20 + 0.3),
    fb(1e5 + 0.7),
    fb(-1e5 - 0.7),
    fb(2.0**23 - 0.5),
    fb(2.0**24 - 1),
    fb(2.0**25),
    fb(2.0**30),
    fb(-(2.0**20) - 0.3),
    0x00800000,
    0x33000000,
    0xB3000000,
    0x3B000000,
    0xBB000000,
    0x3B000001,
    0xBB000001,
    0x3AFFFFFF,
    0xBAFFFFFF,
]


def addressing():
    for n in (1, 2, 3, 5, 8, 37, 100):
        r = res(w=n, data=floats(*[k + 1 for k in range(n)]))
        for fl in (0, NORM):
            s = 1 if fl else n
            rows = [(b,) for b in HARD]
            for k in (-3, -2, -1, -.5, 0, .5, 1, 1.5, 2, 3, 7):
                for e in (-1e-3, -1 / 512 / n, 0, 1 / 512 / n, 1 / 256 / n, 1e-3, .5 / n, -.5 / n, 1 / n, -1 / n):
                    x = (k + e) * s
                    rows += [(fb(x),), (u(fb(x) + 1),), (u(fb(x) - 1),)]
            rows += [(fb(R.uniform(-5, 5) * s),) for _ in range(200)] + [
                (fb(R.uniform(-5000, 5000) * s),) for _ in range(50)
            ]
            for f in (POINT, LINEAR):
                for a in range(4):
                    case(
                        'address/%d-%d-%d-%d' % (n, fl, f, a),
                        tex('1d'),
                        r,
                        T(f, a, fl, border=(-100.25, 1, 2, 3)),
                        rows,
                    )
    r = res(w=4, h=4, d=4, ch=1, data=floats(*range(64)))
    for fl in (0, NORM):
        for f in (POINT, LINEAR):
            for a in ((WRAP, CLAMP, BORDER), (MIRROR, BORDER, WRAP), (BORDER, MIRROR, CLAMP)):
                case(
                    'address/3d-%d-%d-%d%d%d' % ((fl, f) + a),
                    tex('3d'),
                    r,
                    T(f, a, fl, border=(-7.5, 1, 2, 3)),
                    [tuple(fb(R.uniform(-2, 3) * (1 if fl else 4)) for _ in range(3)) for _ in range(512)],
                )
    colours = [
        (0.3, -0.5, 2.0, 1e-3),
        (float('nan'), float('inf'), -1e30, 1e-40),
        (0.5, 0.25, 1.0, -1.0),
        (127 / 255, 0.9999, 300.7, -300.7),
        (1 / 510, 65504.0, 65520.0, 1e-7),
    ]
    for fmt in FORMATS:
        for ch in (1, 4):
            r = res(fmt=fmt, ch=ch, w=4, data=bytes(R.randrange(1, 120) for _ in range(4 * ch * FORMATS[fmt][1])))
            for k, c in enumerate(colours):
                for fl in (0, INT):
                    for f in (POINT, LINEAR):
                        case(
                            'border/%s-x%d-%d-%d-%d' % (fmt, ch, k, fl, f),
                            tex('1d', 'f32' if not fl or fmt[0] == 'f' else 's32'),
                            r,
                            T(f, BORDER, fl, border=c),
                            [(fb(x / 16),) for x in range(-20, 84, 1)],
                            4,
                        )
    case(
        'border/srgb',
        tex('1d'),
        res(fmt='u8', ch=4, w=4, data=bytes(range(100, 116))),
        T(LINEAR, BORDER, SRGB, border=(0.3, 0.5, 0.7, 0.2)),
        [(fb(x / 16),) for x in range(-20, 84)],
        4,
    )
    # integer coordinates, offsets
    for fl in (0, NORM):
        for f in (POINT, LINEAR):
            for a in range(4):
                t = T(f, a, fl, border=(-7.5, 1, 2, 3))
                r = res(w=5, h=3, data=floats(*range(1, 16)))
                ints = list(range(-12, 13)) + [0x7fffffff, -0x80000000, 65536, 1 << 24]
                case(
                    'integer/2d-%d-%d-%d' % (fl, f, a),
                    tex('2d', ct='s32'),
                    r,
                    t,
                    [(u(x), u(y)) for x in ints for y in (-4, -1, 0, 1, 2, 3, 9)],
                )
                s = (1, 1) if fl else (5, 3)
                xy = [(R.uniform(-3, 3) * s[0], R.uniform(-3, 3) * s[1]) for _ in range(32)]
                for off in ((-8, 7), (7, -8), (1, -1), (-3, 2)):
                    case(
                        'offset/2d-%d-%d-%d-%d,%d' % ((fl, f, a) + off),
                        tex('2d', tail=', {%d,%d}' % off),
                        r,
                        t,
                        [(fb(x), fb(y)) for x, y in xy],
                    )
    r = res(w=5, data=floats(*range(1, 6)))
    case('offset/integer', tex('1d', ct='s32', tail=', {3}'), r, T(), [(u(x),) for x in range(-10, 10)])
    case(
        'offset/register',
        tex('2d', tail=', {%c2,%c3}'),
        res(w=64, h=64, data=floats(*range(4096))),
        T(),
        [(fb(32.5), fb(32.5), u(a), u(b)) for a in range(-20, 20, 1) for b in (-9, -8, 0, 7, 8)],
    )


# ---- layers, cubes

def layered():
    r = res(w=4, d=5, flags=LAYERED, data=floats(*range(20)))
    idx = [0, 1, 2, 3, 4, 5, 6, 100, 0x7fffffff, 0x80000000, 0xffffffff, 65535, 65536, 65537]
    for f in (POINT, LINEAR):
        case('layer/a1d-%d' % f, tex('a1d'), r, T(f), [(i, fb(x)) for i in idx for x in (-1, .5, 1.3, 2.75, 9)])
    case('layer/a1d-int', tex('a1d', ct='s32'), r, T(), [(i, u(x)) for i in idx for x in (-1, 0, 3, 4)])
    r = res(w=4, h=3, d=5, flags=LAYERED, data=floats(*range(60)))
    for f in (POINT, LINEAR):
        for a in (CLAMP, BORDER):
            case(
                'layer/a2d-%d-%d' % (f, a),
                tex('a2d'),
                r,
                T(f, a, border=(-9, 0, 0, 0)),
                [(i, fb(R.uniform(-1, 5)), fb(R.uniform(-1, 4))) for i in idx for _ in range(8)],
            )
    n = 4
    cube = res(
        w=n,
        h=n,
        d=6,
        flags=CUBE,
        data=floats(*[f * 100 + y * 10 + x for f in range(6) for y in range(n) for x in range(n)]),
    )
    rows = []
    for _ in range(3000):
        rows.append(tuple(fb(R.uniform(-1, 1)) for _ in range(3)))
    for x in (-1, -.5, -0.0, 0.0, .5, 1):
        for y in (-1, -.5, -0.0, 0.0, .5, 1):
            for z in (-1, -.5, -0.0, 0.0, .5, 1):
                rows.append((fb(x), fb(y), fb(z)))
    for b in (0x7fc00000, 0x7f800000, 0xff800000, 1, fb(1e38), fb(1e-38)):
        for c in (0, fb(.5), b):
            rows += [(b, c, c), (c, b, c), (c, c, b), (b, b, c)]
    for f in (POINT, LINEAR):
        for fl in (NORM, NORM | SEAMLESS):
            case('cube/%d-%d' % (f, fl), tex('cube'), cube, T(f, CLAMP, fl), rows)
            case('cube/wrap-%d-%d' % (f, fl), tex('cube'), cube, T(f, WRAP, fl), rows[:512])
    n = 64
    big = res(
        ch=4,
        w=n,
        h=n,
        d=6,
        flags=CUBE,
        data=b''.join(floats(f, x, y, 0) for f in range(6) for y in range(n) for x in range(n)),
    )
    case(
        'cube/precise',
        tex('cube'),
        big,
        T(LINEAR, CLAMP, NORM),
        [tuple(fb(R.uniform(-1, 1)) for _ in range(3)) for _ in range(6000)],
        4,
    )
    n = 4
    ac = res(
        w=n,
        h=n,
        d=18,
        flags=CUBE | LAYERED,
        data=floats(*[f * 100 + y * 10 + x for f in range(18) for y in range(n) for x in range(n)]),
    )
    case(
        'cube/array',
        tex('acube'),
        ac,
        T(POINT, CLAMP, NORM),
        [
            (i,) + tuple(fb(R.uniform(-1, 1)) for _ in range(3))
            for i in (0, 1, 2, 3, 4, 0x80000000, 0xFFFFFFFF)
            for _ in range(32)
        ],
    )


# ---- mipmaps

def chain(fmt, w, h, d, levels, texel, ch=1, flags=0):
    r = res('mip', fmt, ch, w, h, d, flags, levels)
    r['data'] = b''.join(
        texel(l, x, y, z)
        for l in range(levels)
        for L in (layers(r, l),)
        for z in range(L[2])
        for y in range(L[1])
        for x in range(L[0])
    )
    return r


def mips():
    r = chain('f32', 64, 0, 0, 7, lambda l, x, y, z: floats(l))
    lods = [k / 512 for k in range(-1024, 4096)]
    hard = [(fb(.3), b) for b in HARD]
    ties = [
        (fb(0.3), fb(ulp(base + (2 * j + 1) / 512, n)))
        for base in (0, 1, 4)
        for j in range(0, 256, 3)
        for n in (-1, 0, 1)
    ]
    for notri in (0, NOTRI):
        for mf in (POINT, LINEAR):
            for f in (POINT, LINEAR):
                fl = NORM | notri
                t = T(f, CLAMP, fl, mipfilter=mf)
                case(
                    'level/sweep-%d-%d-%d' % (notri, mf, f),
                    tex('1d', mode='.level', tail=', %c1'),
                    r,
                    t,
                    [(fb(0.3), fb(x)) for x in lods] + hard + ties,
                )
    rows = [(fb(.3), fb(k / 64)) for k in range(-128, 512)]
    for mf in (POINT, LINEAR):
        for bias in (0.3, -1.7, 0.001, 0.002, 3.99, 20.0, -20.0):
            case(
                'level/bias-%d-%g' % (mf, bias),
                tex('1d', mode='.level', tail=', %c1'),
                r,
                T(POINT, CLAMP, NORM | NOTRI, mipfilter=mf, bias=bias),
                rows,
            )
        for lo, hi in ((0.5, 2.25), (1, 1), (2.3, 1.2), (0.001, 5.999), (0.002, 0.003), (-1, 3), (0, 0), (3.7, 100)):
            case(
                'level/clamp-%d-%g-%g' % (mf, lo, hi),
                tex('1d', mode='.level', tail=', %c1'),
                r,
                T(POINT, CLAMP, NORM | NOTRI, mipfilter=mf, min=lo, max=hi),
                rows,
            )
            case(
                'level/clamp-base-%d-%g-%g' % (mf, lo, hi),
                tex('1d'),
                r,
                T(POINT, CLAMP, NORM | NOTRI, mipfilter=mf, min=lo, max=hi),
                rows[:1],
            )
    case(
        'level/unnormalised',
        tex('1d', mode='.level', tail=', %c1'),
        chain('f32', 64, 0, 0, 7, lambda l, x, y, z: floats(l * 100 + x)),
        T(POINT, CLAMP, 0, mipfilter=POINT),
        [(fb(x), fb(l)) for x in (-1, 0.5, 7, 33, 70) for l in (0, 0.4, 0.6, 1, 2.4, 6, 9)],
    )
    case(
        'level/integer',
        tex('1d', ct='s32', mode='.level', tail=', %c1'),
        chain('f32', 64, 0, 0, 7, lambda l, x, y, z: floats(l * 100 + x)),
        T(POINT, CLAMP, 0, mipfilter=POINT),
        [(u(x), u(l)) for x in (-1, 0, 7, 33, 70) for l in (-2, -1, 0, 1, 2, 3, 6, 7, 100)],
    )
    # texel positions on other levels, and odd sizes
    r = chain('f32', 37, 21, 0, 6, lambda l, x, y, z: floats(l, x, y, 0), 4)
    for f in (POINT, LINEAR):
        for mf in (POINT, LINEAR):
            case(
                'level/place-%d-%d' % (f, mf),
                tex('2d', mode='.level', tail=', %c2'),
                r,
                T(f, CLAMP, NORM | NOTRI, mipfilter=mf),
                [(fb(R.uniform(-0.1, 1.1)), fb(R.uniform(-0.1, 1.1)), fb(R.uniform(-0.5, 6))) for _ in range(1500)],
                4,
            )
    # arithmetic between levels
    for fmt in ('f32', 'f16', 'u8', 's16'):
        for dims in (1, 2):
            w = 1024
            h = 2 if dims == 2 else 0
            lv = [texels(fmt, k, 1) for k in range(w * 4)]
            it = iter(lv)
            r = res('mip', fmt, 1, w, h, 0, 0, 2, b'')
            n0, n1 = w * max(h, 1), w // 2 * 1
            r['data'] = b''.join(next(it) for _ in range(n0 + n1))
            for f in (POINT, LINEAR):
                case(
                    'blend/%s-%dd-%d' % (fmt, dims, f),
                    tex('%dd' % dims, mode='.level', tail=', %%c%d' % dims),
                    r,
                    T(f, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
                    [
                        tuple(fb((R.randrange(w * 256) + 0.0) / 256 / w) for _ in range(dims))
                        + (fb(R.randrange(257) / 256),)
                        for _ in range(6000)
                    ],
                )
    # gradients
    r = chain('f32', 256, 0, 0, 9, lambda l, x, y, z: floats(l))
    g = [
        (fb(0.3), fb(2 ** R.uniform(-11, 1) * R.choice((-1, 1))), fb(2 ** R.uniform(-11, 1) * R.choice((0, 1, -1))))
        for _ in range(4000)
    ]
    g += [(fb(.3), fb(2.0 ** -8 * (1 + k / 1024)), 0) for k in range(2048)]
    g += [(fb(.3), b, c) for b in HARD[:12] for c in (0, fb(.01), b)]
    for mf in (POINT, LINEAR):
        case(
            'grad/1d-%d' % mf,
            tex('1d', mode='.grad', tail=', {%c1}, {%c2}'),
            r,
            T(POINT, CLAMP, NORM | NOTRI, mipfilter=mf),
            g,
        )
    for w, h in ((256, 256), (256, 64), (100, 37)):
        r = chain('f32', w, h, 0, 7, lambda l, x, y, z: floats(l))
        g = [
            (fb(0.3), fb(0.6)) + tuple(fb(2 ** R.uniform(-9, 0) * R.choice((-1, 1))) for _ in range(4))
            for _ in range(3000)
        ]
        g += [(fb(.3), fb(.6), fb(2 ** R.uniform(-9, 0)), 0, 0, fb(2 ** R.uniform(-9, 0))) for _ in range(1000)]
        g += [(fb(.3), fb(.6), fb(2 ** R.uniform(-9, 0)), fb(2 ** R.uniform(-9, 0)), 0, 0) for _ in range(1000)]
        for an in (0, 1, 2, 4, 16):
            case(
                'grad/2d-%dx%d-%d' % (w, h, an),
                tex('2d', mode='.grad', tail=', {%c2,%c3}, {%c4,%c5}'),
                r,
                T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR, aniso=an),
                g if an < 2 else g[:1200] + g[3000:3300] + g[4000:4300],
            )
    r = chain('f32', 64, 64, 0, 7, lambda l, x, y, z: floats(l, x, y, 0), 4)
    case(
        'grad/place-16',
        tex('2d', mode='.grad', tail=', {%c2,%c3}, {%c4,%c5}'),
        r,
        T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=POINT, aniso=16),
        [
            (fb(R.uniform(0.3, 0.6)), fb(R.uniform(0.3, 0.6))) + tuple(fb(2 ** R.uniform(-7, -2)) for _ in range(4))
            for _ in range(1500)
        ],
        4,
    )
    r = chain('f32', 64, 32, 16, 7, lambda l, x, y, z: floats(l))
    case(
        'grad/3d',
        tex('3d', mode='.grad', tail=', {%c3,%c4,%c5,%c5}, {%c6,%c7,%c8,%c8}'),
        r,
        T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
        [
            (fb(0.3), fb(0.6), fb(0.2)) + tuple(fb(2 ** R.uniform(-7, -1) * R.choice((-1, 1))) for _ in range(6))
            for _ in range(3000)
        ],
    )
    r = chain('f32', 64, 64, 6, 7, lambda l, x, y, z: floats(l), flags=CUBE)
    case(
        'grad/cube',
        tex('cube', mode='.grad', tail=', {%c3,%c4,%c5,%c5}, {%c6,%c7,%c8,%c8}'),
        r,
        T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
        [
            tuple(fb(R.uniform(-1, 1)) for _ in range(3))
            + tuple(fb(2 ** R.uniform(-7, -1) * R.choice((-1, 1))) for _ in range(6))
            for _ in range(2000)
        ],
    )
    case(
        'level/cube',
        tex('cube', mode='.level', tail=', %c3'),
        r,
        T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
        [tuple(fb(R.uniform(-1, 1)) for _ in range(3)) + (fb(R.uniform(-1, 7)),) for _ in range(256)],
    )


# ---- gathers, depth, linear memory, queries, surfaces

def gathers():
    for fmt in ('f32', 'u8', 'u32', 's16'):
        r = res(
            fmt=fmt,
            ch=4,
            w=7,
            h=5,
            flags=GATHER,
            data=bytes(R.randrange(1, 120) for _ in range(140 * FORMATS[fmt][1])),
        )
        for fl in ((0, NORM) if fmt[0] == 'f' else (0, INT, NORM)):
            for a in (CLAMP, BORDER):
                for comp in 'rgba':
                    dt = 'f32' if not fl & INT and fmt != 'u32' else 'u32'
                    s = (1, 1) if fl & NORM else (7, 5)
                    rows = [(fb(R.uniform(-.5, 1.5) * s[0]), fb(R.uniform(-.5, 1.5) * s[1])) for _ in range(64)]
                    if not fl & NORM:
                        rows += [
                            (fb(ulp(x, k)), fb(2.25))
                            for x in (0.5, 1.5, 1.5 - 1 / 512, 1.5 - 1 / 256, 1.5 - 1 / 1024, 1, 3.5 - 1 / 512)
                            for k in (-2, -1, 0, 1, 2)
                        ]
                    case(
                        'gather/%s-%d-%d-%s' % (fmt, fl, a, comp),
                        'tld4.%s.2d.v4.%s.f32 {%%d0,%%d1,%%d2,%%d3}, [%%t, {%%c0,%%c1}];' % (comp, dt),
                        r,
                        T(LINEAR, a, fl, border=(0.5, 0.25, 0.75, 1)),
                        rows,
                        4,
                    )
    r = res(w=7, h=5, flags=GATHER, data=floats(*range(35)))
    for f in (POINT, LINEAR):
        for a in (WRAP, MIRROR, CLAMP, BORDER):
            case(
                'gather/modes-%d-%d' % (f, a),
                'tld4.r.2d.v4.f32.f32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1}];',
                r,
                T(f, a, NORM, border=(-3, 0, 0, 0)),
                [(fb(R.uniform(-1.5, 2.5)), fb(R.uniform(-1.5, 2.5))) for _ in range(400)],
                4,
            )
    case(
        'gather/offset',
        'tld4.r.2d.v4.f32.f32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1}], {2, -1};',
        r,
        T(POINT, CLAMP),
        [(fb(R.uniform(-1, 8)), fb(R.uniform(-1, 6))) for _ in range(64)],
        4,
    )
    r = res(w=7, h=5, d=3, flags=GATHER | LAYERED, data=floats(*range(105)))
    case(
        'gather/a2d',
        'tld4.r.a2d.v4.f32.f32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1,%c2,%c2}];',
        r,
        T(POINT, CLAMP),
        [(i, fb(R.uniform(-1, 8)), fb(R.uniform(-1, 6))) for i in (0, 1, 2, 3, 0xFFFFFFFF) for _ in range(16)],
        4,
    )
    for fl in (NORM, NORM | SEAMLESS):
        r = res(
            w=4,
            h=4,
            d=6,
            flags=GATHER | CUBE,
            data=floats(*[f * 100 + y * 10 + x for f in range(6) for y in range(4) for x in range(4)]),
        )
        case(
            'gather/cube-%d' % fl,
            'tld4.r.cube.v4.f32.f32 {%d0,%d1,%d2,%d3}, [%t, {%c0,%c1,%c2,%c2}];',
            r,
            T(POINT, CLAMP, fl),
            [tuple(fb(R.uniform(-1, 1)) for _ in range(3)) for _ in range(400)],
            4,
        )
    for depth in (0, DEPTH):
        for fmt in ('f32', 'u16', 'f16'):
            r = res(
                fmt=fmt,
                w=4,
                h=4,
                flags=depth,
                data=(
                    floats(*[k / 16 for k in range(16)])
                    if fmt == 'f32'
                    else b''.join(
                        struct.pack('<H', k * 4000) if fmt == 'u16' else struct.pack('<e', k / 16) for k in range(16)
                    )
                ),
            )
            for f in (POINT, LINEAR):
                case(
                    'depth/%s-%d-%d' % (fmt, depth, f),
                    tex('2d', tail=', %c2'),
                    r,
                    T(f),
                    [
                        (
                            fb(R.uniform(0, 4)),
                            fb(R.uniform(0, 4)),
                            fb(R.choice((R.uniform(-0.5, 1.5), R.randrange(16) / 16))),
                        )
                        for _ in range(256)
                    ],
                    4,
                )


def memory():
    for fmt in ('f32', 'u8', 's16', 'f16'):
        for ch in (1, 4):
            size = FORMATS[fmt][1] * ch
            r = res('linear', fmt, ch, 10, data=bytes(R.randrange(1, 120) for _ in range(10 * size)))
            for fl in (0, INT) if fmt[0] != 'f' else (0,):
                dt = 's32' if fl else 'f32'
                for a in (CLAMP, BORDER, WRAP):
                    t = T(POINT, a, fl, border=(1, 2, 3, 4))
                    case(
                        'linear/%s-x%d-%d-%d' % (fmt, ch, fl, a),
                        tex('1d', dt, 's32'),
                        r,
                        t,
                        [(u(x),) for x in list(range(-3, 16)) + [0x7FFFFFFF, -0x80000000, 1 << 27, 1 << 28]],
                        4,
                    )
                    case(
                        'linear/float-%s-x%d-%d-%d' % (fmt, ch, fl, a),
                        tex('1d', dt),
                        r,
                        t,
                        [(fb(x / 4),) for x in range(-8, 50)] + [(b,) for b in HARD],
                        4,
                    )
    for f in (POINT, LINEAR):
        for fl in (0, NORM):
            for a in range(4):
                r = res('pitch', 'f32', 1, 7, 5, pitch=64, data=floats(*range(80)))
                case(
                    'pitch/%d-%d-%d' % (f, fl, a),
                    tex('2d'),
                    r,
                    T(f, a, fl, border=(-3, 0, 0, 0)),
                    [tuple(fb(R.uniform(-1.5, 2.5) * (1 if fl else v)) for v in (7, 5)) for _ in range(200)],
                )
    r = res('pitch', 'u8', 4, 7, 5, pitch=64, data=bytes(range(256)) + bytes(64))
    case('pitch/u8', tex('2d'), r, T(LINEAR), [(fb(R.uniform(-1, 8)), fb(R.uniform(-1, 6))) for _ in range(200)], 4)


TXQ = SUQ = ['width', 'height', 'depth']  # the driver supports no other queries for objects


def queries():
    kinds = [
        res(w=5, data=floats(*range(5))),
        res(w=5, h=3, fmt='u8', ch=4, data=bytes(60)),
        res(w=5, h=3, d=2, fmt='s16', ch=2, data=bytes(120)),
        res(w=5, d=3, flags=LAYERED, data=bytes(60)),
        res(w=5, h=4, d=3, flags=LAYERED, fmt='f16', data=bytes(120)),
        res(w=4, h=4, d=6, flags=CUBE, data=bytes(384)),
        res(w=4, h=4, d=12, flags=CUBE | LAYERED, data=bytes(768)),
        res('mip', 'f32', 1, 20, 12, 0, 0, 4, bytes(4 * (240 + 60 + 15 + 2))),
        res('linear', 'u16', 1, 9, data=bytes(18)),
        res('pitch', 'f32', 1, 7, 5, pitch=64, data=bytes(320)),
    ]
    for k, r in enumerate(kinds):
        for t in (T(), T(LINEAR, (MIRROR, BORDER, WRAP), NORM)):
            if r['kind'] == 'linear' and t['filter']:
                continue
            for q in TXQ:
                case('txq/%d-%d-%s' % (k, t['flags'], q), 'txq.%s.b32 %%d0, [%%t];' % q, r, t, [(0,)])
    for q in ('width', 'height', 'depth'):
        case(
            'txq/level-%s' % q,
            'txq.level.%s.b32 %%d0, [%%t], %%c0;' % q,
            kinds[7],
            T(),
            [(u(x),) for x in range(-1, 8)],
        )
    for k, r in enumerate(kinds[:5]):
        r = dict(r, flags=r['flags'] | SURF)
        for q in SUQ:
            case('suq/%d-%s' % (k, q), 'suq.%s.b32 %%d0, [%%t];' % q, r, None, [(0,)])


def surfaces():
    """Stores use distinct addresses, so that their order does not matter."""
    bytes_of = lambda n: bytes(R.randrange(256) for _ in range(n))
    one = res(fmt='u32', w=16, flags=SURF, data=bytes_of(64))
    two = res(fmt='u32', w=8, h=4, flags=SURF, data=bytes_of(128))
    three = res(fmt='u32', w=4, h=4, d=4, flags=SURF, data=bytes_of(256))
    a1 = res(fmt='u32', w=8, d=4, flags=SURF | LAYERED, data=bytes_of(128))
    a2 = res(fmt='u32', w=8, h=4, d=3, flags=SURF | LAYERED, data=bytes_of(384))
    eight = res(fmt='u8', w=16, h=4, flags=SURF, data=bytes_of(64))
    wide = res(fmt='u32', ch=4, w=4, h=4, flags=SURF, data=bytes_of(256))
    out = lambda n: '%d0' if n == 1 else '{%s}' % ','.join('%%d%d' % k for k in range(n))
    for cl in ('clamp', 'zero'):
        for r, name in ((one, 'u32'), (eight, 'u8'), (wide, 'u32x4')):
            g = '1d' if not r['h'] else '2d'
            for ty, n in (('b8', 1), ('b8', 4), ('b16', 1), ('b16', 2), ('b32', 1), ('b32', 2), ('b32', 4)):
                v = '' if n == 1 else '.v%d' % n
                rows = [
                    (u(x), u(y))
                    for x in list(range(-20, 90)) + [0x7FFFFFFF, -0x80000000, 1 << 20]
                    for y in ((0,) if g == '1d' else (-1, 0, 2, 3, 4, 0x7FFFFFFF))
                ]
                pre = 'and.b32 %%c0, %%c0, %d; ' % u(-int(ty[1:]) // 8 * n)     # aligned
                case(
                    'suld/%s-%s-%s%s' % (name, cl, ty, v),
                    '%ssuld.b.%s%s.%s.%s %s, [%%t, %s];' % (pre, g, v, ty, cl, out(n), COORD[g]),
                    r,
                    None,
                    rows,
                    n,
                )
        case(
            'suld/3d-%s' % cl,
            'suld.b.3d.b32.%s %%d0, [%%t, {%%c0,%%c1,%%c2,%%c2}];' % cl,
            three,
            None,
            [(u(4 * x), u(y), u(z)) for x in range(-2, 6) for y in range(-2, 6) for z in range(-2, 6)],
        )
        case(
            'suld/a1d-%s' % cl,
            'suld.b.a1d.b32.%s %%d0, [%%t, {%%c0,%%c1}];' % cl,
            a1,
            None,
            [(u(i), u(4 * x)) for i in (0, 1, 3, 4, 5, -1, 0x80000000) for x in range(-2, 11)],
        )
        case(
            'suld/a2d-%s' % cl,
            'suld.b.a2d.b32.%s %%d0, [%%t, {%%c0,%%c1,%%c2,%%c2}];' % cl,
            a2,
            None,
            [
                (u(i), u(4 * x), u(y))
                for i in (0, 1, 2, 3, 4, -1, 0x80000000)
                for x in range(-2, 11)
                for y in range(-1, 6)
            ],
        )
        # unaligned by bytes
        case(
            'suld/unaligned-%s' % cl,
            'suld.b.2d.b32.%s %%d0, [%%t, {%%c0,%%c1}];' % cl,
            two,
            None,
            [(u(x), 1) for x in range(-4, 40)],
        )
        for k, (x, y) in enumerate(((-4, 0), (0, -1), (32, 3), (28, 4), (4, 2), (36, 1), (-8, -8), (1000, 1000))):
            case(
                'sust/%s-%d' % (cl, k),
                'sust.b.2d.b32.%s [%%t, {%%c0,%%c1}], 0xabcd1234;' % cl,
                two,
                None,
                [(u(x), u(y))],
            )
    fl = (
        SPECIAL32
        + [fb(R.uniform(-2, 2)) for _ in range(200)]
        + [fb(R.uniform(-300, 300)) for _ in range(60)]
        + [fb(R.uniform(-70000, 70000)) for _ in range(60)]
        + [R.getrandbits(32) for _ in range(100)]
    )
    fl += [fb((k + .5) / 255) for k in range(0, 256, 5)]
    fl = fl[:512]
    for fmt in FORMATS:
        for ch in (1, 2, 4):
            r = res(fmt=fmt, ch=ch, w=512, flags=SURF, data=bytes(512 * ch * FORMATS[fmt][1]))
            case(
                'sustp/%s-x%d' % (fmt, ch),
                'sust.p.1d.v4.b32.zero [%t, {%c0}], {%c1,%c2,%c3,%c4};',
                r,
                None,
                [
                    (
                        k,
                        fl[k % len(fl)],
                        fl[(k * 7 + 1) % len(fl)],
                        fl[(k * 5 + 2) % len(fl)],
                        fl[(k * 3 + 3) % len(fl)],
                    )
                    for k in range(len(fl))
                ],
            )
            case(
                'sustp/%s-x%d-v2' % (fmt, ch),
                'sust.p.1d.v2.b32.zero [%t, {%c0}], {%c1,%c2};',
                r,
                None,
                [(k, fl[k], fl[k]) for k in range(64)],
            )
            case(
                'sustp/%s-x%d-v1' % (fmt, ch),
                'sust.p.1d.b32.zero [%t, {%c0}], %c1;',
                r,
                None,
                [(k, fl[k]) for k in range(64)],
            )
    r32 = dict(
        u32=res(fmt='u32', w=64, flags=SURF, data=bytes_of(256)),
        s32=res(fmt='s32', w=64, flags=SURF, data=bytes_of(256)),
    )
    for fmt, r in r32.items():
        for cl in ('clamp', 'zero'):
            for op, ty in (
                ('add', 'u32'),
                ('min', 'u32'),
                ('max', 's32'),
                ('min', 's32'),
                ('and', 'b32'),
                ('or', 'b32'),
            ):
                case(
                    'sured/b-%s-%s-%s-%s' % (fmt, cl, op, ty),
                    'sured.b.%s.1d.%s.%s [%%t, {%%c0}], %%c1;' % (op, ty, cl),
                    r,
                    None,
                    [(u(4 * x), R.getrandbits(32)) for x in range(-1, 65) if 0 < x < 63 or x in (-1, 64)],
                )
            for op in ('add', 'min', 'max', 'and', 'or'):
                case(
                    'sured/p-%s-%s-%s' % (fmt, cl, op),
                    'sured.p.%s.1d.b32.%s [%%t, {%%c0}], %%c1;' % (op, cl),
                    r,
                    None,
                    [(u(x), R.getrandbits(32)) for x in range(-1, 65) if 0 < x < 63 or x in (-1, 64)],
                )
            case(
                'sured/b64-%s-%s' % (fmt, cl),
                '{ .reg .u64 %%q; mov.b64 %%q, {%%c1,%%c2}; sured.b.add.1d.u64.%s [%%t, {%%c0}], %%q; }' % cl,
                r,
                None,
                [(u(8 * x), R.getrandbits(32), R.getrandbits(32)) for x in range(1, 31)],
            )
            case(
                'sured/p64-%s-%s' % (fmt, cl),
                '{ .reg .b64 %%q; mov.b64 %%q, {%%c1,%%c2}; sured.p.max.1d.b64.%s [%%t, {%%c0}], %%q; }' % cl,
                r,
                None,
                [(u(x), R.getrandbits(32), R.getrandbits(32)) for x in range(1, 31)],
            )


def all_cases():
    for make in (weights, arith, formats, addressing, layered, mips, gathers, memory, queries, surfaces):
        make()
    return CASES
