"""Test cases for calls.py: memory of graphs, captures into graphs, virtual memory, managed memory, attributes of
streams."""

import ctypes as C

from call_cases import case, each, q, structure, u, z
from graph_cases import KEEP

AllocNode = structure(
    [
        ('alloc', 'i'),
        ('handles', 'i'),
        ('kind', 'i'),
        ('id', 'i'),
        ('security', 'p'),
        ('most', 'z'),
        ('usage', C.c_ushort),
        ('reserved', C.c_ubyte * 54),
        ('access', 'p'),
        ('access_count', 'z'),
        ('bytes', 'z'),
        ('p', 'q'),
    ]
)
Property = structure(
    [('alloc', 'i'), ('handles', 'i'), ('kind', 'i'), ('id', 'i'), ('security', 'p'), ('flags', C.c_ubyte * 8)]
)
Access = structure([('kind', 'i'), ('id', 'i'), ('flags', 'i')])
Location = structure([('kind', 'i'), ('id', 'i')])
Value = structure([('words', C.c_uint64 * 8)])
DEVICE, HOST, NODE = Location(1, 0), Location(2, 0), Location(3, 0)
UNIT = 2 << 20
WRITES = {'none': 0, 'read': 1, 'two': 2, 'write': 3}


def handle():
    return C.c_void_p()


def graph(d):
    g = handle()
    d.must('GraphCreate', C.byref(g), u(0))
    return g


def allocation(d, g, bytes=4096):
    n, p = handle(), AllocNode(alloc=1, kind=1, bytes=bytes)
    d.must('GraphAddMemAllocNode', C.byref(n), g, None, z(0), C.byref(p))
    return n, p.p


def instance(d, g, flags=0):
    x = handle()
    d.must('GraphInstantiateWithFlags', C.byref(x), g, C.c_ulonglong(flags))
    return x


# ---- memory of graphs


@each(
    'alloc node',
    {
        'plain': {},
        'empty': {'bytes': 0},
        'huge': {'bytes': 1 << 50},
        'shared': {'handles': 1},
        'host': {'kind': 2},
        'other device': {'id': 7},
        'no type': {'alloc': 0},
        'managed': {'alloc': 2},
        'limit': {'most': 1},
        'access': {'access_count': 1},
    },
)
def _(d, v):
    g, n, p = graph(d), handle(), AllocNode(**{**{'alloc': 1, 'kind': 1, 'bytes': 4096}, **v})
    rc = d('GraphAddMemAllocNode', C.byref(n), g, None, z(0), C.byref(p))
    return [rc, p.p % 512] if not rc else [rc]


@case
def free_nodes(d):
    g, other, n, got = graph(d), graph(d), handle(), C.c_uint64()
    a, p = allocation(d, g)
    add = lambda graph, at: d('GraphAddMemFreeNode', C.byref(n), graph, None, z(0), q(at))
    return [
        add(g, d.p.value),
        add(g, 0),
        add(g, p + 16),
        add(g, p),
        d('GraphMemFreeNodeGetParams', n, C.byref(got)),
        got.value == p,
        d('GraphMemFreeNodeGetParams', a, C.byref(got)),
        add(g, p),
        add(other, p),
    ]


@case
def graph_with_memory(d):
    g, other, n, x, y = graph(d), graph(d), handle(), handle(), handle()
    a, p = allocation(d, g)
    d.must('GraphAddMemFreeNode', C.byref(n), g, C.byref(a), z(1), q(p))
    one = lambda v: (C.c_void_p * 1)(v.value)
    out = [
        d('GraphClone', C.byref(y), g),
        d('GraphAddChildGraphNode', C.byref(y), other, None, z(0), g),
        d('GraphRemoveDependencies', g, one(a), one(n), z(1)),
        d('GraphDestroyNode', a),
        d('GraphInstantiateWithFlags', C.byref(x), g, C.c_ulonglong(0)),
        d('GraphInstantiateWithFlags', C.byref(y), g, C.c_ulonglong(0)),
        d('GraphLaunch', x, d.stream),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('MemFree', q(p)),
        d('MemFreeAsync', q(p), d.stream),
        d('GraphExecDestroy', x),
        d('GraphInstantiateWithFlags', C.byref(y), g, C.c_ulonglong(0)),
    ]
    return out + [d('GraphExecDestroy', y), d('GraphDestroy', g)]


@each('memory that a launch leaves', {'plain': 0, 'automatic': 1})
def _(d, v):
    g, other, n = graph(d), graph(d), handle()
    _, p = allocation(d, g)
    x = instance(d, g, v)
    out = [
        d('MemFree', q(p)),
        d('GraphLaunch', x, d.stream),
        d('MemsetD8', q(p), C.c_ubyte(3), z(4096)),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('MemFreeAsync', q(p), d.stream),
        d('MemFreeAsync', q(p), d.stream),
        d('StreamSynchronize', d.stream),
        d('GraphLaunch', x, d.stream),
        d('MemFree', q(p)),
        d('MemFree', q(p)),
        d('GraphAddMemFreeNode', C.byref(n), other, None, z(0), q(p)),
        d('GraphAddMemFreeNode', C.byref(n), g, None, z(0), q(p)),
        d('GraphLaunch', x, d.stream),
    ]
    y = instance(d, other)
    return out + [
        d('GraphLaunch', y, d.stream),
        d('StreamSynchronize', d.stream),
        d('GraphExecDestroy', x),
        d('GraphExecDestroy', y),
        d('GraphDestroy', g),
        d('GraphDestroy', other),
    ]


@case
def graph_memory_attributes(d):
    v, one, zero = C.c_uint64(), C.c_uint64(1), C.c_uint64(0)
    out = [d('DeviceGraphMemTrim', d.dev), d('DeviceGraphMemTrim', 9)]
    for k in range(5):
        out += [
            d('DeviceGetGraphMemAttribute', d.dev, k, C.byref(v)),
            d('DeviceSetGraphMemAttribute', d.dev, k, C.byref(zero)),
            d('DeviceSetGraphMemAttribute', d.dev, k, C.byref(one)),
        ]
    return out + [d('DeviceGetGraphMemAttribute', 9, 1, C.byref(v)), d('DeviceGetGraphMemAttribute', d.dev, 1, None)]


# ---- captures into graphs, user objects, memory operations


@case
def capture_to_graph(d):
    g, other, e, f, s, n = graph(d), graph(d), handle(), handle(), handle(), C.c_size_t(77)
    d.must('GraphAddEmptyNode', C.byref(e), g, None, z(0))
    d.must('GraphAddEmptyNode', C.byref(f), other, None, z(0))
    d.must('StreamCreate', C.byref(s), u(1))
    one = lambda v: (C.c_void_p * 1)(v.value)
    begin = lambda graph, nodes, count, stream=s: d(
        'StreamBeginCaptureToGraph', stream, graph, nodes, None, z(count), 2
    )
    update = lambda nodes, count, flags, stream=s: d(
        'StreamUpdateCaptureDependencies_v2', stream, nodes, None, z(count), u(flags)
    )
    out = [
        update(one(e), 1, 0),
        begin(None, None, 0),
        begin(g, one(f), 1),
        begin(g, None, 1),
        begin(g, (C.c_void_p * 2)(e.value, e.value), 2),
        begin(g, None, 0, None),
        begin(g, one(e), 1),
        begin(other, None, 0),
        begin(g, None, 0, d.stream),
        update(one(f), 1, 0),
        update(one(e), 1, 2),
        update(None, 1, 0),
        update(None, 0, 0),
        update(one(e), 1, 0),
        update(None, 0, 1),
        d('MemsetD8Async', d.p, C.c_ubyte(3), z(64), s),
        d('GraphDestroy', g),
        d('StreamEndCapture', s, C.byref(other)),
        other.value == g.value,
        d('GraphGetNodes', g, None, C.byref(n)),
        n.value,
    ]
    return out + [d('StreamDestroy', s)]


@case
def user_objects(d):
    g, o, got = graph(d), handle(), handle()
    create = lambda f, count, flags, out=got: d(
        'UserObjectCreate', C.byref(out), None, f, u(count), u(flags)
    )
    d.must('UserObjectCreate', C.byref(o), None, KEEP[0], u(3), u(1))
    return [
        create(None, 1, 1),
        create(KEEP[0], 0, 1),
        create(KEEP[0], 1 << 31, 1),
        create(KEEP[0], 1, 0),
        create(KEEP[0], 1, 2),
        d('UserObjectRetain', o, u(0)),
        d('UserObjectRetain', o, u(2)),
        d('UserObjectRelease', o, u(0)),
        d('UserObjectRelease', o, u(2)),
        d('UserObjectRetain', None, u(1)),
        d('GraphRetainUserObject', g, o, u(0), u(0)),
        d('GraphRetainUserObject', g, o, u(1), u(2)),
        d('GraphRetainUserObject', g, o, u(1), u(0)),
        d('GraphRetainUserObject', g, o, u(1), u(1)),
        d('GraphReleaseUserObject', g, o, u(9)),
        d('GraphReleaseUserObject', g, o, u(0)),
        d('GraphReleaseUserObject', g, o, u(2)),
        d('GraphReleaseUserObject', g, o, u(1)),
        d('UserObjectRelease', o, u(2)),
        d('GraphDestroy', g),
    ]


# ---- virtual memory


@each(
    'MemCreate',
    {
        'plain': (UNIT, (1, 0, 1, 0), 0),
        'empty': (0, (1, 0, 1, 0), 0),
        'half': (UNIT // 2, (1, 0, 1, 0), 0),
        'huge': (1 << 50, (1, 0, 1, 0), 0),
        'flags': (UNIT, (1, 0, 1, 0), 1),
        'no type': (UNIT, (0, 0, 1, 0), 0),
        'managed': (UNIT, (2, 0, 1, 0), 0),
        'other device': (UNIT, (1, 0, 1, 7), 0),
        'no place': (UNIT, (1, 0, 0, 0), 0),
        'current node': (UNIT, (1, 0, 4, 0), 0),
        'file': (UNIT, (1, 1, 1, 0), 0),
        'win32': (UNIT, (1, 2, 1, 0), 0),
        'unknown handle': (UNIT, (1, 16, 1, 0), 0),
    },
)
def _(d, v):
    size, words, flags = v
    h, p, n = C.c_uint64(), Property(*words), C.c_size_t()
    rc = d('MemCreate', C.byref(h), z(size), C.byref(p), C.c_ulonglong(flags))
    out = [rc, d('MemGetAllocationGranularity', C.byref(n), C.byref(p), 0)]
    return out + [d('MemRelease', h), d('MemRelease', h)] if not rc else out


@each(
    'MemAddressReserve',
    {
        'plain': (UNIT, 0, 0),
        'empty': (0, 0, 0),
        'odd': (100, 0, 0),
        'page': (4096, 0, 0),
        'odd alignment': (UNIT, 3, 0),
        'small alignment': (UNIT, 4096, 0),
        'large alignment': (UNIT, 1 << 26, 0),
        'flags': (UNIT, 0, 1),
    },
)
def _(d, v):
    size, alignment, flags = v
    p = C.c_uint64()
    rc = d('MemAddressReserve', C.byref(p), z(size), z(alignment), q(0), C.c_ulonglong(flags))
    if rc:
        return [rc]
    return [
        rc,
        p.value % max(alignment, UNIT),
        d('MemAddressFree', p, z(2 * size)),
        d('MemAddressFree', p, z(size)),
        d('MemAddressFree', p, z(size)),
    ]


def reserve(d, units=4):
    p, h = C.c_uint64(), C.c_uint64()
    d.must('MemAddressReserve', C.byref(p), z(units * UNIT), z(0), q(0), C.c_ulonglong(0))
    d.must('MemCreate', C.byref(h), z(UNIT), C.byref(Property(1, 1, 1, 0)), C.c_ulonglong(0))
    return p.value, h


def set_access(d, p, units, flags=3, kind=1, id=0, count=1):
    return d('MemSetAccess', q(p), z(units * UNIT), C.byref(Access(kind, id, flags)), z(count))


@case
def mappings(d):
    p, h = reserve(d)
    map_ = lambda at, size, offset=0, flags=0: d(
        'MemMap', q(at), z(size), z(offset), h, C.c_ulonglong(flags)
    )
    unmap = lambda at, size: d('MemUnmap', q(at), z(size))
    out = [
        map_(p, 2 * UNIT),
        map_(p + 4096, UNIT),
        map_(p, 0),
        map_(p, UNIT, UNIT),
        map_(p, UNIT, 0, 1),
        map_(p + 4 * UNIT, UNIT),
        map_(p, UNIT),
        map_(p, UNIT),
        map_(p + UNIT, UNIT),
        d('MemsetD8', q(p), C.c_ubyte(1), z(16)),
        set_access(d, p, 2),
        d('MemsetD8', q(p + UNIT), C.c_ubyte(5), z(16)),
        d('MemsetD8', q(p), C.c_ubyte(1), z(2 * UNIT)),
        unmap(p, UNIT // 2),
        unmap(p, 4 * UNIT),
        d('MemAddressFree', q(p), z(4 * UNIT)),
        d('MemFree', q(p)),
        unmap(p, UNIT),
        unmap(p, UNIT),
        unmap(p + UNIT, UNIT),
    ]
    return out + [d('MemRelease', h), d('MemAddressFree', q(p), z(4 * UNIT))]


@each('access', WRITES)
def _(d, v):
    p, h = reserve(d)
    flags = C.c_ulonglong(77)
    d.must('MemMap', q(p), z(UNIT), z(0), h, C.c_ulonglong(0))
    out = [set_access(d, p, 1, v), d('MemGetAccess', C.byref(flags), C.byref(DEVICE), q(p)), flags.value]
    out += [d('MemsetD8', q(p), C.c_ubyte(1), z(16))]
    return out + [d('MemUnmap', q(p), z(UNIT)), d('MemRelease', h), d('MemAddressFree', q(p), z(4 * UNIT))]


@case
def access_badly(d):
    p, h = reserve(d)
    flags = C.c_ulonglong(77)
    get = lambda at, location: d('MemGetAccess', C.byref(flags), C.byref(location), q(at))
    out = [set_access(d, p, 1), get(p, DEVICE)]
    d.must('MemMap', q(p), z(UNIT), z(0), h, C.c_ulonglong(0))
    out += [
        set_access(d, p, 2),
        set_access(d, p, 1, count=0),
        set_access(d, p, 1, id=7),
        set_access(d, p, 1, kind=0),
        set_access(d, p, 1, kind=2),
        get(p, Location(1, 7)),
        get(p, HOST),
        get(p + UNIT, DEVICE),
    ]
    return out + [d('MemUnmap', q(p), z(UNIT)), d('MemRelease', h), d('MemAddressFree', q(p), z(4 * UNIT))]


@case
def handles_of_mappings(d):
    p, h = reserve(d)
    again, got = C.c_uint64(), Property()
    d.must('MemMap', q(p), z(UNIT), z(0), h, C.c_ulonglong(0))
    return [
        d('MemRetainAllocationHandle', C.byref(again), C.c_void_p(p + 5)),
        again.value == h.value,
        d('MemGetAllocationPropertiesFromHandle', C.byref(got), h),
        got.alloc,
        got.handles,
        got.kind,
        got.id,
        d('MemRelease', h),
        d('MemRelease', again),
        d('MemRetainAllocationHandle', C.byref(again), C.c_void_p(p)),
        d('MemRelease', again),
        d('MemUnmap', q(p), z(UNIT)),
        d('MemRetainAllocationHandle', C.byref(again), C.c_void_p(p)),
        d('MemAddressFree', q(p), z(4 * UNIT)),
    ]


@case
def exported_memory(d):
    p, h = reserve(d)
    fd, other, private = C.c_int(-1), C.c_uint64(), C.c_uint64()
    d.must('MemCreate', C.byref(private), z(UNIT), C.byref(Property(1, 0, 1, 0)), C.c_ulonglong(0))
    out = [
        d('MemExportToShareableHandle', C.byref(fd), private, 1, C.c_ulonglong(0)),
        d('MemExportToShareableHandle', C.byref(fd), h, 2, C.c_ulonglong(0)),
        d('MemExportToShareableHandle', C.byref(fd), h, 1, C.c_ulonglong(1)),
        d('MemExportToShareableHandle', C.byref(fd), h, 1, C.c_ulonglong(0)),
        d('MemImportFromShareableHandle', C.byref(other), C.c_void_p(fd.value), 1),
        d('MemMap', q(p), z(UNIT), z(0), h, C.c_ulonglong(0)),
        d('MemMap', q(p + UNIT), z(UNIT), z(0), other, C.c_ulonglong(0)),
        set_access(d, p, 2),
        d('MemsetD32', q(p), u(5), z(16)),
    ]
    b = C.create_string_buffer(4)
    out += [d('MemcpyDtoH', b, q(p + UNIT), z(4)), int.from_bytes(b.raw, 'little')]
    return out + [
        d('MemUnmap', q(p), z(2 * UNIT)),
        d('MemRelease', h),
        d('MemRelease', other),
        d('MemRelease', private),
    ]


# ---- managed memory


def managed(d):
    p = C.c_uint64()
    d.must('MemAllocManaged', C.byref(p), z(1 << 21), u(1))
    return p.value


def range_attribute(d, k, p, bytes, size=4):
    v = (C.c_int * 4)(77, 77, 77, 77)
    return [d('MemRangeGetAttribute', v, z(size), k, q(p), z(bytes)), *v[: max(size // 4, 1)]]


@each(
    'MemAdvise',
    {'%d,%d,%d' % v: v for v in [(a, k, 0) for a in range(8) for k in range(5)] + [(3, 1, 7), (3, 3, -1)]},
)
def _(d, v):
    p = managed(d)
    out = [d('MemAdvise_v2', q(p), z(1 << 21), v[0], Location(v[1], v[2]))]
    for k in range(1, 9):
        out += range_attribute(d, k, p, 1 << 21, 8 if k == 3 else 4)
    return out + [d('MemFree', q(p))]


@each('MemPrefetchAsync', {'%d,%d' % v: v for v in [(0, 0), (1, 0), (1, 7), (2, 0), (3, 0), (3, -1), (4, 0), (9, 0)]})
def _(d, v):
    p = managed(d)
    out = [d('MemPrefetchAsync_v2', q(p), z(1 << 21), Location(*v), u(0), d.stream), d('StreamSynchronize', d.stream)]
    for k in (4, 7, 8):
        out += range_attribute(d, k, p, 1 << 21)
    return out + [d('MemFree', q(p))]


@case
def managed_badly(d):
    p = managed(d)
    out = [
        d('MemPrefetchAsync_v2', q(p), z(0), DEVICE, u(0), d.stream),
        d('MemPrefetchAsync_v2', q(p), z(1 << 22), DEVICE, u(0), d.stream),
        d('MemPrefetchAsync_v2', q(p), z(1 << 21), DEVICE, u(1), d.stream),
        d('MemPrefetchAsync_v2', d.p, z(64), DEVICE, u(0), d.stream),
        d('MemAdvise_v2', d.p, z(64), 1, DEVICE),
        d('MemAdvise_v2', q(p), z(0), 1, DEVICE),
        *range_attribute(d, 1, p, 0),
        *range_attribute(d, 1, p, 1 << 21, 8),
        *range_attribute(d, 3, p, 1 << 21, 2),
        *range_attribute(d, 9, p, 1 << 21),
    ]
    for stream in (d.stream, None):
        for length in (0, 1 << 21, 1 << 20):
            for flags in (0, 1, 2, 4):
                out.append(d('StreamAttachMemAsync', stream, q(p), z(length), u(flags)))
    return out + [d('StreamSynchronize', d.stream), d('MemFree', q(p))]


# ---- attributes of streams


@each('stream attribute', {str(k): k for k in range(16)})
def _(d, v):
    s, value = handle(), Value()
    d.must('StreamCreate', C.byref(s), u(1))
    out = [d('StreamGetAttribute', s, v, C.byref(value)), value.words[0] & 0xffffffff]
    for x in (0, 1, 2, 5, (1 << 32) - 1):
        value.words[0] = x
        out.append(d('StreamSetAttribute', s, v, C.byref(value)))
        out += [d('StreamGetAttribute', s, v, C.byref(value)), value.words[0] & 0xffffffff]
    return out + [d('StreamCopyAttributes', s, d.stream), d('StreamDestroy', s)]
