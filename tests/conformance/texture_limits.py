"""Cases of textures.py at the limits.

They cover level biases, huge steps and areas, tld4 across cube edges, unaligned surface rows, and border colours."""

import random

from texture_cases import *

Q = random.Random(2311)
INFINITE = float('inf')
FAR = (0.0, 1.0, 300.7, 65536.25, 1e9, 2.0 ** 64, 2.0 ** 96 * 1.7, 2.0 ** 97, 2.0 ** 119, 1.7e38, 3e38, INFINITE)


def sign():
    return Q.choice((-1, 1))


def biases():
    """Adds cases for the computed level, in steps of 1/256. The texels are level numbers."""
    r = chain('f32', 64, 0, 0, 7, lambda l, x, y, z: floats(l))
    for aniso, mipfilter, flags in (
        (0, 0, 0),
        (0, 1, 0),
        (2, 0, 0),
        (3, 1, 0),
        (4, 0, 0),
        (16, 0, 0),
        (16, 1, 0),
        (16, 0, NOTRI),
    ):
        for bias in (-17, -15.5, -14.9, -1.37, .001, .5, 8.123, 14.9, 15.2, 16):
            lods = [k / 2 - bias + Q.randrange(-4, 5) / 512 for k in range(14)] + [
                sign() * Q.uniform(7, 22) for _ in range(6)
            ]
            case(
                'limit/bias-%d-%d-%d-%g' % (aniso, mipfilter, flags, bias),
                tex('1d', mode='.level', tail=', %c1'),
                r,
                T(POINT, CLAMP, NORM | flags, mipfilter=mipfilter, aniso=aniso, bias=float(bias)),
                [(fb(0.3), fb(v)) for v in lods],
            )


def far_row(count):
    kinds = [
        (
            Q.choice(FAR[:5])
            if Q.random() < 0.5
            else Q.choice(FAR[5:]) if Q.random() < 0.7 else 2 ** Q.uniform(90, 127.9)
        )
        for _ in range(count)
    ]
    return tuple(fb(sign() * v) for v in kinds)


def far_steps():
    plane = res(ch=1, w=16, h=16, data=floats(*[Q.uniform(-1, 1) for _ in range(256)]))
    for norm in (0, NORM):
        at = (.5, .5) if norm else (8.0, 8.0)
        for aniso in (2, 6, 16):
            rows = [tuple(fb(v) for v in at) + far_row(4) for _ in range(150)]
            for _ in range(100): # areas around 2^32
                a = Q.uniform(12, 30)
                b = 32 - a - (8 if norm else 0) + Q.choice((0, 0, Q.uniform(-1, 1), Q.uniform(-.02, .02)))
                rows.append(
                    tuple(fb(v) for v in at + (sign() * 2**a, Q.uniform(-1, 1), Q.uniform(-1, 1), sign() * 2**b))
                )
            case(
                'limit/far-%d-%d' % (norm, aniso),
                tex('2d', mode='.grad', tail=', {%c2,%c3}, {%c4,%c5}'),
                plane,
                T(LINEAR, CLAMP, norm | NOTRI, aniso=aniso),
                rows,
            )
    cube = chain('f32', 16, 16, 6, 5, lambda l, x, y, z: floats(l), flags=CUBE)
    for at in ((1.0, .11, .07), (-.3, 2.5, .7)):
        rows = []
        for _ in range(150): # one direction is large or infinite
            near = [fb(sign() * 2 ** Q.uniform(-9, 0)) for _ in range(6)]
            near[Q.randrange(6)] = fb(sign() * Q.choice((1e9, 2.0 ** 64, INFINITE, INFINITE)))
            rows.append(tuple(fb(v) for v in at) + tuple(near))
        case(
            'limit/far-cube-%g' % at[0],
            tex('cube', mode='.grad', tail=', {%c3,%c4,%c5,%c5}, {%c6,%c7,%c8,%c8}'),
            cube,
            T(LINEAR, CLAMP, NORM | NOTRI, mipfilter=LINEAR),
            rows,
        )


def gathered_cubes():
    for fmt, ch in (('f32', 1), ('u32', 1), ('f16', 2), ('u8', 4), ('s16', 1)):
        as_int = fmt == 'u32'
        one = texels(fmt, 3, 6 * 9 * ch)
        r = res(fmt=fmt, ch=ch, w=3, h=3, d=6, flags=CUBE, data=one)
        edge = lambda: Q.choice((Q.uniform(-1, 1), sign() * Q.uniform(.6, 1), sign() * Q.uniform(.8, 1)))
        rows = [tuple(fb(v) for v in Q.sample((float(sign()), edge(), edge()), 3)) for _ in range(150)]
        case(
            'limit/gather-%s' % fmt,
            'tld4.%s.cube.v4.%s.f32 {%%d0,%%d1,%%d2,%%d3}, [%%t, {%%c0,%%c1,%%c2,%%c2}];'
            % ('rgba'[ch - 1], 'u32' if as_int else 'f32'),
            r,
            T(POINT, CLAMP, NORM | SEAMLESS | (INT if as_int else 0)),
            rows,
            4,
        )


def rows_of_surfaces():
    """Rows of 12 and 20 bytes, sums of 8."""
    for w in (3, 5):
        r = res(fmt='u32', w=w, h=3, flags=SURF, data=bytes(Q.randrange(256) for _ in range(12 * w)))
        for op, unit in (
            ('sured.b.add.2d.u64.zero', 8),
            ('sured.b.min.2d.s64.clamp', 8),
            ('sured.p.max.2d.b64.zero', 1),
        ):
            rows = [(x * unit, y, Q.getrandbits(32), Q.getrandbits(32)) for x in range(w // 2) for y in range(3)]
            case(
                'limit/rows-%d-%s' % (w, op),
                '{ .reg .b64 %%q; mov.b64 %%q, {%%c2,%%c3}; %s [%%t, {%%c0,%%c1}], %%q; }' % op,
                r,
                None,
                rows,
            )


def borders():
    """Colours about halfway between two of the 8 bits of sRGB."""
    halfway = lambda: (((Q.randrange(11, 255) + .5 + Q.uniform(-.01, .01)) / 255 + .055) / 1.055) ** 2.4
    r = res('array', 'u8', 4, 1, 1, data=bytes(4))
    for k in range(16):
        case(
            'limit/border-%d' % k,
            tex('2d'),
            r,
            T(POINT, BORDER, NORM | SRGB, border=tuple(halfway() for _ in range(4))),
            [(fb(-3.0), fb(-3.0))],
            4,
        )


def limits():
    for make in (biases, far_steps, gathered_cubes, rows_of_surfaces, borders):
        make()
