"""Random cases of textures.py over all formats, block formats among them, geometries, modes and instructions."""
import random
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
    return u(q.choice((q.randrange(-3, n + 3), q.randrange(n), q.randrange(n), q.choice((-0x80000000, 0x7fffffff, 1 << 24, -1, n, 65536, q.getrandbits(32))))))


def layer(q, n):
    return u(q.choice((q.randrange(n), q.randrange(n), q.randrange(n + 2), q.choice((-1, 0x7fffffff, -0x80000000, 65535, 65536, 65537, 100)))))


def lod(q, levels):
    b = bits_any(q)
    return b if b is not None and q.random() < .3 else fb(q.choice((q.uniform(-1, levels + 1), q.uniform(0, levels), q.randrange(0, 512 * levels) / 512, q.uniform(-30, 30))))


def data(q, fmt, ch, r):
    n = sum(L[0] * L[1] * L[2] for l in range(r['levels']) for L in (layers(r, l),))
    texture_cases.R.seed(q.randrange(1 << 30))
    size = FORMATS[fmt][1]
    pools = [q.choice((0, 1, 2, 3, 4, 5, 6, 7)) for _ in range(3)] if fmt[0] == 'f' else [q.choice((0, 1, 2, 3, 3)) for _ in range(3)]
    some = [texels(fmt, q.choice(pools), 1) for _ in range(min(n * ch, 4096))]
    if n * ch <= 4096:
        return b''.join(some)
    return b''.join(q.choice(some) for _ in range(n * ch)) if n * ch < 200000 else (b''.join(some) * (n * ch // len(some) + 1))[:n * ch * size]


BLOCK_CHANNELS = {k: 1 if k[:3] == 'bc4' else 2 if k[:3] == 'bc5' else 3 if k[:3] == 'bc6' else 4 for k in BLOCKS}


def texture_case(q, name, rows):
    fmt = q.choice(list(FORMATS) + ['f32', 'f16', 'u8', 'u8'])
    ch = q.choice((1, 1, 2, 4))
    other = q.choice(list(BLOCKS) + list(NORMAL)) if q.random() < .3 else None
    if other:
        fmt = 'u8'
        ch = BLOCK_CHANNELS[other] if other in BLOCKS else ch
    kind = q.choice(('array', 'array', 'array', 'mip', 'mip', 'linear', 'pitch'))
    geom = q.choice(('1d', '2d', '2d', '2d', '3d', '3d', 'a1d', 'a2d', 'cube', 'acube'))
    if kind == 'linear':
        geom = '1d'
    if kind == 'pitch':
        geom = '2d'
    w, h, d, flags = q.choice(SIZES), 0, 0, 0
    if geom in ('1d', 'a1d') and q.random() < .4:
        w = q.choice((255, 1000, 4096, 8192, 8193, 16384, 16385, 20000, 32768))
    if geom in ('2d', 'a2d', '3d'):
        h = q.choice(SIZES)
        if geom != 'a2d' and q.random() < .04:
            w, h = q.choice(((9000, 2), (3, 9000), (16384, 2)))
    if geom == '3d':
        h = min(h, 16)
        d = q.choice((1, 2, 3, 4, 5, 8, 16))
    if geom in ('a1d', 'a2d'):
        d, flags = q.choice((1, 2, 3, 7)), LAYERED
    if 'cube' in geom:
        w = h = q.choice((1, 2, 3, 4, 5, 8, 16, 17))
        d, flags = (6, CUBE) if geom == 'cube' else (12, CUBE | LAYERED)
    levels = 1
    if kind == 'mip':
        top = max(w, h, 1 if flags else d).bit_length()
        levels = q.randrange(1, top + 1)
    if other and (kind not in ('array', 'mip') or other in BLOCKS and not h):
        other, ch = None, 4 if ch == 3 else ch
    r = res(kind if kind in ('array', 'mip') else kind, fmt, ch, w, h, d, flags, levels)
    r['data'] = data(q, fmt, ch, r)
    if kind == 'pitch':
        r['pitch'] = (w * ch * FORMATS[fmt][1] + 31) // 32 * 32 + q.choice((0, 32))
        need = r['pitch'] * h
        r['data'] = (r['data'] * (need // len(r['data']) + 1))[:need]
    if other:
        r['fmt'] = other
        n = sum(a * b * c for l in range(levels) for a, b, c in (storage(r, l),))
        r['data'] = bytes(q.getrandbits(8) for _ in range(n))
    isf = fmt[0] == 'f' or other is not None
    fl = q.choice((0, NORM, NORM)) | (SRGB if other and other[-1] == 's' else 0)
    if 'cube' in geom or kind == 'mip':
        fl |= NORM
    if kind == 'linear':
        fl = 0
    as_int = not isf and (fmt[1:] == '32' or q.random() < .35)
    if as_int:
        fl |= INT
    if fmt == 'u8' and not other and not as_int and q.random() < .4:
        fl |= SRGB
    if 'cube' in geom and q.random() < .6:
        fl |= SEAMLESS
    if q.random() < .6:
        fl |= NOTRI
    f = q.choice((POINT, LINEAR, LINEAR))
    if as_int and q.random() < .7 or kind == 'linear':
        f = POINT
    border = tuple(q.choice((0.0, 1.0, q.uniform(-2, 2), q.random(), q.randrange(256) / 255)) for _ in range(4))
    t = dict(aniso=q.choice((0, 0, 2, 3, 4, 6, 8, 10, 12, 16, 16)), filter=f, addr=tuple(q.randrange(4) for _ in range(3)), flags=fl, border=border, mipfilter=q.randrange(2))
    if q.random() < .4:
        t.update(bias=q.choice((q.uniform(-3, 3), q.uniform(-16, 16))), min=q.choice((0, q.uniform(0, 4))), max=q.choice((100, q.uniform(0, 6))))
    norm = bool(fl & NORM)
    dims = {'1d': 1, 'a1d': 1, '2d': 2, 'a2d': 2, '3d': 3, 'cube': 3, 'acube': 3}[geom]
    sizes = (w, h, d)
    mode = q.choice(('', '', 'level', 'level', 'grad')) if kind == 'mip' else q.choice(('', '', '', 'level', 'grad'))
    ints = 'cube' not in geom and q.random() < (.6 if kind == 'linear' else .15) and mode != 'grad'
    if 'cube' in geom and mode == 'grad':
        mode = 'level'
    if kind == 'linear':
        mode = ''
    dt = q.choice(('u32', 's32')) if as_int else q.choice(('f32', 'f32', 'f32', 'f16'))
    k = 0
    lanes = []
    if flags & LAYERED:
        lanes.append(lambda: layer(q, d // 6 if flags & CUBE else d))
    for n in range(dims):
        if 'cube' in geom:
            lanes.append(lambda: q.choice((fb(q.uniform(-1, 1)), fb(q.uniform(-1, 1)), fb(q.uniform(-1, 1)), fb(q.choice((-1, 1, 0, .5))), q.choice(HARD))) if q.random() < .2 else fb(q.uniform(-1, 1)))
        else:
            lanes.append((lambda n=n: icoord(q, sizes[n])) if ints else (lambda n=n: coord(q, sizes[n], norm)))
    n = len(lanes)
    tail = ''
    if mode == 'level':
        lanes.append((lambda: u(q.choice((q.randrange(levels), q.randrange(-1, levels + 2), q.getrandbits(32))))) if ints else (lambda: lod(q, levels)))
        tail = ', %%c%d' % n
    if mode == 'grad':
        step = lambda s: (lambda: fb(q.choice((-1, 1)) * 2 ** q.uniform(-4, 7) / (s if norm else 1)) if q.random() < .9 else q.choice(HARD))
        for way in range(2):
            lanes += [step(sizes[e]) for e in range(dims)]
        g = lambda b: '{%s}' % ','.join('%%c%d' % (b + min(e, dims - 1)) for e in range(4 if dims == 3 else dims))
        tail = ', %s, %s' % (g(n), g(n + dims))
    if 'cube' not in geom and q.random() < .15:
        off = [q.randrange(-8, 8) for _ in range(dims)]
        if dims == 3:
            off.append(0)
        tail += ', {%s}' % ','.join(map(str, off))
    op = tex(geom, dt, 's32' if ints else 'f32', '.' + mode if mode else '', tail)
    case(name, op, r, t, [tuple(x() for x in lanes) for _ in range(rows)], 4 if ch > 1 or q.random() < .2 else 1)


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
    t = dict(filter=q.choice((POINT, LINEAR)) if not as_int else POINT, addr=tuple(q.randrange(4) for _ in range(3)), flags=fl, border=tuple(q.choice((0.0, 1.0, q.uniform(-2, 2))) for _ in range(4)))
    tail = ', {%d,%d}' % (q.randrange(-8, 8), q.randrange(-8, 8)) if q.random() < .2 else ''
    op = 'tld4.%s.2d.v4.%s.f32 {%%d0,%%d1,%%d2,%%d3}, [%%t, {%%c0,%%c1}]%s;' % (q.choice('rgba'), q.choice(('u32', 's32')) if as_int else 'f32', tail)
    case(name, op, r, t, [(coord(q, w, fl & NORM), coord(q, h, fl & NORM)) for _ in range(rows)], 4)


def surface_case(q, name, rows):
    fmt, ch = q.choice(list(FORMATS)), q.choice((1, 2, 4))
    geom = q.choice(('1d', '2d', '2d', '3d', 'a1d', 'a2d'))
    w, h, d, flags = q.choice((1, 3, 4, 7, 8, 16, 33)), 0, 0, SURF
    if geom in ('2d', '3d', 'a2d'):
        h = q.choice((1, 2, 3, 5, 8))
    if geom in ('3d', 'a1d', 'a2d'):
        d = q.choice((1, 2, 3, 5))
    if geom[0] == 'a':
        flags |= LAYERED
    r = res('array', fmt, ch, w, h, d, flags)
    r['data'] = data(q, fmt, ch, r)
    cl = q.choice(('clamp', 'zero'))
    size = FORMATS[fmt][1] * ch
    what = q.choice(('suld', 'suld', 'sust', 'sustp', 'sured', 'suredp'))
    dims = {'1d': 1, 'a1d': 1, '2d': 2, 'a2d': 2, '3d': 3}[geom]
    sizes = (w, h, d)
    lay = flags & LAYERED
    far = lambda n: u(q.choice((q.randrange(-2, n + 2), q.randrange(n), q.randrange(n), q.choice((-1, n, 0x7fffffff, -0x80000000, q.getrandbits(32))))))
    if what == 'suld':
        ty, n = q.choice((('b8', 1), ('b8', 2), ('b8', 4), ('b16', 1), ('b16', 2), ('b16', 4), ('b32', 1), ('b32', 2), ('b32', 4)))
        a = int(ty[1:]) // 8 * n
        v = '' if n == 1 else '.v%d' % n
        out = '%d0' if n == 1 else '{%s}' % ','.join('%%d%d' % k for k in range(n))
        at = ([lambda: layer(q, d)] if lay else []) + [lambda: u(q.choice((q.randrange(-2, w * size // a + 3) * a, q.choice((0x7ffffff0, -0x80000000, (q.getrandbits(32) & ~15)))))) & u(-a)] + [lambda n=n: far(sizes[n]) for n in range(1, dims)]
        op = 'suld.b.%s%s.%s.%s %s, [%%t, %s];' % (geom, v, ty, cl, out, COORD[geom])
        case(name, op, r, None, [tuple(x() for x in at) for _ in range(rows)], n)
        return
    # writers: every place once, none outside with .clamp
    unit = {'sustp': 1, 'suredp': 1}.get(what)
    if what in ('sured', 'suredp') and geom[0] == 'a':
        return
    if what in ('sured', 'suredp') and fmt not in ('u32', 's32') or ch == 2 and what == 'suredp':
        what = 'sustp' if what == 'suredp' else 'sust'
        unit = {'sustp': 1}.get(what)
    if what == 'sust':
        ty, n = q.choice((('b8', 1), ('b8', 2), ('b8', 4), ('b16', 1), ('b16', 2), ('b16', 4), ('b32', 1), ('b32', 2), ('b32', 4)))
        a = int(ty[1:]) // 8 * n
    elif what == 'sured':
        a = 4
    else:
        a = 1
    xs = range(0, max(w * size // a, 0)) if not unit else range(w)
    if what == 'suredp' and ch == 4:
        xs = range(0, w)
    places = [(z, x * (a if not unit else 1), y) for z in range(max(d, 1)) for x in xs for y in range(max(h, 1))]
    q.shuffle(places)
    if cl == 'zero':
        places += [(q.randrange(-2, d + 3) if d else 0, q.choice((-a, (w * size // a) * a + a * 2, -0x10000)) if not unit else q.choice((-1, w, w + 5, -70000)), q.randrange(-1, h + 1)) for _ in range(20)]
    rws = []
    for z, x, y in places[:400]:
        at = {'1d': (x,), '2d': (x, y), '3d': (x, y, z), 'a1d': (z, x), 'a2d': (z, x, y)}[geom]
        rws.append(tuple(u(v) for v in at) + tuple(q.choice((q.getrandbits(32), fb(q.uniform(-2, 2)), fb(q.uniform(-300, 300)), u(q.randrange(-300, 300)))) for _ in range(4)))
    if not rws:
        return
    b = len(rws[0]) - 4
    c = ['%%c%d' % (b + k) for k in range(4)]
    if what == 'sust':
        v = '' if n == 1 else '.v%d' % n
        src = c[0] if n == 1 else '{%s}' % ','.join(c[:n])
        pre, regs = '', src
        if ty != 'b32':
            # narrow registers
            pre = '{ .reg .b16 %q<4>; ' + ' '.join('cvt.u16.u32 %%q%d, %s;' % (k, c[k]) for k in range(n)) + ' '
            regs = '%q0' if n == 1 else '{%s}' % ','.join('%%q%d' % k for k in range(n))
        op = '%ssust.b.%s%s.%s.%s [%%t, %s], %s;%s' % (pre, geom, v, ty, cl, COORD[geom], regs, ' }' if pre else '')
    elif what == 'sustp':
        n = q.choice((1, 2, 4))
        op = 'sust.p.%s%s.b32.%s [%%t, %s], %s;' % (geom, '' if n == 1 else '.v%d' % n, cl, COORD[geom], c[0] if n == 1 else '{%s}' % ','.join(c[:n]))
    elif what == 'sured':
        o, ty = q.choice((('add', 'u32'), ('add', 's32'), ('min', 'u32'), ('max', 'u32'), ('min', 's32'), ('max', 's32'), ('and', 'b32'), ('or', 'b32')))
        op = 'sured.b.%s.%s.%s.%s [%%t, %s], %s;' % (o, geom, ty, cl, COORD[geom], c[0])
    else:
        op = 'sured.p.%s.%s.b32.%s [%%t, %s], %s;' % (q.choice(('add', 'min', 'max', 'and', 'or')), geom, cl, COORD[geom], c[0])
    case(name, op, r, None, rws, 1)


def make(seed, count, rows):
    q = random.Random(seed)
    for k in range(count):
        m = q.random()
        (texture_case if m < .78 else gather_case if m < .86 else surface_case)(q, 'random/%d-%d' % (seed, k), rows)


def cases():
    """Those of few texels, and without ellipses, whose sums are not known to the last bit."""
    kept = len(CASES)
    make(401, 450, 100)
    CASES[kept:] = [c for c in CASES[kept:] if len(c['res']['data']) <= 1200 and not (c['tex'] and c['tex'].get('aniso', 0) > 1 and '.grad' in c['op'])]
