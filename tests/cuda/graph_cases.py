"""Test cases for calls.py: graph nodes, stream capture, asynchronous copies, texture references."""
import ctypes as C

from call_cases import (
    ARRAY,
    DEVICE,
    HOST,
    NULL,
    Array3D,
    Copy3D,
    KernelNode,
    Resource,
    Texture,
    View,
    case,
    each,
    q,
    structure,
    u,
    z,
)

Memset = structure([('dst', 'q'), ('pitch', 'z'), ('value', 'u'), ('size', 'u'), ('w', 'z'), ('h', 'z')])
Host = structure([('fn', 'p'), ('data', 'p')])
Update = structure([('result', 'i'), ('node', 'p'), ('from_', 'p')])
FUNCTION = C.CFUNCTYPE(None, C.c_void_p)
KEEP = [FUNCTION(lambda data: None), FUNCTION(lambda data: None)]


class Graph:
    """A graph with one node of each type: kernel, copy, memset, host, child."""

    def __init__(self, d, width=64, kernel='plain', value=7):
        self.d, self.g, self.child = d, C.c_void_p(), C.c_void_p()
        d.must('GraphCreate', C.byref(self.g), u(0))
        d.must('GraphCreate', C.byref(self.child), u(0))
        self.host = Host(C.cast(KEEP[0], C.c_void_p).value, None)
        self.kernel, self.copy, self.memset = (
            kernel_node(d, kernel),
            copy_node(d, width),
            Memset(d.p.value, 0, value, 4, 16, 1),
        )
        self.inner = self.add('GraphAddEmptyNode', graph=self.child)
        self.nodes = [
            self.add('GraphAddKernelNode', C.byref(self.kernel)),
            self.add('GraphAddMemcpyNode', C.byref(self.copy), d.ctx),
            self.add('GraphAddMemsetNode', C.byref(self.memset), d.ctx),
            self.add('GraphAddHostNode', C.byref(self.host)),
            self.add('GraphAddChildGraphNode', self.child),
            self.add('GraphAddEmptyNode'),
        ]

    def add(self, call, *params, graph=None):
        n = C.c_void_p()
        self.d.must(call, C.byref(n), graph or self.g, None, z(0), *params)
        return n

    def instance(self):
        e = C.c_void_p()
        self.d.must('GraphInstantiateWithFlags', C.byref(e), self.g, C.c_ulonglong(0))
        return e


def kernel_node(d, name='plain', grid=(1, 1, 1), block=(32, 1, 1), shared=0):
    return KernelNode(d.f(name).value, (C.c_uint * 3)(*grid), (C.c_uint * 3)(*block), shared)


def copy_node(d, width=64, to=4096, kinds=(DEVICE, DEVICE), height=1):
    return Copy3D(
        s_type=kinds[0],
        s_dev=d.p.value,
        s_host=C.addressof(d.host),
        s_array=d.array.value,
        s_pitch=1024,
        s_height=8,
        d_type=kinds[1],
        d_dev=d.p.value + to,
        d_host=C.addressof(d.host) + to,
        d_array=d.array.value,
        d_pitch=1024,
        d_height=8,
        w=width,
        h=height,
        d=1,
    )


KERNELS = {
    'fine': {},
    'other kernel': {'name': 'small'},
    'no blocks': {'grid': (0, 1, 1)},
    'large block': {'block': (2000, 1, 1)},
    'block of small': {'name': 'small', 'block': (128, 1, 1)},
    'shared': {'shared': 300000},
    'block of exact': {'name': 'exact'},
    'pairs odd': {'name': 'pairs', 'grid': (3, 1, 1)},
    'pairs': {'name': 'pairs', 'grid': (4, 1, 1)},
}


@each('graph kernel', KERNELS)
def _(d, v):
    g, n = Graph(d), C.c_void_p()
    e, p = g.instance(), kernel_node(d, **v)
    out = [
        d('GraphAddKernelNode', C.byref(n), g.g, None, z(0), C.byref(p)),
        d('GraphKernelNodeSetParams', g.nodes[0], C.byref(p)),
        d('GraphExecKernelNodeSetParams', e, g.nodes[0], C.byref(p)),
        d('GraphExecKernelNodeSetParams', e, g.nodes[1], C.byref(p)),
        d('GraphKernelNodeSetParams', g.nodes[1], C.byref(p)),
        d('GraphKernelNodeSetParams', None, C.byref(p)),
        d('GraphKernelNodeSetParams', g.nodes[0], None),
        d('GraphExecKernelNodeSetParams', None, g.nodes[0], C.byref(p)),
        d('GraphExecKernelNodeSetParams', e, g.nodes[0], None),
    ]
    return out + [
        d('GraphInstantiateWithFlags', C.byref(n), g.g, C.c_ulonglong(0)),
        d('GraphLaunch', e, d.stream),
        d('StreamSynchronize', d.stream),
    ]


COPIES = {
    'fine': {},
    'nothing': {'width': 0},
    'no rows': {'height': 0},
    'rows': {'height': 3},
    'far': {'width': 1 << 20},
    'wide': {'width': 2000, 'height': 2},
    'host': {'kinds': (HOST, DEVICE)},
    'to host': {'kinds': (DEVICE, HOST)},
    'hosts': {'kinds': (HOST, HOST)},
    'array': {'kinds': (ARRAY, DEVICE)},
    'to array': {'kinds': (DEVICE, ARRAY)},
    'unknown': {'kinds': (9, DEVICE)},
    'overlap': {'to': 16},
}


@each('graph copy', COPIES)
def _(d, v):
    g, n = Graph(d), C.c_void_p()
    e, p = g.instance(), copy_node(d, **v)
    return [
        d('GraphAddMemcpyNode', C.byref(n), g.g, None, z(0), C.byref(p), d.ctx),
        d('GraphMemcpyNodeSetParams', g.nodes[1], C.byref(p)),
        d('GraphExecMemcpyNodeSetParams', e, g.nodes[1], C.byref(p), d.ctx),
        d('GraphExecMemcpyNodeSetParams', e, g.nodes[0], C.byref(p), d.ctx),
        d('GraphMemcpyNodeSetParams', g.nodes[0], C.byref(p)),
        d('GraphLaunch', e, d.stream),
        d('StreamSynchronize', d.stream),
    ]


SETS = {
    'fine': (0, 7, 4, 16, 1),
    'size 3': (0, 7, 3, 16, 1),
    'size 0': (0, 7, 0, 16, 1),
    'size 8': (0, 7, 8, 16, 1),
    'byte': (0, 7, 1, 16, 1),
    'large value': (0, 700, 1, 16, 1),
    'large half': (0, 70000, 2, 16, 1),
    'no rows': (0, 7, 4, 16, 0),
    'nothing': (0, 7, 4, 0, 1),
    'rows': (256, 7, 4, 16, 4),
    'pitch too small': (32, 7, 4, 16, 4),
    'odd pitch': (66, 7, 4, 16, 4),
    'far': (0, 7, 4, 1 << 20, 1),
    'pitch 0 of rows': (0, 7, 4, 16, 4),
    'other width': (0, 7, 4, 32, 1),
}


@each('graph memset', SETS)
def _(d, v):
    g, n = Graph(d), C.c_void_p()
    e, p = g.instance(), Memset(d.p.value, *v)
    odd = Memset(d.p.value + 1, *v)
    return [
        d('GraphAddMemsetNode', C.byref(n), g.g, None, z(0), C.byref(p), d.ctx),
        d('GraphMemsetNodeSetParams', g.nodes[2], C.byref(p)),
        d('GraphExecMemsetNodeSetParams', e, g.nodes[2], C.byref(p), d.ctx),
        d('GraphExecMemsetNodeSetParams', e, g.nodes[0], C.byref(p), d.ctx),
        d('GraphAddMemsetNode', C.byref(n), g.g, None, z(0), C.byref(odd), d.ctx),
        d('GraphLaunch', e, d.stream),
        d('StreamSynchronize', d.stream),
    ]


@case
def graph_host(d):
    g, n = Graph(d), C.c_void_p()
    e, none, other, got = g.instance(), Host(None, None), Host(C.cast(KEEP[1], C.c_void_p).value, 5), Host()
    out = [
        d('GraphAddHostNode', C.byref(n), g.g, None, z(0), C.byref(none)),
        d('GraphAddHostNode', C.byref(n), g.g, None, z(0), None),
        d('GraphHostNodeSetParams', g.nodes[3], C.byref(none)),
        d('GraphHostNodeSetParams', g.nodes[3], C.byref(other)),
        d('GraphHostNodeGetParams', g.nodes[3], C.byref(got)),
        got.data == 5,
        d('GraphHostNodeGetParams', g.nodes[0], C.byref(got)),
        d('GraphExecHostNodeSetParams', e, g.nodes[3], C.byref(other)),
        d('GraphExecHostNodeSetParams', e, g.nodes[3], C.byref(none)),
        d('GraphExecHostNodeSetParams', e, g.nodes[1], C.byref(other)),
        d('GraphHostNodeGetParams', g.nodes[3], None),
    ]
    return out + [
        d('GraphLaunch', e, d.stream),
        d('StreamSynchronize', d.stream),
        d('LaunchHostFunc', d.stream, KEEP[0], None),
        d('LaunchHostFunc', d.stream, None, None),
        d('StreamSynchronize', d.stream),
    ]


@case
def graph_parts(d):
    g, n, count, kind = Graph(d), C.c_void_p(), C.c_size_t(), C.c_int()
    some = (C.c_void_p * 9)()
    out = [
        d('GraphGetNodes', g.g, None, C.byref(count)),
        count.value,
        d('GraphGetNodes', g.g, some, C.byref(count)),
        count.value,
    ]
    count.value = 2
    out += [d('GraphGetNodes', g.g, some, C.byref(count)), count.value]
    count.value = 9
    out += [
        d('GraphGetNodes', g.g, some, C.byref(count)),
        count.value,
        sum(x is not None for x in some),
        d('GraphGetNodes', g.g, None, None),
        d('GraphGetNodes', None, None, C.byref(count)),
    ]
    for k in g.nodes:
        out += [d('GraphNodeGetType', k, C.byref(kind)), kind.value]
    out += [
        d('GraphNodeGetType', None, C.byref(kind)),
        d('GraphNodeGetType', g.nodes[0], None),
        d('GraphChildGraphNodeGetGraph', g.nodes[4], C.byref(n)),
        d('GraphChildGraphNodeGetGraph', g.nodes[0], C.byref(n)),
        d('GraphChildGraphNodeGetGraph', g.nodes[4], None),
    ]
    c, m = Copy3D(), Memset()
    out += [
        d('GraphMemcpyNodeGetParams', g.nodes[1], C.byref(c)),
        c.w,
        c.h,
        c.s_pitch,
        c.s_height,
        d('GraphMemcpyNodeGetParams', g.nodes[0], C.byref(c)),
        d('GraphMemsetNodeGetParams', g.nodes[2], C.byref(m)),
        m.value,
        m.pitch,
        m.h,
        d('GraphMemsetNodeGetParams', g.nodes[1], C.byref(m)),
        d('GraphMemcpyNodeGetParams', None, C.byref(c)),
    ]
    return out


@case
def graph_edges(d):
    g, other = Graph(d), Graph(d)
    a, b, c = (C.c_void_p * 1)(g.nodes[0]), (C.c_void_p * 1)(g.nodes[1]), (C.c_void_p * 1)(other.nodes[0])
    n, count = C.c_void_p(), C.c_size_t()
    out = [
        d('GraphAddDependencies', g.g, a, b, z(1)),
        d('GraphAddDependencies', g.g, a, b, z(1)),
        d('GraphAddDependencies', g.g, b, a, z(1)),
        d('GraphAddDependencies', g.g, a, a, z(1)),
        d('GraphAddDependencies', g.g, a, c, z(1)),
        d('GraphAddDependencies', other.g, a, b, z(1)),
        d('GraphAddDependencies', g.g, None, b, z(1)),
        d('GraphAddDependencies', g.g, None, None, z(0)),
        d('GraphAddDependencies', None, a, b, z(1)),
        d('GraphNodeGetDependencies', g.nodes[1], None, C.byref(count)),
        count.value,
        d('GraphNodeGetDependencies', g.nodes[0], None, C.byref(count)),
        count.value,
        d('GraphNodeGetDependencies', None, None, C.byref(count)),
    ]
    out += [
        d('GraphAddEmptyNode', C.byref(n), g.g, c, z(1)),
        d('GraphAddEmptyNode', C.byref(n), g.g, (C.c_void_p * 2)(g.nodes[0], g.nodes[0]), z(2)),
        d('GraphAddEmptyNode', C.byref(n), g.g, (C.c_void_p * 2)(g.nodes[0], g.nodes[1]), z(2)),
        d('GraphAddEmptyNode', C.byref(n), g.g, (C.c_void_p * 1)(None), z(1)),
        d('GraphInstantiateWithFlags', C.byref(n), g.g, C.c_ulonglong(0)),
    ]
    return out


@case
def graph_children(d):
    g, n, x = Graph(d), C.c_void_p(), C.c_void_p()
    other = Graph(d)
    e = g.instance()
    out = [
        d('GraphAddChildGraphNode', C.byref(n), g.g, None, z(0), g.g),
        d('GraphAddChildGraphNode', C.byref(n), g.g, None, z(0), None),
        d('GraphExecChildGraphNodeSetParams', e, g.nodes[4], g.child),
        d('GraphExecChildGraphNodeSetParams', e, g.nodes[4], other.g),
        d('GraphExecChildGraphNodeSetParams', e, g.nodes[0], g.child),
        d('GraphExecChildGraphNodeSetParams', e, g.nodes[4], None),
        d('GraphClone', C.byref(n), g.g),
        d('GraphNodeFindInClone', C.byref(x), g.nodes[0], n),
        d('GraphNodeFindInClone', C.byref(x), other.nodes[0], n),
        d('GraphNodeFindInClone', C.byref(x), g.nodes[0], other.g),
        d('GraphClone', C.byref(n), None),
        d('GraphClone', None, g.g),
        d('GraphDestroy', g.child),
        d('GraphLaunch', e, d.stream),
        d('StreamSynchronize', d.stream),
    ]
    return out + [d('GraphUpload', e, d.stream), d('GraphUpload', None, d.stream)]


UPDATES = {
    'same': {},
    'other kernel': {'kernel': 'small'},
    'other width': {'width': 128},
    'other value': {'value': 9},
    'cluster': {'kernel': 'pairs'},
}


@each('graph update', UPDATES)
def _(d, v):
    g, info = Graph(d), Update()
    e = g.instance()
    if v.get('kernel') == 'pairs':
        del v['kernel']
        other = Graph(d)
        p = kernel_node(d, 'pairs', grid=(2, 1, 1))
        out = [d('GraphKernelNodeSetParams', other.nodes[0], C.byref(p))]
    else:
        other, out = Graph(d, **v), []
    return out + [
        d('GraphExecUpdate', e, other.g, C.byref(info)),
        info.result,
        info.node is not None,
        info.from_ is not None,
        d('GraphLaunch', e, d.stream),
        d('StreamSynchronize', d.stream),
    ]


@case
def graph_update_badly(d):
    g, info, more, less, edge = Graph(d), Update(), Graph(d), C.c_void_p(), Graph(d)
    e, n = g.instance(), C.c_void_p()
    d.must('GraphCreate', C.byref(less), u(0))
    more.add('GraphAddEmptyNode')
    d.must('GraphAddDependencies', edge.g, (C.c_void_p * 1)(edge.nodes[0]), (C.c_void_p * 1)(edge.nodes[1]), z(1))
    swapped = C.c_void_p()
    d.must('GraphCreate', C.byref(swapped), u(0))
    out = []
    for call, params in (
        ('GraphAddMemcpyNode', (C.byref(g.copy), d.ctx)),
        ('GraphAddKernelNode', (C.byref(g.kernel),)),
        ('GraphAddMemsetNode', (C.byref(g.memset), d.ctx)),
        ('GraphAddHostNode', (C.byref(g.host),)),
        ('GraphAddChildGraphNode', (g.child,)),
        ('GraphAddEmptyNode', ()),
    ):
        g.add(call, *params, graph=swapped)
    for other in (more.g, less, edge.g, swapped, None):
        out += [
            d('GraphExecUpdate', e, other, C.byref(info)),
            info.result,
            info.node is not None,
            info.from_ is not None,
        ]
    return out + [
        d('GraphExecUpdate', None, g.g, C.byref(info)),
        d('GraphExecUpdate', e, g.g, None),
        d('GraphExecUpdate', e, g.g, C.byref(info)),
        info.result,
    ]


# ---- captures

@case
def capture_info(d):
    s, i, g, deps, n = C.c_int(-1), C.c_ulonglong(), C.c_void_p(), C.c_void_p(), C.c_size_t(77)
    ask = lambda: [
        d('StreamGetCaptureInfo', d.stream, C.byref(s), C.byref(i), C.byref(g), C.byref(deps), C.byref(n)),
        s.value,
        g.value is not None,
        n.value,
    ]
    out = ask() + [
        d('StreamGetCaptureInfo', d.stream, None, None, None, None, None),
        d('StreamGetCaptureInfo', None, C.byref(s), None, None, None, None),
        s.value,
    ]
    d.must('StreamBeginCapture', d.stream, 2)
    out += ask()
    out += (
        [d('LaunchKernel', d.f('plain'), *[u(1)] * 6, u(0), d.stream, None, None)]
        + ask()
        + [d('MemsetD8Async', d.p, C.c_ubyte(3), z(64), d.stream)]
        + ask()
        + [d('MemcpyDtoDAsync', q(d.p.value + 4096), d.p, z(64), d.stream)]
        + ask()
    )
    out += (
        [d('LaunchHostFunc', d.stream, KEEP[0], None)]
        + ask()
        + [d('StreamEndCapture', d.stream, C.byref(g)), d('GraphGetNodes', g, None, C.byref(n)), n.value]
    )
    return out


@each(
    'capture of',
    (
        'MemAlloc',
        'MemFree',
        'CtxSynchronize',
        'StreamSynchronize',
        'StreamQuery',
        'EventQuery',
        'EventSynchronize',
        'MemcpyHtoD',
        'MemsetD8',
        'other stream',
        'legacy stream',
        'synchronize other',
        'query other',
        'GraphLaunch',
        'begin again',
        'event of other',
        'HtoD async',
        'wait for captured',
        'EventRecord other',
    ),
)
def _(d, v):
    out = []
    for mode in (0, 1, 2):
        g, x, other, mem = C.c_void_p(), C.c_void_p(), C.c_void_p(), C.c_uint64()
        d.must('StreamCreate', C.byref(other), u(1))
        s = C.c_void_p()
        d.must('StreamCreate', C.byref(s), u(1))
        e = C.c_void_p()
        d.must('EventCreate', C.byref(e), u(0))
        captured = C.c_void_p()
        d.must('EventCreate', C.byref(captured), u(0))
        done = Graph(d).instance()
        d.must('StreamBeginCapture', s, mode)
        d.must('EventRecord', captured, s)
        calls = {
            'MemAlloc': ('MemAlloc', C.byref(mem), z(64)),
            'MemFree': ('MemFree', q(0)),
            'CtxSynchronize': ('CtxSynchronize',),
            'StreamSynchronize': ('StreamSynchronize', s),
            'StreamQuery': ('StreamQuery', s),
            'EventQuery': ('EventQuery', e),
            'EventSynchronize': ('EventSynchronize', captured),
            'MemcpyHtoD': ('MemcpyHtoD', d.p, d.host, z(4)),
            'MemsetD8': ('MemsetD8', d.p, C.c_ubyte(3), z(4)),
            'other stream': ('MemsetD8Async', d.p, C.c_ubyte(3), z(4), other),
            'legacy stream': ('MemsetD8Async', d.p, C.c_ubyte(3), z(4), None),
            'synchronize other': ('StreamSynchronize', other),
            'query other': ('StreamQuery', other),
            'GraphLaunch': ('GraphLaunch', done, s),
            'begin again': ('StreamBeginCapture', s, mode),
            'event of other': ('StreamWaitEvent', s, e, u(0)),
            'HtoD async': ('MemcpyHtoDAsync', d.p, d.host, z(4), s),
            'wait for captured': ('StreamWaitEvent', other, captured, u(0)),
            'EventRecord other': ('EventRecord', e, other),
        }
        status = C.c_int()
        out += [
            d(*calls[v]),
            d('StreamIsCapturing', s, C.byref(status)),
            status.value,
            d('StreamEndCapture', s, C.byref(g)),
            g.value is not None,
            d('CtxSynchronize'),
        ]
    return out


@case
def capture_mode(d):
    m, out = C.c_int(), []
    for v in (0, 1, 2, 3, -1):
        m.value = v
        out += [d('ThreadExchangeStreamCaptureMode', C.byref(m)), m.value]
    m.value = 0
    return out + [d('ThreadExchangeStreamCaptureMode', C.byref(m)), d('ThreadExchangeStreamCaptureMode', None)]


# ---- asynchronous copies

PLACES = {
    'fine': (0, 64),
    'nothing': (0, 0),
    'far': (0, 1 << 17),
    'across': (65530, 64),
    'wild': (1 << 50, 64),
    'null': (None, 64),
}


@each('copies async', PLACES)
def _(d, v):
    at, n = q(0 if v[0] is None else d.p.value + v[0]), z(v[1])
    big = C.create_string_buffer(1 << 17)
    out = []
    for stream in (d.stream, None, C.c_void_p(2)):
        out += [
            d('MemcpyHtoDAsync', at, big, n, stream),
            d('MemcpyDtoHAsync', big, at, n, stream),
            d('MemcpyDtoDAsync', at, d.p, n, stream),
            d('MemcpyAsync', at, d.p, n, stream),
            d('MemsetD8Async', at, C.c_ubyte(1), n, stream),
            d('MemsetD16Async', at, C.c_ushort(1), n, stream),
            d('MemsetD32Async', at, u(1), n, stream),
            d('MemsetD2D8Async', at, z(32), C.c_ubyte(1), n, z(2), stream),
            d('MemsetD2D32Async', at, z(66), u(1), z(v[1] // 4), z(2), stream),
            d('CtxSynchronize'),
        ]
    return out


# ---- occupancy, objects, references


@each(
    'occupancy',
    {
        'plain': ('plain', 128, 0),
        'shared': ('shared', 256, 40000),
        'too large': ('plain', 2000, 0),
        'too much': ('shared', 32, 300000),
        'no threads': ('plain', 0, 0),
        'small': ('small', 128, 0),
        'negative': ('plain', -1, 0),
        'odd': ('plain', 33, 1),
    },
)
def _(d, v):
    n, best, g, b = C.c_int(-1), C.c_int(-1), C.c_int(-1), C.c_int(-1)
    f = d.f(v[0])
    out = [
        d('OccupancyMaxActiveBlocksPerMultiprocessorWithFlags', C.byref(n), f, v[1], z(v[2]), u(k)) for k in (0, 1, 2)
    ] + [d('OccupancyMaxActiveBlocksPerMultiprocessorWithFlags', None, f, v[1], z(v[2]), u(0))]
    return out + [
        d('OccupancyMaxPotentialBlockSize', C.byref(g), C.byref(b), f, None, z(v[2]), 0),
        g.value,
        b.value,
        d('OccupancyMaxPotentialBlockSize', C.byref(g), C.byref(b), f, None, z(v[2]), v[1]),
        g.value,
        b.value,
        d('OccupancyMaxPotentialBlockSizeWithFlags', C.byref(g), C.byref(b), f, None, z(v[2]), v[1], u(9)),
        d('OccupancyMaxPotentialBlockSize', None, C.byref(b), f, None, z(0), 0),
    ]


@case
def texture_objects(d):
    t, s, r, x, w = C.c_ulonglong(), C.c_ulonglong(), Resource(), Texture(), View()
    r.words[0] = d.array.value
    x.address[0], x.filter, x.flags, x.aniso, x.bias = 1, 0, 2, 99, 0.5
    d.must('TexObjectCreate', C.byref(t), C.byref(r), C.byref(x), None)
    back, y = Resource(), Texture()
    out = [
        d('TexObjectGetResourceDesc', C.byref(back), t),
        back.type,
        back.words[0] == d.array.value,
        d('TexObjectGetTextureDesc', C.byref(y), t),
        y.address[0],
        y.flags,
        y.aniso,
        d('TexObjectGetResourceViewDesc', C.byref(w), t),
        d('TexObjectGetResourceDesc', None, t),
        d('TexObjectGetTextureDesc', None, t),
        d('TexObjectGetResourceDesc', C.byref(back), C.c_ulonglong(0)),
    ]
    flat = d.new_array(64, 32, 0, 3, 1, 0)
    r.words[0] = flat.value
    out += [
        d('SurfObjectCreate', C.byref(s), C.byref(r)),
        d('SurfObjectGetResourceDesc', C.byref(back), C.c_ulonglong(0)),
        d('SurfObjectGetResourceDesc', None, s),
    ]
    return out + [
        d('TexObjectDestroy', t),
        d('TexObjectDestroy', C.c_ulonglong(0)),
        d('SurfObjectDestroy', C.c_ulonglong(0)),
    ]
