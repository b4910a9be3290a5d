"""Test cases for calls.py: stream-ordered memory, memory pools, stream memory operations, pointer attributes."""

import ctypes as C

from call_cases import case, each, q, structure, u, z

NULL = C.c_void_p(None)
Location = structure([('kind', 'i'), ('id', 'i')])
Props = structure(
    [
        ('alloc', 'i'),
        ('handles', 'i'),
        ('kind', 'i'),
        ('id', 'i'),
        ('security', 'p'),
        ('most', 'z'),
        ('usage', C.c_ushort),
        ('reserved', C.c_ubyte * 54),
    ]
)
Access = structure([('kind', 'i'), ('id', 'i'), ('flags', 'i')])


def handle():
    return C.c_void_p()


def new_pool(d, most=0):
    pool = handle()
    d.must('MemPoolCreate', C.byref(pool), C.byref(Props(1, 0, 1, 0, None, most)))
    return pool


def alloc(d, bytes, stream=None):
    p = C.c_uint64()
    d.must('MemAllocAsync', C.byref(p), z(bytes), d.stream if stream is None else stream)
    return p


def word(d, p, bytes=4):
    b = C.create_string_buffer(bytes)
    rc = d('MemcpyDtoH', b, p, z(bytes))
    return [rc, int.from_bytes(b.raw, 'little')]


def default_pool(d):
    pool = handle()
    d.must('DeviceGetDefaultMemPool', C.byref(pool), d.dev)
    return pool


# ---- stream-ordered memory

@each('MemAllocAsync', (0, 1, 512, 1 << 20, 1 << 50, (1 << 64) - 1))
def _(d, v):
    p = C.c_uint64(77)
    rc = d('MemAllocAsync', C.byref(p), z(v), d.stream)
    return (
        [rc, p.value] if rc else [rc, p.value % 512, d('MemFreeAsync', p, d.stream), d('StreamSynchronize', d.stream)]
    )


@each('MemAllocAsync in', {'the default stream': 0, 'the legacy stream': 1, "the thread's stream": 2})
def _(d, v):
    p = C.c_uint64()
    s = C.c_void_p(v)
    return [
        d('MemAllocAsync', C.byref(p), z(64), s),
        d('MemsetD32Async', p, u(5), z(16), s),
        *word(d, p),
        d('MemFreeAsync', p, s),
        d('StreamSynchronize', s),
    ]


@case
def allocate_async_badly(d):
    p, q1 = alloc(d, 4096), alloc(d, 4096)
    return [
        d('MemAllocAsync', None, z(16), d.stream),
        d('MemAllocAsync', None, z(0), d.stream),
        d('MemFreeAsync', q(0), d.stream),
        d('MemFreeAsync', q(p.value + 16), d.stream),
        d('MemFreeAsync', p, d.stream),
        d('MemFreeAsync', p, d.stream),
        d('StreamSynchronize', d.stream),
        d('MemFreeAsync', p, d.stream),
        d('MemFreeAsync', q(12345), d.stream),
        d('MemFreeAsync', q(C.addressof(d.host)), d.stream),
        d('MemFree', q1),
        d('MemFree', q1),
        d('MemFreeAsync', q1, d.stream),
    ]


@case
def free_other_memory_async(d):
    p, h, m = C.c_uint64(), handle(), C.c_uint64()
    d.must('MemAlloc', C.byref(p), z(4096))
    d.must('MemHostAlloc', C.byref(h), z(4096), u(0))
    d.must('MemAllocManaged', C.byref(m), z(4096), u(1))
    return [
        d('MemFreeAsync', p, d.stream),
        d('StreamSynchronize', d.stream),
        d('MemFreeAsync', q(h.value), d.stream),
        d('MemFreeHost', h),
        d('MemFreeAsync', m, d.stream),
        d('StreamSynchronize', d.stream),
    ]


@case
def free_async_and_use(d):
    p = alloc(d, 4096)
    out = [
        d('MemsetD8Async', p, C.c_ubyte(7), z(4096), d.stream),
        d('StreamSynchronize', d.stream),
        *word(d, p),
        d('MemFreeAsync', p, d.stream),
        d('MemsetD8Async', p, C.c_ubyte(7), z(4096), d.stream),
        d('StreamSynchronize', d.stream),
    ]
    return out + [
        d('MemsetD8', p, C.c_ubyte(7), z(4096)),
        d('MemcpyDtoH', d.host, p, z(4)),
        d('MemGetAddressRange', C.byref(C.c_uint64()), C.byref(C.c_size_t()), p),
    ]


@case
def async_again(d):
    """Tests whether freed memory is reused."""
    p = alloc(d, 4096)
    d.must('MemFreeAsync', p, d.stream)
    r = alloc(d, 4096)
    d.must('MemFreeAsync', r, d.stream)
    d.must('StreamSynchronize', d.stream)
    s = alloc(d, 4096)
    return [p.value == r.value, d('MemFreeAsync', s, d.stream), d('StreamSynchronize', d.stream)]


@case
def async_between_streams(d):
    s, e = handle(), handle()
    d.must('StreamCreate', C.byref(s), u(1))
    d.must('EventCreate', C.byref(e), u(2))
    p = alloc(d, 64)
    out = [
        d('MemsetD32Async', p, u(9), z(16), d.stream),
        d('EventRecord', e, d.stream),
        d('StreamWaitEvent', s, e, u(0)),
        d('MemcpyDtoHAsync', d.host, p, z(4), s),
        d('MemFreeAsync', p, s),
        d('StreamSynchronize', s),
        int.from_bytes(d.host.raw[:4], 'little'),
    ]
    return out + [d('StreamDestroy', s), d('EventDestroy', e)]


@case
def async_memory_is(d):
    """Queries the attributes of a pointer to stream-ordered memory."""
    b, out, pool, p = (C.c_uint64 * 4)(), [], default_pool(d), None
    p = alloc(d, 5000)
    d.must('StreamSynchronize', d.stream)
    for k in range(22):
        b[0] = 77
        rc = d('PointerGetAttribute', b, k, q(p.value + 100))
        out += [rc] + ([b[0] & 0xffffffff] if k in (2, 8, 9, 10, 12, 13, 14, 15, 16, 18, 21) else [])
    d('PointerGetAttribute', b, 17, p)
    a, n = C.c_uint64(), C.c_size_t()
    return out + [
        b[0] == pool.value,
        d('MemGetAddressRange', C.byref(a), C.byref(n), q(p.value + 8)),
        n.value,
        a.value == p.value,
        d('MemFreeAsync', p, d.stream),
        d('StreamSynchronize', d.stream),
    ]


@case
def async_in_capture(d):
    s, g, p, n, kinds = handle(), handle(), C.c_uint64(), C.c_size_t(8), []
    nodes = (C.c_void_p * 8)()
    d.must('StreamCreate', C.byref(s), u(1))
    out = [
        d('StreamBeginCapture', s, 0),
        d('MemAllocAsync', C.byref(p), z(4096), s),
        d('MemsetD32Async', p, u(3), z(16), s),
        d('MemFreeAsync', p, s),
        d('StreamEndCapture', s, C.byref(g)),
    ]
    if g.value:
        out += [d('GraphGetNodes', g, nodes, C.byref(n)), n.value]
        for k in range(min(n.value, 8)):
            kind = C.c_int(-1)
            out += [d('GraphNodeGetType', C.c_void_p(nodes[k]), C.byref(kind)), kind.value]
    return out + [d('StreamDestroy', s)]


# ---- memory pools


@each(
    'MemPoolCreate',
    {
        '%d,%d,%d,%d,%d,%d' % v: v
        for v in [(1, 0, 1, 0, 0, 0)]
        + [(k, 0, 1, 0, 0, 0) for k in (0, 2, 3, 4)]
        + [(1, k, 1, 0, 0, 0) for k in (1, 2, 3, 8, 16)]
        + [(1, 0, k, 0, 0, 0) for k in (0, 2, 3, 4, 5)]
        + [(1, 0, 1, k, 0, 0) for k in (-1, 77)]
        + [(1, 0, 1, 0, k, 0) for k in (1, 1 << 20, 1 << 50)]
        + [(1, 0, 1, 0, 0, k) for k in (1, 2, 4)]
        + [(2, 0, 0, 0, 0, 0), (2, 0, 2, 0, 0, 0)]
    },
)
def _(d, v):
    pool = handle()
    rc = d('MemPoolCreate', C.byref(pool), C.byref(Props(v[0], v[1], v[2], v[3], None, v[4], v[5])))
    return [rc] if rc else [rc, d('MemPoolDestroy', pool)]


@case
def pool_badly(d):
    pool, props, p = handle(), Props(1, 0, 1, 0), C.c_uint64()
    props.reserved[3] = 1
    out = [
        d('MemPoolCreate', None, C.byref(Props(1, 0, 1, 0))),
        d('MemPoolCreate', C.byref(pool), None),
        d('MemPoolCreate', C.byref(pool), C.byref(props)),
        d('MemPoolDestroy', None),
        d('MemPoolDestroy', default_pool(d)),
        d('MemPoolTrimTo', None, z(0)),
        d('MemPoolTrimTo', default_pool(d), z(0)),
        d('MemPoolTrimTo', default_pool(d), z(-1)),
        d('MemPoolGetAttribute', None, 4, C.byref(C.c_uint64())),
        d('MemPoolGetAttribute', default_pool(d), 4, None),
        d('MemPoolSetAttribute', None, 4, C.byref(C.c_uint64())),
        d('MemPoolSetAttribute', default_pool(d), 4, None),
        d('MemAllocFromPoolAsync', C.byref(p), z(64), None, d.stream),
        d('MemAllocFromPoolAsync', None, z(64), default_pool(d), d.stream),
    ]
    out += [
        d('DeviceGetDefaultMemPool', None, d.dev),
        d('DeviceGetDefaultMemPool', C.byref(pool), C.c_int(77)),
        d('DeviceGetMemPool', None, d.dev),
        d('DeviceGetMemPool', C.byref(pool), C.c_int(-1)),
        d('DeviceSetMemPool', d.dev, None),
        d('DeviceSetMemPool', C.c_int(77), default_pool(d)),
    ]
    return out + [d('DeviceGetMemPool', C.byref(pool), d.dev), pool.value == default_pool(d).value]


@each('MemPoolGetAttribute', range(-1, 14))
def _(d, v):
    pool, x = new_pool(d), C.c_uint64(77)
    return [d('MemPoolGetAttribute', pool, C.c_int(v), C.byref(x)), x.value, d('MemPoolDestroy', pool)]


@each(
    'MemPoolSetAttribute',
    {
        '%d,%d' % v: v
        for v in [(k, x) for k in range(9) for x in (0, 1, 2)] + [(4, (1 << 64) - 1), (4, 12345), (9, 1), (-1, 1)]
    },
)
def _(d, v):
    pool, x, y = new_pool(d), C.c_uint64(v[1]), C.c_uint64(0)
    p = C.c_uint64()
    d.must('MemAllocFromPoolAsync', C.byref(p), z(1000), pool, d.stream)
    out = [
        d('MemPoolSetAttribute', pool, C.c_int(v[0]), C.byref(x)),
        d('MemPoolGetAttribute', pool, C.c_int(v[0]), C.byref(y)),
        y.value,
    ]
    return out + [d('MemFreeAsync', p, d.stream), d('StreamSynchronize', d.stream), d('MemPoolDestroy', pool)]


@case
def pool_counts(d):
    """Queries the reserved and used memory of a pool after each step."""
    pool, out, p, r = new_pool(d), [], C.c_uint64(), C.c_uint64()

    def counts():
        x = C.c_uint64()
        for k in (5, 6, 7, 8):
            d('MemPoolGetAttribute', pool, k, C.byref(x))
            out.append(x.value)
    d('MemPoolSetAttribute', pool, 4, C.byref(C.c_uint64(1 << 40)))
    counts()
    out.append(d('MemAllocFromPoolAsync', C.byref(p), z(1000), pool, d.stream))
    counts()
    out.append(d('MemAllocFromPoolAsync', C.byref(r), z(100 << 20), pool, d.stream))
    counts()
    out += [d('MemFreeAsync', p, d.stream), d('StreamSynchronize', d.stream)]
    counts()
    out += [d('MemFreeAsync', r, d.stream), d('StreamSynchronize', d.stream)]
    counts()
    out.append(d('MemPoolTrimTo', pool, z(0)))
    counts()
    return out + [d('MemPoolDestroy', pool)]


@each('pool of', (1, 1 << 20, 32 << 20, 33 << 20))
def _(d, v):
    """Allocates increasing sizes from a pool with a maximum size."""
    pool, out = new_pool(d, v), []
    for size in (1, 1 << 20, 2 << 20, 32 << 20, 33 << 20, 64 << 20, 65 << 20):
        p = C.c_uint64()
        rc = d('MemAllocFromPoolAsync', C.byref(p), z(size), pool, d.stream)
        out += [rc] if rc else [rc, d('MemFreeAsync', p, d.stream), d('StreamSynchronize', d.stream)]
    return out + [d('MemPoolDestroy', pool)]


@case
def pool_access(d):
    pool, f, out = new_pool(d), C.c_int(-7), []
    for kind, who in ((1, 0), (1, 77), (2, 0), (0, 0), (3, 0), (4, 0), (5, 0)):
        f.value = -7
        out += [d('MemPoolGetAccess', C.byref(f), pool, C.byref(Location(kind, who))), f.value]
    out += [
        d('MemPoolGetAccess', None, pool, C.byref(Location(1, 0))),
        d('MemPoolGetAccess', C.byref(f), None, C.byref(Location(1, 0))),
        d('MemPoolGetAccess', C.byref(f), pool, None),
    ]
    for kind, who, flags in (
        (1, 0, 3),
        (1, 0, 1),
        (1, 0, 0),
        (1, 0, 2),
        (1, 0, 4),
        (1, 77, 3),
        (2, 0, 3),
        (2, 0, 0),
        (0, 0, 3),
        (3, 0, 3),
        (3, 77, 3),
    ):
        out.append(d('MemPoolSetAccess', pool, C.byref(Access(kind, who, flags)), z(1)))
    out += [
        d('MemPoolSetAccess', pool, None, z(1)),
        d('MemPoolSetAccess', pool, C.byref(Access(1, 0, 3)), z(0)),
        d('MemPoolSetAccess', pool, None, z(0)),
        d('MemPoolSetAccess', None, C.byref(Access(1, 0, 3)), z(1)),
        d('MemPoolSetAccess', pool, (Access * 2)(Access(1, 0, 3), Access(1, 0, 3)), z(2)),
    ]
    return out + [d('MemPoolDestroy', pool)]


@case
def pool_of_device(d):
    pool, other, p, b = new_pool(d), handle(), C.c_uint64(), (C.c_uint64 * 2)()
    out = [
        d('DeviceSetMemPool', d.dev, pool),
        d('DeviceGetMemPool', C.byref(other), d.dev),
        other.value == pool.value,
        d('DeviceGetDefaultMemPool', C.byref(other), d.dev),
        other.value == pool.value,
    ]
    p = alloc(d, 64)
    out += [
        d('PointerGetAttribute', b, 17, p),
        b[0] == pool.value,
        d('MemPoolDestroy', pool),
        d('DeviceGetMemPool', C.byref(other), d.dev),
        other.value == default_pool(d).value,
    ]
    return out + [
        d('MemsetD32Async', p, u(4), z(16), d.stream),
        d('StreamSynchronize', d.stream),
        *word(d, p),
        d('MemFreeAsync', p, d.stream),
        d('StreamSynchronize', d.stream),
    ]


@case
def pool_destroyed_before(d):
    pool, p = new_pool(d), C.c_uint64()
    out = [
        d('MemAllocFromPoolAsync', C.byref(p), z(64), pool, d.stream),
        d('MemPoolDestroy', pool),
        d('MemsetD32Async', p, u(4), z(16), d.stream),
        d('StreamSynchronize', d.stream),
        *word(d, p),
        d('MemFree', p),
        d('MemFree', p),
    ]
    return out + [d('StreamSynchronize', d.stream)]


@each(
    'MemGetDefaultMemPool',
    {
        '%d,%d,%d' % v: v
        for v in (
            (1, 0, 1),
            (1, 77, 1),
            (1, 0, 0),
            (1, 0, 2),
            (1, 0, 3),
            (2, 0, 1),
            (2, 0, 2),
            (3, 0, 1),
            (0, 0, 1),
            (0, 0, 2),
            (5, 0, 1),
        )
    },
)
def _(d, v):
    pool, at = handle(), Location(v[0], v[1])
    return [
        d('MemGetDefaultMemPool', C.byref(pool), C.byref(at), v[2]),
        pool.value == default_pool(d).value,
        d('MemGetMemPool', C.byref(pool), C.byref(at), v[2]),
        pool.value == default_pool(d).value,
    ]


@case
def memory_pools_of_locations(d):
    pool, mine, at = handle(), new_pool(d), Location(1, 0)
    out = [
        d('MemGetDefaultMemPool', None, C.byref(at), 1),
        d('MemGetDefaultMemPool', C.byref(pool), None, 1),
        d('MemGetMemPool', None, C.byref(at), 1),
        d('MemSetMemPool', None, 1, mine),
        d('MemSetMemPool', C.byref(at), 1, None),
        d('MemSetMemPool', C.byref(at), 2, mine),
        d('MemSetMemPool', C.byref(at), 1, mine),
    ]
    out += [
        d('DeviceGetMemPool', C.byref(pool), d.dev),
        pool.value == mine.value,
        d('MemPoolDestroy', mine),
        d('DeviceGetMemPool', C.byref(pool), d.dev),
        pool.value == default_pool(d).value,
    ]
    return out


# ---- stream memory operations


@each(
    'StreamWaitValue32',
    {
        '%d %#x' % v: v
        for v in [(k, x) for k in (0, 1, 2, 3) for x in (7,)]
        + [
            (0, 5),
            (0, 0x80000008),
            (2, 5),
            (2, 1),
            (3, 0),
            (3, 0x7FFFFFFF),
            (4, 7),
            (0x40000000, 7),
            (0x40000001, 7),
            (0x40000004, 7),
            (8, 7),
            (0x80000000, 7),
        ]
    },
)
def _(d, v):
    """Waits for a condition that is already true. The word is 7."""
    d.must('MemsetD32', d.p, u(7), z(4))
    return [d('StreamWaitValue32', d.stream, d.p, u(v[1]), u(v[0])), d('StreamSynchronize', d.stream)]


@each(
    'StreamWaitValue64',
    {
        '%d %#x' % v: v
        for v in [(k, x) for k in (0, 1, 2, 3) for x in (7 << 32 | 7,)] + [(0, 7), (4, 7), (0x40000000, 7)]
    },
)
def _(d, v):
    d.must('MemsetD32', d.p, u(7), z(4))
    return [d('StreamWaitValue64', d.stream, d.p, q(v[1]), u(v[0])), d('StreamSynchronize', d.stream)]


@each(
    'StreamWriteValue',
    {
        '%d,%d,%d' % v: v
        for v in [(w, f, 0) for w in (32, 64) for f in (0, 1, 2, 4, 0x40000000)]
        + [(32, 0, 4), (32, 0, 2), (32, 0, 1), (64, 0, 4), (64, 0, 8), (64, 0, 2)]
    },
)
def _(d, v):
    d.must('MemsetD32', d.p, u(7), z(8))
    value = u(0x12345678) if v[0] == 32 else q(0x123456789abcdef0)
    return [
        d('StreamWriteValue%d' % v[0], d.stream, q(d.p.value + v[2]), value, u(v[1])),
        d('StreamSynchronize', d.stream),
        *word(d, d.p, 8),
        *word(d, q(d.p.value + 8), 8),
    ]


@case
def wait_value_badly(d):
    out = []
    for at in (0, 12345 * 8, C.addressof(d.host) + 7 & -8, d.p.value + 2, d.p.value + (1 << 16)):
        for call, value in (
            ('WriteValue32', u(0)),
            ('WriteValue64', q(0)),
            ('WaitValue32', u(0)),
            ('WaitValue64', q(0)),
        ):
            if at != d.p.value + (1 << 16) or 'Write' in call:
                out.append(d('Stream' + call, d.stream, q(at), value, u(0)))
    return out + [d('StreamSynchronize', d.stream)]


@case
def wait_value_order(d):
    """A stream waits for a write by another stream and for a write by the host."""
    s, h, flags = handle(), handle(), u(1)
    d.must('StreamCreate', C.byref(s), u(1))
    d.must('MemHostAlloc', C.byref(h), z(64), u(2))
    C.memset(h, 0, 64)
    d.must('MemsetD32', d.p, u(0), z(16))
    d.must('CtxSynchronize')
    out = [
        d('StreamWaitValue32', d.stream, d.p, u(3), flags),
        d('MemsetD32Async', q(d.p.value + 8), u(9), z(1), d.stream),
        d('StreamQuery', d.stream),
        *word_in(d, q(d.p.value + 8), s),
        d('StreamWriteValue32', s, d.p, u(3), u(0)),
        d('StreamSynchronize', d.stream),
        *word(d, q(d.p.value + 8)),
    ]
    out += [
        d('StreamWaitValue64', d.stream, q(h.value), q(5), u(0)),
        d('StreamWriteValue64', d.stream, q(h.value + 8), q(11), u(0)),
        d('StreamQuery', d.stream),
    ]
    C.c_uint64.from_address(h.value).value = 6
    return out + [
        d('StreamSynchronize', d.stream),
        C.c_uint64.from_address(h.value + 8).value,
        d('MemFreeHost', h),
        d('StreamDestroy', s),
    ]


def word_in(d, p, s):
    b = C.create_string_buffer(4)
    rc = [d('MemcpyDtoHAsync', b, p, z(4), s), d('StreamSynchronize', s)]
    return rc + [int.from_bytes(b.raw, 'little')]


def operation(kind, address=0, value=0, flags=0):
    return (kind, address, value, flags)


def operations(*ops):
    raw = b''
    for kind, address, value, flags in ops:
        body = (
            (flags if kind in (3, 6) else 0).to_bytes(4, 'little')
            + address.to_bytes(8, 'little')
            + value.to_bytes(8, 'little')
            + flags.to_bytes(4, 'little')
        )
        raw += (kind.to_bytes(4, 'little') + body).ljust(48, b'\0')
    return C.create_string_buffer(raw, max(len(raw), 48))


BATCHES = {
    'none': (),
    'write 32': ((2, 0, 5, 0),),
    'write 64': ((5, 0, 5 << 32 | 6, 0),),
    'write, wait': ((2, 0, 5, 0), (1, 0, 5, 1)),
    'wait 64': ((4, 0, 7, 0),),
    'flush': ((3, 0, 0, 0),),
    'flush, flags': ((3, 0, 0, 1),),
    'barrier': ((6, 0, 0, 0),),
    'barrier of gpu': ((6, 0, 0, 1),),
    'barrier of none': ((6, 0, 0, 2),),
    'kind 0': ((0, 0, 0, 0),),
    'kind 7': ((7, 0, 0, 0),),
    'bad flags': ((2, 0, 5, 0), (1, 0, 5, 9)),
    'bad write flags': ((2, 0, 5, 2),),
    'misaligned': ((2, 2, 5, 0),),
    'many': ((2, 0, 5, 0),) * 256,
    'too many': ((2, 0, 5, 0),) * 257,
}


@each('StreamBatchMemOp', BATCHES)
def _(d, v):
    d.must('MemsetD32', d.p, u(7), z(8))
    ops = operations(*[(k, d.p.value + at if k in (1, 2, 4, 5) else 0, x, f) for k, at, x, f in v])
    return [d('StreamBatchMemOp', d.stream, u(len(v)), ops, u(0)), d('StreamSynchronize', d.stream), *word(d, d.p, 8)]


@case
def batch_badly(d):
    ops = operations((2, d.p.value, 5, 0))
    return [
        d('StreamBatchMemOp', d.stream, u(1), None, u(0)),
        d('StreamBatchMemOp', d.stream, u(0), None, u(0)),
        d('StreamBatchMemOp', d.stream, u(1), ops, u(1)),
        d('StreamBatchMemOp', None, u(1), ops, u(0)),
        d('StreamSynchronize', None),
    ]


@case
def wait_value_in_capture(d):
    s, g, n, kind, nodes = handle(), handle(), C.c_size_t(8), C.c_int(-1), (C.c_void_p * 8)()
    d.must('StreamCreate', C.byref(s), u(1))
    d.must('MemsetD32', d.p, u(7), z(8))
    out = [
        d('StreamBeginCapture', s, 0),
        d('StreamWriteValue32', s, d.p, u(8), u(0)),
        d('StreamWaitValue32', s, d.p, u(8), u(1)),
        d('StreamEndCapture', s, C.byref(g)),
    ]
    if g.value:
        out += [d('GraphGetNodes', g, nodes, C.byref(n)), n.value]
        for k in range(min(n.value, 8)):
            out += [d('GraphNodeGetType', C.c_void_p(nodes[k]), C.byref(kind)), kind.value]
        x = handle()
        out += [
            d('GraphInstantiateWithFlags', C.byref(x), g, C.c_ulonglong(0)),
            d('GraphLaunch', x, s),
            d('StreamSynchronize', s),
            *word(d, d.p),
        ]
    return out + [d('StreamDestroy', s)]


# ---- several pointer attributes in one call


@each(
    'PointerGetAttributes',
    {
        'none': (),
        'type': (2,),
        'type, device, range': (2, 9, 12),
        'unknown': (99,),
        'type, unknown': (2, 99),
        'tokens': (5,),
        'pool': (17,),
        'all': tuple(k for k in range(1, 22) if k not in (4, 5)),
        'host, type': (4, 2),
        'context, host': (1, 4),
        'zero': (0, 2),
    },
)
def _(d, v):
    out = []
    for p in (d.p.value, d.p.value + 100, C.addressof(d.host), 0, 12345):
        room = [(C.c_uint64 * 2)(77) for _ in v]
        data = (C.c_void_p * 32)(*[C.addressof(r) for r in room])
        out.append(d('PointerGetAttributes', u(len(v)), (C.c_int * 32)(*v), data, q(p)))
        out += [r[0] & 0xffffffff for k, r in zip(v, room) if k in (2, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 21, 99)]
    return out


@case
def pointer_attributes_badly(d):
    b = C.c_uint64(77)
    keys, data = (C.c_int * 2)(2, 9), (C.c_void_p * 2)(C.addressof(b), None)
    return [
        d('PointerGetAttributes', u(1), None, data, d.p),
        d('PointerGetAttributes', u(1), keys, None, d.p),
        d('PointerGetAttributes', u(0), None, None, d.p),
        d('PointerGetAttributes', u(1), keys, data, d.p),
        b.value & 0xFFFFFFFF,
    ]


@case
def pointer_attributes_of_host(d):
    """Queries pointer attributes of host memory and managed memory."""
    h, m, b, out = handle(), C.c_uint64(), (C.c_uint64 * 2)(), []
    d.must('MemHostAlloc', C.byref(h), z(4096), u(0))
    d.must('MemAllocManaged', C.byref(m), z(4096), u(1))
    for p in (h.value + 8, m.value + 8):
        for k in range(22):
            b[0] = 77
            rc = d('PointerGetAttribute', b, k, q(p))
            out += [rc] + ([b[0] & 0xffffffff] if k in (2, 6, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 21) else [])
    return out + [d('MemFreeHost', h), d('MemFree', m)]


@each('PointerSetAttribute', range(0, 22))
def _(d, v):
    x, y = C.c_uint64(1), C.c_uint64(0)
    return [d('PointerSetAttribute', C.byref(x), v, d.p)] + (
        [
            d('PointerGetAttribute', C.byref(y), v, d.p),
            y.value & 0xFFFFFFFF,
            d('PointerSetAttribute', C.byref(y), v, q(0)),
            d('PointerSetAttribute', None, v, d.p),
            d('PointerSetAttribute', C.byref(x), v, q(d.p.value + 8)),
        ]
        if v == 6
        else []
    )
