"""The cases of copies.py: arguments of tensor maps, and copies with the initial memory. They are deterministic."""

import random

from copy_driver import ELEMENT, IM2COL, NULLS, SEED, TILED, im2col, tiled
from copy_kernels import *

U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ, U4A8, U4A16, U6A16 = range(16)
DATA = 65536
UNTOUCHED = 3
SPAN = (0, 32, 64, 128, 128, 128, 128)  # swizzle span in bytes
CASES = []
fresh = 0  # seed of the cases


def chance(k):
    return random.Random('%d %d' % (fresh, k) if fresh else k)


def case(name, text, m=None, data=(1, DATA), out=None, args=(), ctas=1, block=128, probe=False):
    """Adds a case. probe: the meaning of the answer is unknown or undefined; it is not part of the recording."""
    CASES.append(
        dict(
            name=name,
            text=text,
            map=m,
            data=data,
            out=out or (UNTOUCHED, OUT * ctas),
            args=tuple(args) + (0,) * (16 - len(args)),
            grid=ctas,
            block=block,
            probe=probe,
        )
    )


def args(at=(), offset=(), place=0, expect=0, mask=0, sender=0):
    return tuple(at) + (0,) * (5 - len(at)) + tuple(offset) + (0,) * (3 - len(offset)) + (place, expect, mask, sender)


def ceil(a, b):
    return -(-a // b)


def product(v):
    n = 1
    for x in v:
        n *= x
    return n


def taken(m):
    n = [ceil(b, s) if d or m['interleave'] else b for d, (b, s) in enumerate(zip(m['box'], m['steps']))]
    if m['interleave']:
        n[-2] = 1
    return n


def bytes_of(m):
    unit = 16 * m['interleave'] or ELEMENT[m['type']]
    if m['mode'] == IM2COL:
        return (1 if m['interleave'] else m['channels']) * m['pixels'] * unit
    return product(taken(m)) * unit


def room_of(m, row):
    """Returns the shared memory size of a box with rows of `row` bytes. Short rows are one swizzle span apart."""
    return bytes_of(m) // row * max(row, SPAN[m['swizzle']])


def dense(dims, size, R, pad=True):
    """Returns strides for these dimensions, in multiples of 16 bytes, with occasional gaps."""
    out, n = [], dims[0] * size
    for d in dims[1:]:
        n = ceil(n, 16) * 16 + (16 * R.randrange(3) if pad else 0)
        out.append(n)
        n *= d
    return out, n


def random_tile(R, type, rank, swizzle=0, whole_row=False, most=SMEM, steps=True):
    """Returns a tensor of at most 64 KiB and a box of at most `most` bytes."""
    size = ELEMENT[type]
    while True:
        span = SPAN[swizzle]
        row = span if whole_row and span else 16 * R.randrange(1, (span or 256) // 16 + 1)
        if row // size > 256:
            continue
        dims = [max(1, row // size + R.randrange(-row // size, 3 * row // size))] + [
            R.randrange(1, (70, 40, 14, 8, 5)[rank - 1]) for _ in range(rank - 1)
        ]
        strides, total = dense(dims, size, R)
        base = 16 * R.randrange(4)
        box = [row // size] + [R.randrange(1, (2, 33, 9, 6, 5)[rank - 1] + 1) for _ in range(rank - 1)]
        step = [1] + [R.choice((1, 1, 1, 2, 3, 5)) if steps else 1 for _ in range(rank - 1)]
        m = tiled(type, base, dims, strides, box, step, 0, swizzle, R.randrange(4))
        if total + base <= DATA and room_of(m, row) <= most and all(s < 1 << 16 for s in strides):
            return m


def whole(m, at):
    """Returns `at` with the position in a row aligned down to the required 16 bytes."""
    unit = 1 if m['interleave'] else 16 // ELEMENT[m['type']]
    return [at[0] // unit * unit, *at[1:]]


def corner(R, m, store=False):
    """Returns a start for a box, usually partly inside the tensor. Stores have no negative coordinates."""
    at = []
    for n, b in zip(m['dims'], m['box']):
        kind = R.randrange(6)
        x = (
            0
            if kind == 0
            else (
                R.randrange(-b, n + 1)
                if kind < 4
                else R.randrange(0, max(1, n - b + 1)) if kind == 4 else R.randrange(-3 * b, n + 2 * b)
            )
        )
        at.append(abs(x) if store else x)
    return whole(m, at)


def fills(type):
    return (0, 1) if F16 <= type <= TF32_FTZ else (0,)


def tile_loads():
    R = chance(1)
    for type in range(13):
        for rank in range(1, 6):
            for swizzle in range(4):
                for k in range(3):
                    m = random_tile(R, type, rank, swizzle, whole_row=k != 2, most=SMEM - 2048)
                    m['fill'] = R.choice(fills(type))
                    place = 128 * R.randrange(16)
                    case(
                        'load/tile-%d-%dd-%d-%d' % (type, rank, swizzle, k),
                        load(rank),
                        m,
                        data=((1, 2, 0)[k], DATA),
                        args=args(corner(R, m), (), place, bytes_of(m)),
                    )
    # Every row size with every swizzle, and every box position
    for swizzle in range(7):
        for row in range(16, (SPAN[swizzle] or 128) + 1, 16):
            for place in (0, 128, 256, 512, 640, 1024):
                m = tiled(U16, 0, (100, 60), (208,), (row // 2, 20), (1, 1), 0, swizzle)
                case(
                    'row/%d-%d-%d' % (swizzle, row, place),
                    load(2),
                    m,
                    data=(0, DATA),
                    args=args((8, 5), (), place, bytes_of(m)),
                )
    for units, y in (
        (0, 0),
        (-1, 0),
        (0, -1),
        (-2, -4),
        (-1, -3),
        (1, 15),
        (2, 0),
        (3, 2),
        (7, 2),
        (0, 16),
        (1 << 26, 0),
        (0, 1 << 30),
        (-1 << 27, 0),
        (0, -1 << 31),
        (1, 0x7FFFFFFF),
    ):
        for type in (U8, F32, F64, F32_FTZ, TF32, TF32_FTZ, F16, BF16):
            at = 16 // ELEMENT[type] * units, y
            for fill in fills(type):
                m = tiled(type, 16, (44, 16), (48 * ELEMENT[type],), (32, 4), (1, 1), 0, 0, 0, fill)
                case(
                    'corner/%d-%d-%d-%d' % (type, fill, *at),
                    load(2),
                    m,
                    data=(2, DATA),
                    args=args(at, (), 0, bytes_of(m)),
                )
    for step in range(1, 9):
        for box in (1, 2, 7, 8, 9, 16):
            m = tiled(U16, 0, (64, 40), (128,), (8, box), (1, step))
            case('step/%d-%d' % (step, box), load(2), m, data=(0, DATA), args=args((8, 11), (), 0, bytes_of(m)))
    for type in (U16, F32, TF32):
        for step in (2, 8):
            m = tiled(type, 0, (64, 4), (256,), (16, 2), (step, 1))
            case('step0/%d-%d' % (type, step), load(2), m, data=(0, DATA), args=args((8, 1), (), 0, bytes_of(m)))
    m = tiled(U32, 0, (64, 40), (256,), (32, 16), (1, 1))
    case('hint/load', load(2, hint=True), m, args=args((4, 4), (), 0, bytes_of(m)))


def tile_stores():
    R = chance(2)
    for type in range(13):
        for rank in range(1, 6):
            for swizzle in range(4):
                m = random_tile(R, type, rank, swizzle, whole_row=R.randrange(4) != 0, most=SMEM - 2048)
                case(
                    'store/tile-%d-%dd-%d' % (type, rank, swizzle),
                    store(rank),
                    m,
                    data=(UNTOUCHED, DATA),
                    out=(2, OUT),
                    args=args(corner(R, m, True), (), 128 * R.randrange(16)),
                )
    for swizzle in range(4, 7):
        m = tiled(U16, 0, (100, 60), (208,), (64, 20), (1, 1), 0, swizzle)
        case('store/atom-%d' % swizzle, store(2), m, data=(UNTOUCHED, DATA), out=(0, OUT), args=args((8, 5), (), 0))


REDUCTIONS = {
    'add': (U32, S32, U64, F16, F32, BF16),
    'min': (U32, S32, U64, S64, F16, BF16),
    'max': (U32, S32, U64, S64, F16, BF16),
    'inc': (U32,),
    'dec': (U32,),
    'and': (U32, S32, U64),
    'or': (U32, S32, U64),
    'xor': (U32, S32, U64),
}
ODD = (
    ('add', F64),
    ('and', S64),
    ('add', S64),
    ('min', F32),
    ('add', F32_FTZ),
    ('add', TF32),
    ('add', U8),
    ('and', U16),
    ('and', F16),
    ('inc', S32),
    ('min', F64),
)  # unknown behaviour
NEAR = {F16: 6, BF16: 7, F64: 5}


def tile_reductions():
    R = chance(3)
    for op in REDUCTIONS:
        for type in range(13):
            known = type in REDUCTIONS[op]
            if not known and (op, type) not in ODD:
                continue
            for k in range(4 if known else 1):
                rank = R.randrange(1, 4) if known else 1
                m = random_tile(R, type, rank, R.randrange(4) if known else 0, most=4096, whole_row=True)
                p = 4 if op in ('inc', 'dec') and k < 2 else (1, 2, NEAR.get(type, 2), NEAR.get(type, 1))[k]
                case(
                    '%s/tile-%s-%d-%d' % ('reduce' if known else 'odd', op, type, k),
                    store(rank, op),
                    m,
                    data=(p + SEED, DATA),
                    out=(p, OUT),
                    args=args(corner(R, m, True), (), 0),
                    probe=not known,
                )


def random_columns(R, type, rank, swizzle=0, whole_row=False, most=SMEM, steps=True, store=False):
    size = ELEMENT[type]
    while True:
        span = SPAN[swizzle]
        row = span if whole_row and span else 16 * R.randrange(1, min(9, (span or 256) // 16 + 1))
        if row // size > 256:
            continue
        between = rank - 2
        dims = (
            [max(1, row // size + R.randrange(-row // size // 2, row // size))]
            + [R.randrange(1, (40, 12, 7)[between - 1]) for _ in range(between)]
            + [R.randrange(1, 6)]
        )
        strides, total = dense(dims, size, R)
        lower = [R.randrange(-3, 3) for _ in range(between)]
        upper = [R.randrange(-3, 3) for _ in range(between)]
        if store:
            lower, upper = [max(0, x) for x in lower], [min(0, x) for x in upper]
        if any(n - 1 + u < l for n, l, u in zip(dims[1:], lower, upper)):
            continue
        step = [1] + [R.choice((1, 1, 1, 2, 3)) if steps else 1 for _ in range(between)] + [1]
        m = im2col(
            type,
            16 * R.randrange(4),
            dims,
            strides,
            lower,
            upper,
            row // size,
            R.randrange(1, 130),
            step,
            0,
            swizzle,
            R.randrange(4),
        )
        if total + m['base'] <= DATA and room_of(m, row) <= most:
            return m


def pixel(R, m, store=False):
    """Returns the base of a filter in the bounding box."""
    between = len(m['dims']) - 2
    at = [R.choice((0, 0, R.randrange(-m['channels'], m['dims'][0] + 1)))]
    for d in range(between):
        at.append(R.randrange(m['lower'][d], m['dims'][d + 1] + m['upper'][d]))
    at.append(R.choice((0, R.randrange(m['dims'][-1]), R.randrange(-1, m['dims'][-1] + 2))))
    return whole(m, [abs(x) for x in at] if store else at)


def columns():
    R = chance(4)
    for type in range(13):
        for rank in range(3, 6):
            for k in range(6):
                m = random_columns(R, type, rank, (0, 1, 2, 3, 0, 3)[k], whole_row=k < 4, most=SMEM - 2048)
                m['fill'] = R.choice(fills(type))
                offset = [R.choice((0, 1, 2, R.randrange(1 << (5, 8, 5)[rank - 3]))) for _ in range(rank - 2)]
                place = 128 * R.randrange(16)
                case(
                    'load/columns-%d-%dd-%d' % (type, rank, k),
                    load(rank, True),
                    m,
                    data=((1, 2, 0)[k % 3], DATA),
                    args=args(pixel(R, m), offset, place, bytes_of(m)),
                )
            for k in range(2):
                m = random_columns(R, type, rank, R.randrange(4), whole_row=True, most=SMEM - 2048, store=True)
                case(
                    'store/columns-%d-%dd-%d' % (type, rank, k),
                    store(rank, '', True),
                    m,
                    data=(UNTOUCHED, DATA),
                    out=(1, OUT),
                    args=args(pixel(R, m, True), (), 128 * R.randrange(16)),
                )
    for op in REDUCTIONS:
        for type in REDUCTIONS[op]:
            m = random_columns(R, type, R.randrange(3, 6), 0, most=4096, store=True)
            p = 4 if op in ('inc', 'dec') else NEAR.get(type, 2)
            case(
                'reduce/columns-%s-%d' % (op, type),
                store(len(m['dims']), op, True),
                m,
                data=(p + SEED, DATA),
                out=(p, OUT),
                args=args(pixel(R, m, True), (), 0),
            )
    for x in (-1, 0, 6, 7):  # the edges of the bounding box
        for y in (-1, 0, 5):
            m = im2col(U16, 0, (16, 9, 7, 3), (32, 288, 2016), (-1, -1), (-1, -1), 8, 40, (1, 1, 1, 1))
            case(
                'edge/%d-%d' % (x, y),
                load(4, True),
                m,
                data=(0, DATA),
                args=args((0, x, y, 1), (0, 0), 0, bytes_of(m)),
            )
    for step in ((2, 1), (3, 1), (1, 2), (2, 3), (8, 8)):
        for x in range(-1, 4):
            m = im2col(U16, 0, (16, 9, 7, 3), (32, 288, 2016), (-1, -1), (0, 1), 8, 60, (1,) + step + (1,))
            case(
                'stride/%d-%d-%d' % (*step, x),
                load(4, True),
                m,
                data=(0, DATA),
                args=args((0, x, x, 1), (1, 0), 0, bytes_of(m)),
            )


def random_slices(R, type, rank, layout, swizzle):
    """Interleaved: dimension 0 has units of 16 or 32 bytes. The last but one counts slices; a box has one slice."""
    unit, size = 16 * layout, ELEMENT[type]
    while True:
        dims = [R.randrange(1, 30)] + [R.randrange(1, (9, 5, 4)[rank - 3]) for _ in range(rank - 1)]
        strides, n = [], dims[0] * unit
        for d in dims[1:]:
            n += 32 * R.randrange(2)
            strides.append(n)
            n *= d
        box = [16 // size * R.randrange(1, 4)] + [R.randrange(1, (7, 5, 4)[rank - 3]) for _ in range(rank - 1)]
        m = tiled(
            type,
            32 * R.randrange(3),
            dims,
            strides,
            box,
            [R.choice((1, 1, 1, 2, 3)) for _ in range(rank)],
            layout,
            swizzle,
            0,
            R.choice(fills(type)),
        )
        if n + m['base'] <= DATA and bytes_of(m) <= SMEM - 2048:
            return m


def interleaved():
    R = chance(5)
    for layout in (1, 2):
        for type in (U8, U16, F32, F64, TF32, F16):
            for rank in (3, 4, 5):
                for swizzle in range(4):
                    m = random_slices(R, type, rank, layout, swizzle)
                    case(
                        'interleave/%d-%d-%dd-%d' % (layout, type, rank, swizzle),
                        load(rank),
                        m,
                        data=(swizzle % 3, DATA),
                        args=args(corner(R, m), (), 128 * R.randrange(16), bytes_of(m)),
                    )
                m = random_slices(R, type, rank, layout, R.randrange(4))
                case(
                    'interleave/store-%d-%d-%dd' % (layout, type, rank),
                    store(rank),
                    m,
                    data=(UNTOUCHED, DATA),
                    out=(0, OUT),
                    args=args(corner(R, m, True)),
                )
        for rank in (3, 4, 5):  # pixels along the dimensions before that of slices
            for k in range(8):
                unit = 16 * layout
                dims = (9, 5, 3)[:rank - 2] + (4, 3)
                strides = [unit * product(dims[:d]) for d in range(1, rank)]
                swizzle = layout - 1 if k < 4 else k % 4
                m = im2col(
                    U16,
                    0,
                    dims,
                    strides,
                    (-1,) * (rank - 2),
                    (0,) * (rank - 2),
                    8 * layout * (1 + k % 2),
                    (20, 20, 7, 33)[k % 4],
                    (1, 1 + (k == 5), 1, 1, 1)[:rank],
                    layout,
                    swizzle,
                )
                at = [
                    (1,) * (rank - 2) + (k % 2, 1),
                    (-1,) * (rank - 2) + (0, 0),
                    (0,) * (rank - 2) + (3, 2),
                    (0,) * (rank - 2) + (4, 1),
                    (2, 1, 0)[: rank - 2] + (-1, 1),
                    (1,) * (rank - 2) + (1, 0),
                    (3, 1, 1)[: rank - 2] + (0, 3),
                    (0,) * (rank - 1) + (1,),
                ][k]
                offset = [(1, 0, 0), (0, 0, 0), (0, 1, 1), (1, 1, 0), (0, 0, 0), (2, 1, 0), (0, 0, 0), (0, 0, 1)][k][
                    : rank - 2
                ]
                case(
                    'slices/columns-%d-%d-%dd' % (layout, k, rank),
                    load(rank, True),
                    m,
                    data=(0, DATA),
                    args=args(at, offset, 0, bytes_of(m)),
                )
                if k in (0, 2):
                    case(
                        'slices/store-%d-%d-%dd' % (layout, k, rank),
                        store(rank, '', True),
                        m,
                        data=(UNTOUCHED, DATA),
                        out=(0, OUT),
                        args=args([abs(x) for x in at]),
                    )


def multicasts():
    R = chance(6)
    for ctas in (2, 3, 4):
        for k in range(3):
            mask, sender = (1 << ctas) - 1 if k == 0 else R.randrange(1, 1 << ctas), R.randrange(ctas)
            m = random_tile(R, F32, 2, 3, whole_row=True, most=4096)
            place = 128 * R.randrange(8)
            case(
                'multicast/tile-%d-%d' % (ctas, k),
                load(2, ctas=ctas),
                m,
                args=args(corner(R, m), (), place, bytes_of(m), mask, sender),
                ctas=ctas,
            )
            m = random_columns(R, F16, 4, most=4096)
            case(
                'multicast/columns-%d-%d' % (ctas, k),
                load(4, True, ctas=ctas),
                m,
                args=args(pixel(R, m), (1, 0), place, bytes_of(m), mask, sender),
                ctas=ctas,
            )
            case(
                'multicast/bulk-%d-%d' % (ctas, k),
                bulk_multicast(ctas),
                args=args((), (), place + 16, 16 * R.randrange(1, 100), mask, sender),
                ctas=ctas,
            )
    for rank in range(1, 6):
        case('prefetch/%dd' % rank, prefetch(rank), random_tile(R, U32, rank), args=args((0,) * rank))
        if rank >= 3:
            m = random_columns(R, U32, rank)
            case('prefetch/columns-%dd' % rank, prefetch(rank, True), m, args=args(pixel(R, m)))


# CUtensorMapDataType of each elemtype of tensormap.replace
ELEMTYPE = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12]


def changed():
    R = chance(7)
    plain = tiled(U32, 0, (64, 20, 10), (256, 5120), (16, 4, 2), (1, 1, 1))
    at = (4, 3, 1)

    def one(name, changes, expect, m=plain, corner=at, probe=False, rank=3):
        for in_global in (False, True):
            case(
                'replace/%s-%s' % (name, 'global' if in_global else 'shared'),
                replaced(rank, changes, in_global),
                m,
                data=(0, DATA + 128),
                args=args(corner, (), 0, expect),
                probe=probe,
            )

    size = bytes_of(plain)
    one('nothing', [], size)
    one('address', [('global_address', None, 1040)], size)
    for d in range(3):
        one('box-%d' % d, [('box_dim', d, (8, 3, 1)[d])], size // 2 if d != 1 else size * 3 // 4)
        one('dim-%d' % d, [('global_dim', d, (7, 5, 2)[d])], size)
        one('step-%d' % d, [('element_stride', d, 2)], size if d == 0 else size // 2)
        if d < 2:
            one('stride-%d' % d, [('global_stride', d, (272, 4096)[d])], size)
    one('rank-2', [('rank', None, 1)], 256, corner=at[:2], rank=2)
    one('rank-1', [('rank', None, 0)], 64, corner=at[:1], rank=1)
    one(
        'rank-4',
        [
            ('rank', None, 3),
            ('box_dim', 3, 2),
            ('global_dim', 3, 2),
            ('global_stride', 2, 20480),
            ('element_stride', 3, 1),
        ],
        2 * size,
        corner=at + (0,),
        rank=4,
    )
    for type in range(13):
        m = tiled(F16, 16, (64, 10, 10), (512, 5120), (32, 4, 2), (1, 1, 1), 0, 0, 0, 1)
        one(
            'type-%d' % type,
            [('elemtype', None, ELEMTYPE.index(type))],
            256 * ELEMENT[type],
            m,
            (-16, 2, 9),
            probe=type not in (F16, BF16, F32, F64, F32_FTZ, TF32, TF32_FTZ),
        )
        one(
            'type-%d-zeros' % type,
            [('elemtype', None, ELEMTYPE.index(type)), ('fill_mode', None, 0)],
            256 * ELEMENT[type],
            m,
            (-16, 2, 9),
        )
    for swizzle in range(4):
        one(
            'swizzle-%d' % swizzle,
            [('swizzle_mode', None, swizzle), ('box_dim', 0, (16, 8, 16, 32)[swizzle])],
            (16, 8, 16, 32)[swizzle] * 32,
        )
    one('fill', [('elemtype', None, 7), ('fill_mode', None, 1)], size, corner=(-4, 18, 9))
    for k in range(6):
        m, other = random_tile(R, U32, 3, R.randrange(4), True, 8192), random_tile(
            R, (F32, U16, BF16)[k % 3], 3, 0, False, 8192
        )
        changes = [
            ('global_address', None, m['base']),
            ('elemtype', None, ELEMTYPE.index(m['type'])),
            ('swizzle_mode', None, m['swizzle']),
            ('fill_mode', None, 0),
            ('interleave_layout', None, 0),
        ]
        changes += [
            (f, d, m[v][d])
            for d in range(3)
            for f, v in (('box_dim', 'box'), ('global_dim', 'dims'), ('element_stride', 'steps'))
        ] + [('global_stride', d, m['strides'][d]) for d in range(2)]
        one('all-%d' % k, changes, bytes_of(m), other, corner(R, m))


TYPES = {
    'and': ('b32', 'b64'),
    'or': ('b32', 'b64'),
    'xor': ('b32', 'b64'),
    'add': ('u32', 's32', 'u64', 'f16', 'bf16', 'f32', 'f64'),
    'inc': ('u32',),
    'dec': ('u32',),
    'min': ('u32', 's32', 'u64', 's64', 'f16', 'bf16'),
    'max': ('u32', 's32', 'u64', 's64', 'f16', 'bf16'),
}
REMOTE_TYPES = {
    'and': ('b32',),
    'or': ('b32',),
    'xor': ('b32',),
    'add': ('u32', 's32', 'u64'),
    'inc': ('u32',),
    'dec': ('u32',),
    'min': ('u32', 's32'),
    'max': ('u32', 's32'),
}
NEAR_OF = {'f16': 6, 'bf16': 7, 'f64': 5}


def untensored():
    for size in (4, 8, 16):
        for sizes in ('', 'src', 'ignore'):
            case('cp.async/%d-%s' % (size, sizes or 'all'), cp_async(size, sizes), args=args((), (), 16))
    for noinc in (False, True):
        case('cp.async/arrive-%s' % ('noinc' if noinc else 'inc'), cp_async_arrive(noinc), args=args((), (), 32))
    for kind in BULK:
        for n in (0, 16, 32, 48, 128, 1008, 4096, 8192 - 16):
            case(
                'bulk/%s-%d' % (kind, n),
                bulk(kind),
                out=(1 if kind in ('store', 'remote') else UNTOUCHED, OUT * BULK[kind][1]),
                data=(UNTOUCHED if kind == 'store' else 2, DATA),
                args=args((), (), 16, n),
                ctas=BULK[kind][1],
            )
    for op in TYPES:
        for type in TYPES[op]:
            for k, p in enumerate((4, 1) if op in ('inc', 'dec') else (1, 2, NEAR_OF.get(type, 2))):
                case(
                    'reduce/bulk-%s-%s-%d' % (op, type, k),
                    bulk_reduce(op, type, False),
                    data=(p + SEED, DATA),
                    out=(p, OUT),
                    args=args((), (), 32, 4080),
                )
        for type in REMOTE_TYPES[op]:
            for p in (1, 4):
                case(
                    'reduce/remote-%s-%s-%d' % (op, type, p),
                    bulk_reduce(op, type, True),
                    data=(p, DATA),
                    out=(p, 2 * OUT),
                    args=args((), (), 32, 4080),
                    ctas=2,
                )
    for vec, types in (
        ('', ('b32', 'u32', 's32', 'f32', 'b64', 'u64', 's64', 'f64')),
        ('v2', ('b32', 'f32', 'b64', 's64')),
        ('v4', ('b32', 'u32', 's32', 'f32')),
    ):
        for type in types:
            text, size = async_store(vec, type)
            case('st.async/%s-%s' % (vec or 'v1', type), text, args=args((), (), 64, 128 * size), ctas=2)
    for op in REMOTE_TYPES:
        for type in REMOTE_TYPES[op] + (('s64',) if op == 'add' else ()):
            text, size = async_red(op, type)
            case(
                'red.async/%s-%s' % (op, type),
                text,
                out=(4 if op in ('inc', 'dec') else 1, 2 * OUT),
                args=args((), (), 64, 128 * size),
                ctas=2,
            )


# ---- mbarrier: defined sequences, generated with a model of its counts

class Barrier:
    def __init__(self, R, count):
        self.R, self.pending, self.expected, self.tx, self.phase = R, count, count, 0, 0
        self.text = ['mbarrier.init.shared.b64 [%%m], %d;\n' % count]
        self.words, self.states = 0, []  # of a state: its register and its phase

    def put(self, line):
        self.text.append(line + ' st.shared.u32 [%%s+%d], %%i3;\n' % (4 * self.words))
        self.words += 1

    def test(self):
        R = self.R
        op = R.choice(('test_wait', 'try_wait'))
        usable = [r for r, phase in self.states if self.phase - phase <= 1]
        if usable and R.randrange(2):
            self.put('mbarrier.%s.shared.b64 %%q, [%%m], %%st%d; selp.u32 %%i3, 1, 0, %%q;' % (op, R.choice(usable)))
        else:
            self.put('mbarrier.%s.parity.shared.b64 %%q, [%%m], %d; selp.u32 %%i3, 1, 0, %%q;' % (op, R.randrange(2)))

    def settle(self):
        if not self.pending and not self.tx:
            self.phase += 1
            self.pending = self.expected

    def arrive(self):
        R = self.R
        n = R.randrange(1, self.pending + 1) if self.pending else 0
        kind = R.choice(('', '', '.noComplete', '.expect_tx'))
        if not n or len(self.states) == 40 or (kind == '.noComplete' and n == self.pending and not self.tx):
            return
        drop = R.randrange(4) == 0 and self.expected - n > 0
        r, tx = len(self.states), R.choice((0, 16, 100, 1000))
        if kind == '.expect_tx':
            n, operand = 1, ', %d' % tx
            self.tx += tx
        else:
            operand = ', %d' % n if n > 1 or kind or R.randrange(2) else ''
        self.states.append((r, self.phase))
        self.text.append(
            'mbarrier.arrive%s%s.shared.b64 %%st%d, [%%m]%s;\n' % ('_drop' if drop else '', kind, r, operand)
        )
        self.put('mbarrier.pending_count.b64 %%i3, %%st%d;' % r)
        self.pending -= n
        self.expected -= n if drop else 0
        self.settle()

    def bytes(self):
        R = self.R
        if self.tx and R.randrange(2):
            n = self.tx if R.randrange(2) else R.randrange(1, self.tx + 1) if self.tx > 0 else 0
            op, self.tx = 'complete_tx', self.tx - max(n, 0)
        elif self.pending and R.randrange(4) == 0:
            n = R.choice((1, 64, 5000))
            op, self.tx = 'complete_tx', self.tx - n
        else:
            n = -self.tx if self.tx < 0 else R.choice((1, 32, 70000 if self.tx < 500000 else 7))
            op, self.tx = 'expect_tx', self.tx + n
        if n > 0:
            self.text.append('mbarrier.%s.relaxed.cta.shared::cta.b64 [%%m], %d;\n' % (op, n))
            self.settle()


def barriers():
    for k in range(60):
        R = chance(1000 + k)
        b = Barrier(R, R.choice((1, 2, 3, 7, 32, 1000, (1 << 20) - 1)))
        for _ in range(30):
            R.choice((b.arrive, b.arrive, b.bytes, b.test))()
            if R.randrange(2):
                b.test()
        case('mbarrier/%d' % k, sequence(b.text), block=32)
    remote = REMOTE + """@%one mbarrier.init.shared.b64 [%m], 6; barrier.cluster.arrive; barrier.cluster.wait;
@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%i5];
@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%i5], 2;
@%one mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%i5], 64;
@%one mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%i5], 32;
@%one mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%i5], 16;
@%one mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%i5], 48;
barrier.cluster.arrive; barrier.cluster.wait; @!%one bra LAST; mbarrier.arrive.shared.b64 %d1, [%m], 2;
mbarrier.pending_count.b64 %i6, %d1; st.shared.u32 [%s], %i6; LAST:
"""
    case('mbarrier/remote', kernel(remote + WAIT, 2), ctas=2, block=32)
    case(
        'mbarrier/generic',
        kernel(
            'cvt.u64.u32 %d1, %m; cvta.shared.u64 %d1, %d1; @%one mbarrier.arrive.b64 %d2, [%d1]; '
            '@%one mbarrier.pending_count.b64 %i6, %d2; @%one st.shared.u32 [%s], %i6; bar.sync 0;\n'
            + WAIT
        ),
        block=32,
    )


def illegal():
    """Adds cases of illegal instructions."""
    m = tiled(F32, 0, (64, 40), (256,), (32, 16), (1, 1))
    c = im2col(U16, 0, (16, 9, 7, 3), (32, 288, 2016), (-1, -1), (-1, -1), 8, 40, (1, 1, 1, 1))
    for at in ((3, 4), (-1, 0)):
        case('illegal/load-%d' % at[0], load(2), m, args=args(at, (), 0, bytes_of(m)))
    for at in ((-4, 0), (0, -1), (2, 0)):
        case('illegal/store-%d-%d' % at, store(2), m, args=args(at))
    for at in ((0, -2, 0, 1), (0, 8, 0, 1), (0, 0, 6, 1), (1, 0, 0, 0)):
        case('illegal/columns-%d-%d-%d' % at[:3], load(4, True), c, args=args(at, (0, 0), 0, bytes_of(c)))
    case('illegal/corner', store(4, '', True), c, args=args((0, 0, 0, 0)))
    case('illegal/place', load(2), m, args=args((0, 0), (), 64, bytes_of(m)))
    case('illegal/mode', load(4), c, args=args((0, 0, 0, 0), (), 0, bytes_of(c)))
    case('illegal/rank', load(3), m, args=args((0, 0, 0), (), 0, bytes_of(m)))


def mixtures():
    """Adds bulk copies of any size from any address. Only fresh recordings contain them."""
    R = chance(9)
    for k in range(60):
        kind = R.choice(list(BULK))
        place, n = 16 * R.randrange(1, 500), 16 * R.randrange(1, 500)
        case(
            'bulk/%s-any-%d' % (kind, k),
            bulk(kind),
            out=(1 if kind in ('store', 'remote') else UNTOUCHED, OUT * BULK[kind][1]),
            data=(UNTOUCHED if kind == 'store' else 2, DATA),
            args=args((), (), min(place, 8192 - n), n),
            ctas=BULK[kind][1],
        )
        op = R.choice(list(TYPES))
        type = R.choice(TYPES[op])
        p = 4 if op in ('inc', 'dec') else R.choice((1, NEAR_OF.get(type, 2)))
        n = 16 * R.randrange(1, 500)
        case(
            'reduce/bulk-any-%d' % k,
            bulk_reduce(op, type, False),
            data=(p + SEED * R.randrange(2), DATA),
            out=(p + SEED * R.randrange(2), OUT),
            args=args((), (), min(place, 8192 - n), n),
        )


def all_cases(seed=0):
    """Returns the cases for a seed. The seed affects the random ones."""
    global fresh
    fresh = seed
    for f in (
        tile_loads,
        tile_stores,
        tile_reductions,
        columns,
        interleaved,
        multicasts,
        changed,
        untensored,
        barriers,
    ) + ((mixtures,) if fresh else (illegal,)):
        f()
    return CASES


# ---- arguments of tensor maps

# The values that verdicts() uses for the fields of a map.
BASES = [0, 1, 4, 8, 15, 16, 32, 48, 64, 128]
SIZES = [
    0,
    1,
    2,
    3,
    31,
    128,
    129,
    256,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    1 << 33,
    1 << 40,
    (1 << 64) - 1,
]
GAPS = [
    0,
    1,
    8,
    15,
    16,
    24,
    32,
    48,
    64,
    128,
    240,
    256,
    272,
    512,
    4096,
    1 << 20,
    (1 << 32) - 16,
    1 << 32,
    (1 << 35),
    (1 << 36),
    (1 << 39),
    (1 << 40) - 16,
    (1 << 40) - 32,
    1 << 40,
    1 << 41,
    1 << 63,
]
COUNTS = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    12,
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    48,
    64,
    65,
    96,
    127,
    128,
    129,
    192,
    255,
    256,
    257,
    512,
    1 << 31,
    (1 << 32) - 1,
]
STEPS = [0, 1, 2, 3, 7, 8, 9, 16, 255, (1 << 32) - 1]
CORNERS = [0, 1, -1, 2, -2, 15, 16, -16, -17, 31, 63, -32, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 1 << 30]
PIXELS = [0, 1, 2, 15, 16, 31, 255, 256, 257, 1023, 1024, 1025, 1 << 16, (1 << 32) - 1]
ENUMS = dict(
    type=[*range(17), 100, -1 & 0xFFFFFFFF],
    interleave=[0, 1, 2, 3, 9],
    swizzle=[*range(9), 20],
    promotion=[0, 1, 2, 3, 4, 9],
    fill=[0, 1, 2, 7],
)
LISTS = dict(dims=SIZES, strides=GAPS, steps=STEPS, box=COUNTS, lower=CORNERS, upper=CORNERS)
NUMBERS = dict(channels=COUNTS, pixels=PIXELS, base=BASES)


def tile(rank=2, **more):
    m = tiled(
        F32,
        0,
        [64, 32, 16, 8, 4][:rank],
        [256, 8192, 131072, 1048576][: rank - 1],
        [8, 4, 2, 2, 2][:rank],
        [1] * rank,
    )
    m.update(more)
    return m


def column(rank=4, **more):
    m = im2col(
        F32,
        0,
        [64, 32, 16, 8, 4][:rank],
        [256, 8192, 131072, 1048576][: rank - 1],
        [0] * (rank - 2),
        [0] * (rank - 2),
        8,
        16,
        [1] * rank,
    )
    m.update(more)
    return m


def with_element(m, name, d, v):
    m[name][d] = v
    return m


def verdict(m, rank=None, null=(), misaligned=0):
    """Returns (map description, rank, set of NULL pointers, misalignment of the map)."""
    return m, len(m['dims']) if rank is None else rank, sum(1 << NULLS.index(n) for n in null), misaligned


def single_fields(make, rank):
    yield make(rank)
    for name in ENUMS:
        for v in ENUMS[name]:
            yield make(rank, **{name: v})
    for v in BASES:
        for layout in range(3):
            yield make(rank, base=v, interleave=layout, swizzle=1 if layout == 2 else 0)
    for d in range(rank):
        for name in ('dims', 'steps', 'box') if make is tile else ('dims', 'steps'):
            for v in LISTS[name]:
                yield with_element(make(rank), name, d, v)
    for d in range(rank - 1):
        for v in GAPS:
            yield with_element(make(rank), 'strides', d, v)
            yield with_element(make(rank, interleave=2, swizzle=1), 'strides', d, v)


def bad_arguments(make, least):
    for rank in (0, 1, 2, 3, 4, 5, 6, 100):
        yield verdict(make(5), rank)
    for n in NULLS:
        if make is tile or n != 'box':  # the driver crashes without corners
            yield verdict(make(4), None, (n,))
            yield verdict(make(least), None, (n,))
    for k in (8, 16, 32):
        yield verdict(make(4), None, (), k)


def rows_of_a_type(make, type):
    for swizzle in range(7):
        for layout in range(3):
            for n in (8, 16, 32, 64, 128) if make is tile else (8, 16, 128):
                m = make(4, type=type, swizzle=swizzle, interleave=layout)
                if make is tile:
                    m['box'][0] = n
                else:
                    m['channels'] = n
                if type >= U4A8:
                    m['dims'][0] = 256
                yield m
    for fill in (0, 1):
        yield make(3, type=type, fill=fill)


def column_fields(rank):
    for d in range(rank - 2):
        for which in ('lower', 'upper'):
            for v in CORNERS:
                yield with_element(column(rank), which, d, v)
        for n in (1, 2, 3, 16):
            for lo, hi in (
                (-3, -3),
                (-1, 0),
                (0, -1),
                (1, 0),
                (0, -2),
                (2, -2),
                (0, -n),
                (0, -n - 1),
                (n - 1, 0),
                (n, 0),
                (1, -n),
                (-1, 1 - n),
            ):
                m = column(rank)
                m['dims'][d + 1], m['lower'][d], m['upper'][d] = n, lo, hi
                yield m
    for v in PIXELS:
        yield column(rank, pixels=v)
    for v in COUNTS:
        for swizzle in range(4):
            yield column(rank, channels=v, swizzle=swizzle)


def changed_by_chance(R, m):
    fields = ('type', 'interleave', 'swizzle', 'fill', 'dims', 'strides', 'steps', 'base')
    fields += ('box',) * 2 if m['mode'] == TILED else ('lower', 'upper', 'channels', 'pixels')
    for _ in range(R.randrange(1, 4)):
        name = R.choice(fields)
        if name in ENUMS:
            m[name] = R.choice(ENUMS[name][:16])
        elif name in NUMBERS:
            m[name] = R.choice(NUMBERS[name])
        elif m[name]:
            m[name][R.randrange(len(m[name]))] = R.choice(LISTS[name])
    return m


def verdicts():
    """Returns valid and invalid arguments of the calls that make maps, each as a verdict()."""
    R = chance(8)
    out = []
    for make, least in ((tile, 1), (column, 3)):
        for rank in range(least, 6):
            out += map(verdict, single_fields(make, rank))
        out += bad_arguments(make, least)
        for type in range(16):
            out += map(verdict, rows_of_a_type(make, type))
    for type in (U8, U16, F32, F64, U4A8, U4A16, U6A16):
        out += [
            verdict(tile(2, type=type, swizzle=swizzle, box=[n, 2], dims=[256, 4]))
            for n in COUNTS
            for swizzle in range(4)
        ]
    for rank in range(3, 6):
        out += map(verdict, column_fields(rank))
    for k in range(1500):
        m = R.choice((tile, column))(R.randrange(1, 6) if k % 2 else R.randrange(3, 6))
        if len(m['dims']) >= 3 or m['mode'] != IM2COL:
            out.append(verdict(changed_by_chance(R, m)))
    return out
