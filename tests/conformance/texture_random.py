"""Random cases of textures.py for all formats (including block formats), geometries, modes and instructions."""
import random
from types import SimpleNamespace

import texture_cases
from texture_cases import *

SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33, 37, 64, 100]


def bits_any(q):
    k = q.randrange(12)
    if k < 3:
        return q.choice(HARD)
    if k < 5:
        return q.getrandbits(32)
    return None


def coord(q, n, norm):
    b = bits_any(q)
    if b is not None and q.random() < .25:
        return b
    k = q.random()
    if k < .55:
        x = q.uniform(-.4, 1.4) * n
    elif k < .8:
        x = (q.randrange(-2 * 256 * min(n, 64), 3 * 256 * min(n, 64)) + q.choice((0, .5))) / 256
    elif k < .9:
        x = q.uniform(-40, 40) * n
    else:
        x = q.choice((-1, 1)) * 2 ** q.uniform(-30, 30)
    b = fb(x / n if norm else x)
    if q.random() < .4:
        b = u(b + q.choice((-2, -1, 1, 2)))
    return b


def icoord(q, n):
    return u(
        q.choice(
            (
                q.randrange(-3, n + 3),
                q.randrange(n),
                q.randrange(n),
                q.choice((-0x80000000, 0x7FFFFFFF, 1 << 24, -1, n, 65536, q.getrandbits(32))),
            )
        )
    )


def layer(q, n):
    return u(
        q.choice(
            (
                q.randrange(n),
                q.randrange(n),
                q.randrange(n + 2),
                q.choice((-1, 0x7FFFFFFF, -0x80000000, 65535, 65536, 65537, 100)),
            )
        )
    )


def lod(q, levels):
    b = bits_any(q)
    return (
        b
        if b is not None and q.random() < 0.3
        else fb(
            q.choice(
                (
                    q.uniform(-1, levels + 1),
                    q.uniform(0, levels),
                    q.randrange(0, 512 * levels) / 512,
                    q.uniform(-30, 30),
                )
            )
        )
    )


def data(q, fmt, ch, r):
    n = sum(L[0] * L[1] * L[2] for l in range(r['levels']) for L in (layers(r, l),))
    texture_cases.R.seed(q.randrange(1 << 30))
    size = FORMATS[fmt][1]
    pools = (
        [q.choice((0, 1, 2, 3, 4, 5, 6, 7)) for _ in range(3)]
        if fmt[0] == 'f'
        else [q.choice((0, 1, 2, 3, 3)) for _ in range(3)]
    )
    some = [texels(fmt, q.choice(pools), 1) for _ in range(min(n * ch, 4096))]
    if n * ch <= 4096:
        return b''.join(some)
    return (
        b''.join(q.choice(some) for _ in range(n * ch))
        if n * ch < 200000
        else (b''.join(some) * (n * ch // len(some) + 1))[: n * ch * size]
    )


BLOCK_CHANNELS = {k: 1 if k[:3] == 'bc4' else 2 if k[:3] == 'bc5' else 3 if k[:3] == 'bc6' else 4 for k in BLOCKS}


DIMENSIONS = {'1d': 1, 'a1d': 1, '2d': 2, 'a2d': 2, '3d': 3, 'cube': 3, 'acube': 3}


def texture_shape(q):
    """Draws format, kind of memory, geometry and sizes. `other` is a format that only arrays support."""
    s = SimpleNamespace(h=0, d=0, flags=0, levels=1)
    s.fmt = q.choice(list(FORMATS) + ['f32', 'f16', 'u8', 'u8'])
    s.ch = q.choice((1, 1, 2, 4))
    s.other = q.choice(list(BLOCKS) + list(NORMAL)) if q.random() < .3 else None
    if s.other:
        s.fmt = 'u8'
        s.ch = BLOCK_CHANNELS[s.other] if s.other in BLOCKS else s.ch
    s.kind = q.choice(('array', 'array', 'array', 'mip', 'mip', 'linear', 'pitch'))
    s.geom = q.choice(('1d', '2d', '2d', '2d', '3d', '3d', 'a1d', 'a2d', 'cube', 'acube'))
    s.geom = {'linear': '1d', 'pitch': '2d'}.get(s.kind, s.geom)
    s.cube = 'cube' in s.geom
    texture_sizes(q, s)
    if s.kind == 'mip':
        s.levels = q.randrange(1, max(s.w, s.h, 1 if s.flags else s.d).bit_length() + 1)
    if s.other and (s.kind not in ('array', 'mip') or s.other in BLOCKS and not s.h):
        s.other, s.ch = None, 4 if s.ch == 3 else s.ch
    return s


def texture_sizes(q, s):
    s.w = q.choice(SIZES)
    if s.geom in ('1d', 'a1d') and q.random() < .4:
        s.w = q.choice((255, 1000, 4096, 8192, 8193, 16384, 16385, 20000, 32768))
    if s.geom in ('2d', 'a2d', '3d'):
        s.h = q.choice(SIZES)
        if s.geom != 'a2d' and q.random() < .04:
            s.w, s.h = q.choice(((9000, 2), (3, 9000), (16384, 2)))
    if s.geom == '3d':
        s.h = min(s.h, 16)
        s.d = q.choice((1, 2, 3, 4, 5, 8, 16))
    if s.geom in ('a1d', 'a2d'):
        s.d, s.flags = q.choice((1, 2, 3, 7)), LAYERED
    if s.cube:
        s.w = s.h = q.choice((1, 2, 3, 4, 5, 8, 16, 17))
        s.d, s.flags = (6, CUBE) if s.geom == 'cube' else (12, CUBE | LAYERED)


def texture_resource(q, s):
    r = res(s.kind, s.fmt, s.ch, s.w, s.h, s.d, s.flags, s.levels)
    r['data'] = data(q, s.fmt, s.ch, r)
    if s.kind == 'pitch':
        r['pitch'] = (s.w * s.ch * FORMATS[s.fmt][1] + 31) // 32 * 32 + q.choice((0, 32))
        need = r['pitch'] * s.h
        r['data'] = (r['data'] * (need // len(r['data']) + 1))[:need]
    if s.other:
        r['fmt'] = s.other
        n = sum(a * b * c for l in range(s.levels) for a, b, c in (storage(r, l),))
        r['data'] = bytes(q.getrandbits(8) for _ in range(n))
    return r


def texture_flags(q, s):
    """Draws the flags of the texture. s.as_int: it is read as integers."""
    fl = q.choice((0, NORM, NORM)) | (SRGB if s.other and s.other[-1] == 's' else 0)
    if s.cube or s.kind == 'mip':
        fl |= NORM
    if s.kind == 'linear':
        fl = 0
    s.as_int = not (s.fmt[0] == 'f' or s.other is not None) and (s.fmt[1:] == '32' or q.random() < .35)
    if s.as_int:
        fl |= INT
    if s.fmt == 'u8' and not s.other and not s.as_int and q.random() < .4:
        fl |= SRGB
    if s.cube and q.random() < .6:
        fl |= SEAMLESS
    if q.random() < .6:
        fl |= NOTRI
    return fl


def texture_modes(q, s):
    fl = texture_flags(q, s)
    f = q.choice((POINT, LINEAR, LINEAR))
    if s.as_int and q.random() < .7 or s.kind == 'linear':
        f = POINT
    border = tuple(q.choice((0.0, 1.0, q.uniform(-2, 2), q.random(), q.randrange(256) / 255)) for _ in range(4))
    t = dict(
        aniso=q.choice((0, 0, 2, 3, 4, 6, 8, 10, 12, 16, 16)),
        filter=f,
        addr=tuple(q.randrange(4) for _ in range(3)),
        flags=fl,
        border=border,
        mipfilter=q.randrange(2),
    )
    if q.random() < .4:
        t.update(bias=q.choice((q.uniform(-3, 3), q.uniform(-16, 16))), min=q.choice((0, q.uniform(0, 4))),
                 max=q.choice((100, q.uniform(0, 6))))
    return t


def direction(q):
    hard = (
        fb(q.uniform(-1, 1)),
        fb(q.uniform(-1, 1)),
        fb(q.uniform(-1, 1)),
        fb(q.choice((-1, 1, 0, 0.5))),
        q.choice(HARD),
    )
    return q.choice(hard)


def texture_place(q, s, ints, norm):
    """Returns a draw function for each coordinate."""
    sizes = (s.w, s.h, s.d)
    draws = []
    if s.flags & LAYERED:
        draws.append(lambda: layer(q, s.d // 6 if s.flags & CUBE else s.d))
    for n in range(DIMENSIONS[s.geom]):
        if s.cube:
            draws.append(lambda: direction(q) if q.random() < .2 else fb(q.uniform(-1, 1)))
        else:
            draws.append((lambda n=n: icoord(q, sizes[n])) if ints else (lambda n=n: coord(q, sizes[n], norm)))
    return draws


def texture_tail(q, s, mode, ints, norm, draws):
    """Returns the text of level, gradients and offsets after the coordinates. Adds their draw functions to `draws`."""
    dims, n, tail = DIMENSIONS[s.geom], len(draws), ''
    if mode == 'level':
        any_level = lambda: u(q.choice((q.randrange(s.levels), q.randrange(-1, s.levels + 2), q.getrandbits(32))))
        draws.append(any_level if ints else lambda: lod(q, s.levels))
        tail = ', %%c%d' % n
    if mode == 'grad':
        step = lambda size: (
            lambda: (
                fb(q.choice((-1, 1)) * 2 ** q.uniform(-4, 7) / (size if norm else 1))
                if q.random() < 0.9
                else q.choice(HARD)
            )
        )
        draws += [step(size) for size in (s.w, s.h, s.d)[:dims]] * 2
        g = lambda b: '{%s}' % ','.join('%%c%d' % (b + min(e, dims - 1)) for e in range(4 if dims == 3 else dims))
        tail = ', %s, %s' % (g(n), g(n + dims))
    if not s.cube and q.random() < .15:
        off = [q.randrange(-8, 8) for _ in range(dims)] + [0] * (dims == 3)
        tail += ', {%s}' % ','.join(map(str, off))
    return tail


def texture_case(q, name, rows, ellipses=False):
    s = texture_shape(q)
    s.ellipses = ellipses
    r = texture_resource(q, s)
    t = texture_modes(q, s)
    norm = bool(t['flags'] & NORM)
    mode = q.choice(('', '', 'level', 'level', 'grad')) if s.kind == 'mip' else q.choice(('', '', '', 'level', 'grad'))
    ints = not s.cube and q.random() < (.6 if s.kind == 'linear' else .15) and mode != 'grad'
    if s.cube and mode == 'grad' and not s.ellipses:
        mode = 'level'
    if s.kind == 'linear':
        mode = ''
    dt = q.choice(('u32', 's32')) if s.as_int else q.choice(('f32', 'f32', 'f32', 'f16'))
    draws = texture_place(q, s, ints, norm)
    tail = texture_tail(q, s, mode, ints, norm, draws)
    op = tex(s.geom, dt, 's32' if ints else 'f32', '.' + mode if mode else '', tail)
    case(name, op, r, t, [tuple(x() for x in draws) for _ in range(rows)], 4 if s.ch > 1 or q.random() < .2 else 1)


def gather_case(q, name, rows):
    fmt, ch = q.choice(list(FORMATS)), q.choice((1, 2, 4))
    w, h = q.choice(SIZES), q.choice(SIZES)
    r = res('array', fmt, ch, w, h, 0, GATHER)
    r['data'] = data(q, fmt, ch, r)
    isf = fmt[0] == 'f'
    as_int = not isf and (fmt[1:] == '32' or q.random() < .35)
    fl = q.choice((0, NORM)) | (INT if as_int else 0)
    if fmt == 'u8' and not as_int and q.random() < .4:
        fl |= SRGB
    t = dict(
        filter=q.choice((POINT, LINEAR)) if not as_int else POINT,
        addr=tuple(q.randrange(4) for _ in range(3)),
        flags=fl,
        border=tuple(q.choice((0.0, 1.0, q.uniform(-2, 2))) for _ in range(4)),
    )
    tail = ', {%d,%d}' % (q.randrange(-8, 8), q.randrange(-8, 8)) if q.random() < .2 else ''
    op = 'tld4.%s.2d.v4.%s.f32 {%%d0,%%d1,%%d2,%%d3}, [%%t, {%%c0,%%c1}]%s;' % (
        q.choice('rgba'),
        q.choice(('u32', 's32')) if as_int else 'f32',
        tail,
    )
    case(name, op, r, t, [(coord(q, w, fl & NORM), coord(q, h, fl & NORM)) for _ in range(rows)], 4)


ACCESSES = [('b8', 1), ('b8', 2), ('b8', 4), ('b16', 1), ('b16', 2), ('b16', 4), ('b32', 1), ('b32', 2), ('b32', 4)]
REDUCTIONS = [
    ('add', 'u32'),
    ('add', 's32'),
    ('min', 'u32'),
    ('max', 'u32'),
    ('min', 's32'),
    ('max', 's32'),
    ('and', 'b32'),
    ('or', 'b32'),
]


def braced(registers):
    return registers[0] if len(registers) == 1 else '{%s}' % ','.join(registers)


def vector(n):
    return '' if n == 1 else '.v%d' % n


def surface_shape(q):
    s = SimpleNamespace(h=0, d=0, flags=SURF)
    s.fmt, s.ch = q.choice(list(FORMATS)), q.choice((1, 2, 4))
    s.geom = q.choice(('1d', '2d', '2d', '3d', 'a1d', 'a2d'))
    s.w = q.choice((1, 3, 4, 7, 8, 16, 33))
    if s.geom in ('2d', '3d', 'a2d'):
        s.h = q.choice((1, 2, 3, 5, 8))
    if s.geom in ('3d', 'a1d', 'a2d'):
        s.d = q.choice((1, 2, 3, 5))
    if s.geom[0] == 'a':
        s.flags |= LAYERED
    s.size = FORMATS[s.fmt][1] * s.ch
    return s


def surface_load(q, s):
    """Returns the instruction, a draw function for each coordinate, and the number of results."""
    far = lambda n: u(
        q.choice(
            (
                q.randrange(-2, n + 2),
                q.randrange(n),
                q.randrange(n),
                q.choice((-1, n, 0x7FFFFFFF, -0x80000000, q.getrandbits(32))),
            )
        )
    )
    ty, n = q.choice(ACCESSES)
    a = int(ty[1:]) // 8 * n
    draws = [lambda: layer(q, s.d)] if s.flags & LAYERED else []
    draws.append(
        lambda: u(
            q.choice(
                (
                    q.randrange(-2, s.w * s.size // a + 3) * a,
                    q.choice((0x7FFFFFF0, -0x80000000, (q.getrandbits(32) & ~15))),
                )
            )
        )
        & u(-a)
    )
    draws += [lambda n=n: far((s.w, s.h, s.d)[n]) for n in range(1, DIMENSIONS[s.geom])]
    op = 'suld.b.%s%s.%s.%s %s, [%%t, %s];' % (
        s.geom,
        vector(n),
        ty,
        s.cl,
        braced(['%%d%d' % k for k in range(n)]),
        COORD[s.geom],
    )
    return op, draws, n


def surface_rows(q, s, what, a):
    """Returns each position once, with the stored values. Byte positions are `a` apart; .clamp has none outside."""
    bytes_ = what in ('sust', 'sured')
    xs = range(s.w * s.size // a) if bytes_ else range(s.w)
    places = [(z, x * (a if bytes_ else 1), y) for z in range(max(s.d, 1)) for x in xs for y in range(max(s.h, 1))]
    q.shuffle(places)
    if s.cl == 'zero':
        places += [
            (
                q.randrange(-2, s.d + 3) if s.d else 0,
                (
                    q.choice((-a, (s.w * s.size // a) * a + a * 2, -0x10000))
                    if bytes_
                    else q.choice((-1, s.w, s.w + 5, -70000))
                ),
                q.randrange(-1, s.h + 1),
            )
            for _ in range(20)
        ]
    rows = []
    for z, x, y in places[:400]:
        at = {'1d': (x,), '2d': (x, y), '3d': (x, y, z), 'a1d': (z, x), 'a2d': (z, x, y)}[s.geom]
        rows.append(
            tuple(u(v) for v in at)
            + tuple(
                q.choice(
                    (q.getrandbits(32), fb(q.uniform(-2, 2)), fb(q.uniform(-300, 300)), u(q.randrange(-300, 300)))
                )
                for _ in range(4)
            )
        )
    return rows


def surface_store(s, ty, n, c):
    registers, head, end = braced(c[:n]), '', ''
    if ty != 'b32':  # narrow registers
        head = '{ .reg .b16 %q<4>; ' + ' '.join('cvt.u16.u32 %%q%d, %s;' % (k, c[k]) for k in range(n)) + ' '
        registers, end = braced(['%%q%d' % k for k in range(n)]), ' }'
    return '%ssust.b.%s%s.%s.%s [%%t, %s], %s;%s' % (head, s.geom, vector(n), ty, s.cl, COORD[s.geom], registers, end)


def surface_write(q, s, what):
    """Returns the instruction and its rows, or None if the combination does not exist."""
    if what in ('sured', 'suredp') and s.geom[0] == 'a':
        return None
    if what in ('sured', 'suredp') and s.fmt not in ('u32', 's32') or s.ch == 2 and what == 'suredp':
        what = 'sustp' if what == 'suredp' else 'sust'
    ty, n = q.choice(ACCESSES) if what == 'sust' else ('b32', 1)
    rows = surface_rows(q, s, what, int(ty[1:]) // 8 * n if what in ('sust', 'sured') else 1)
    if not rows:
        return None
    c = ['%%c%d' % (len(rows[0]) - 4 + k) for k in range(4)]
    at = COORD[s.geom]
    if what == 'sust':
        return surface_store(s, ty, n, c), rows
    if what == 'sustp':
        n = q.choice((1, 2, 4))
        return 'sust.p.%s%s.b32.%s [%%t, %s], %s;' % (s.geom, vector(n), s.cl, at, braced(c[:n])), rows
    if what == 'sured':
        o, ty = q.choice(REDUCTIONS)
        return 'sured.b.%s.%s.%s.%s [%%t, %s], %s;' % (o, s.geom, ty, s.cl, at, c[0]), rows
    return (
        'sured.p.%s.%s.b32.%s [%%t, %s], %s;'
        % (q.choice(('add', 'min', 'max', 'and', 'or')), s.geom, s.cl, at, c[0]),
        rows,
    )


def surface_case(q, name, rows):
    s = surface_shape(q)
    r = res('array', s.fmt, s.ch, s.w, s.h, s.d, s.flags)
    r['data'] = data(q, s.fmt, s.ch, r)
    s.cl = q.choice(('clamp', 'zero'))
    what = q.choice(('suld', 'suld', 'sust', 'sustp', 'sured', 'suredp'))
    if what == 'suld':
        op, draws, n = surface_load(q, s)
        case(name, op, r, None, [tuple(x() for x in draws) for _ in range(rows)], n)
        return
    made = surface_write(q, s, what)
    if made:
        case(name, made[0], r, None, made[1], 1)


def make(seed, count, rows):
    q = random.Random(seed)
    for k in range(count):
        m = q.random()
        (texture_case if m < .78 else gather_case if m < .86 else surface_case)(q, 'random/%d-%d' % (seed, k), rows)


def cases():
    """Adds random cases with small resources. Ellipses have separate cases."""
    kept = len(CASES)
    make(401, 450, 100)
    CASES[kept:] = [
        c
        for c in CASES[kept:]
        if len(c['res']['data']) <= 1200 and not (c['tex'] and c['tex'].get('aniso', 0) > 1 and '.grad' in c['op'])
    ]
    ellipses()


def ellipses():
    """Adds gradient cases with samples along an ellipse, on two levels and on one."""
    q = random.Random(601)
    kept = len(CASES)
    for k in range(1000):
        texture_case(q, 'ellipse/%d' % k, 16, True)
    CASES[kept:] = [c for c in CASES[kept:] if '.grad' in c['op'] and len(c['res']['data']) <= 400]
