"""Access to the driver's tensor maps with ctypes. Runs single cases of copies.py."""
import array
import ctypes as C

from texture_driver import Driver, Failure

TILED, IM2COL = range(2)
REFUSED = 'the map is refused: '
ELEMENT = [
    1,
    2,
    4,
    4,
    8,
    8,
    2,
    4,
    8,
    2,
    4,
    4,
    4,
    0,
    0,
    0,
]  # bytes, indexed by CUtensorMapDataType; packed types are not recorded


def fmix(h):
    h = (h ^ h >> 16) * 0x85ebca6b & 0xffffffff
    h = (h ^ h >> 13) * 0xc2b2ae35 & 0xffffffff
    return h ^ h >> 16


def float_word(h):
    """Returns f32 values that are edge cases of conversions, flushes and sums."""
    kind = h & 7
    if kind == 1:
        return h & 0x807fffff
    if kind == 2:
        return 0x3f800000 ^ h >> 9
    if kind == 3:
        return 0x3f801000 | h >> 16 << 13 & 0x807fe000
    if kind == 4:
        return 0x7f800000 | h >> 9
    if kind == 5:
        return (0, 0x80000000, 0x7f800000, 0xff800000)[h >> 8 & 3]
    return 0xbf800000 ^ h >> 8 if kind == 7 else h


# Returns word k of memory with pattern p; h is a hash of k and the seed. textures.c and copies.c do the same.
PATTERNS = [
    lambda k, h: (2 * k & 0xffff) | (2 * k + 1 & 0xffff) << 16,
    lambda k, h: h,
    lambda k, h: float_word(h),
    lambda k, h: 0xcdcdcdcd,
    lambda k, h: h & 15,
    lambda k, h: 0x3ff00000 | h & 0x803fffff if k & 1 else h,
    lambda k, h: 0x3c003c00 ^ h & 0x8fff8fff,
    lambda k, h: 0x3f803f80 ^ h & 0x81ff81ff,
]
SEED = 16  # a pattern's number is p + SEED * seed


def pattern(number, size, made={}):
    if number not in made:
        p, seed = PATTERNS[number % SEED], number // SEED
        made[number] = array.array(
            'I', (p(k, fmix(k * 0x9E3779B1 + seed * 0x7FEB352D + 1 & 0xFFFFFFFF)) for k in range(1 << 15))
        ).tobytes()
    return made[number][:size]


def tiled(type, base, dims, strides, box, steps, interleave=0, swizzle=0, promotion=0, fill=0):
    return dict(
        mode=TILED,
        type=type,
        base=base,
        dims=dims,
        strides=strides,
        steps=steps,
        box=box,
        interleave=interleave,
        swizzle=swizzle,
        promotion=promotion,
        fill=fill,
    )


def im2col(
    type, base, dims, strides, lower, upper, channels, pixels, steps, interleave=0, swizzle=0, promotion=0, fill=0
):
    return dict(
        mode=IM2COL,
        type=type,
        base=base,
        dims=dims,
        strides=strides,
        steps=steps,
        lower=lower,
        upper=upper,
        channels=channels,
        pixels=pixels,
        interleave=interleave,
        swizzle=swizzle,
        promotion=promotion,
        fill=fill,
    )


def aligned(size, align=64):
    b = C.create_string_buffer(size + align)
    at = (C.addressof(b) + align - 1) // align * align
    return b, at


NULLS = (
    'map',
    'address',
    'dims',
    'strides',
    'box',
    'steps',
)  # pointers that verdicts can set to NULL; the corner pointers follow `box`


def encode(drv, m, address, rank=None, null=0, misaligned=0):
    """Returns the driver's verdict and the map."""
    keep, at = aligned(192)
    rank = len(m['dims']) if rank is None else rank

    def given(name, what):
        return C.c_void_p(None) if null >> NULLS.index(name) & 1 else what
    head = [
        given('map', C.c_void_p(at + misaligned)),
        C.c_uint(m['type']),
        C.c_uint(rank),
        given('address', C.c_void_p(address + m['base'])),
        given('dims', (C.c_uint64 * 8)(*m['dims'])),
        given('strides', (C.c_uint64 * 8)(*m['strides'])),
    ]
    tail = [given('steps', (C.c_uint32 * 8)(*m['steps']))] + [
        C.c_uint(m[k]) for k in ('interleave', 'swizzle', 'promotion', 'fill')
    ]
    if m['mode'] == TILED:
        rc = getattr(drv.lib, drv.prefix + 'TensorMapEncodeTiled')(
            *head, given('box', (C.c_uint32 * 8)(*m['box'])), *tail
        )
    else:
        rc = getattr(drv.lib, drv.prefix + 'TensorMapEncodeIm2col')(
            *head,
            given('box', (C.c_int * 8)(*m['lower'])),
            given('box', (C.c_int * 8)(*m['upper'])),
            C.c_uint(m['channels']),
            C.c_uint(m['pixels']),
            *tail
        )
    return rc, C.string_at(at, 128)


ROOM = 65536 + 512  # size of each memory area of a case, for all CTAs


def prepare(drv, case, data, out):
    """Fills the memory. Returns the function, its parameters and the objects to keep alive, or an error."""
    drv.write(data, pattern(*case['data']))
    drv.write(out, pattern(*case['out']))
    keep, at = aligned(128)
    if case['map']:
        rc, bits = encode(drv, case['map'], data)
        if rc:
            return REFUSED + '%d' % rc
        C.memmove(at, bits, 128)
    held = C.c_uint64(data), C.c_uint64(out), (C.c_uint32 * 16)(*[a & 0xffffffff for a in case['args']])
    params = (C.c_void_p * 4)(at, *[C.addressof(h) for h in held])
    return (
        drv.function(case['text']),
        [C.c_uint(x) for x in (case['grid'], 1, 1, case['block'], 1, 1, 0)],
        params,
        keep,
        held,
    )


def run(drv, cases):
    """Runs the cases and returns for each the error and the contents of data and out.

    A case has text, grid, block, map or None, data and out as (pattern, size), and args."""
    if not hasattr(drv, 'room'):
        drv.room = drv.alloc(2 * ROOM * 64)
    at = [(drv.room + 2 * ROOM * k, drv.room + 2 * ROOM * k + ROOM) for k in range(len(cases))]
    ready = [prepare(drv, c, *a) for c, a in zip(cases, at)]
    try:
        for r in ready:
            if not isinstance(r, str):
                drv('LaunchKernel', r[0], *r[1], C.c_void_p(None), r[2], C.c_void_p(None))
        drv('CtxSynchronize')
    except Failure as e:
        return [(str(e), b'', b'')] * len(cases)
    return [
        (r, b'', b'') if isinstance(r, str) else (None, drv.read(a[0], c['data'][1]), drv.read(a[1], c['out'][1]))
        for c, a, r in zip(cases, at, ready)
    ]
