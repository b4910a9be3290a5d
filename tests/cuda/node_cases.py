"""Test cases for calls.py: event nodes, node updates, disabled and removed nodes, edges, kernel node attributes."""

import ctypes as C

from call_cases import Attribute, KernelNode, case, each, q, structure, u, z
from graph_cases import Graph, Memset, copy_node, kernel_node

Edge = structure([('from_port', C.c_ubyte), ('to_port', C.c_ubyte), ('kind', C.c_ubyte), ('reserved', C.c_ubyte * 5)])
Instance = structure([('flags', 'q'), ('stream', 'p'), ('node', 'p'), ('result', 'i')])
KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT, RECORD = range(8)
CLUSTER, PRIORITY, COOPERATIVE = 4, 8, 2


def one(n):
    return (C.c_void_p * 1)(n)


def handle():
    return C.c_void_p()


def event(d):
    e = handle()
    d.must('EventCreate', C.byref(e), u(0))
    return e


def params(kind, *words):
    """Makes a CUgraphNodeParams."""
    p = (C.c_uint64 * 32)(kind)
    for k, w in enumerate(words):
        p[2 + k] = w
    return p


def changed(kind, data):
    p = params(kind)
    C.memmove(C.byref(p, 16), C.byref(data), C.sizeof(data))
    return p


@case
def graph_events(d):
    g, e, other, n, got, kind, count = Graph(d), event(d), event(d), handle(), handle(), C.c_int(), C.c_size_t()
    record, wait = g.add('GraphAddEventRecordNode', e), g.add('GraphAddEventWaitNode', e)
    out = [
        d('GraphAddEventRecordNode', C.byref(n), g.g, None, z(0), None),
        d('GraphAddEventWaitNode', C.byref(n), g.g, None, z(0), None),
        d('GraphAddEventRecordNode', None, g.g, None, z(0), e),
        d('GraphAddEventRecordNode', C.byref(n), None, None, z(0), e),
    ]
    for k in (record, wait):
        out += [d('GraphNodeGetType', k, C.byref(kind)), kind.value]
    out += [
        d('GraphEventRecordNodeGetEvent', record, C.byref(got)),
        got.value == e.value,
        d('GraphEventWaitNodeGetEvent', wait, C.byref(got)),
        got.value == e.value,
        d('GraphEventRecordNodeGetEvent', wait, C.byref(got)),
        d('GraphEventWaitNodeGetEvent', record, C.byref(got)),
        d('GraphEventRecordNodeGetEvent', record, None),
        d('GraphEventRecordNodeSetEvent', record, other),
        d('GraphEventRecordNodeGetEvent', record, C.byref(got)),
        got.value == other.value,
        d('GraphEventRecordNodeSetEvent', record, None),
        d('GraphEventRecordNodeSetEvent', wait, e),
        d('GraphEventWaitNodeSetEvent', wait, other),
        d('GraphEventWaitNodeSetEvent', g.nodes[0], other),
        d('GraphEventWaitNodeSetEvent', None, other),
    ]
    x = g.instance()
    out += [
        d('GraphExecEventRecordNodeSetEvent', x, record, e),
        d('GraphExecEventRecordNodeSetEvent', x, wait, e),
        d('GraphExecEventWaitNodeSetEvent', x, wait, e),
        d('GraphExecEventWaitNodeSetEvent', x, g.nodes[0], e),
        d('GraphExecEventRecordNodeSetEvent', x, record, None),
        d('GraphExecEventRecordNodeSetEvent', None, record, e),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('EventQuery', e),
        d('EventDestroy', other),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
    ]
    return out


@case
def graph_event_times(d):
    g, a, b, ms = Graph(d), event(d), event(d), C.c_float(-1)
    first, last = g.add('GraphAddEventRecordNode', a), g.add('GraphAddEventRecordNode', b)
    out = [
        d('GraphAddDependencies', g.g, one(first), one(g.nodes[0]), z(1)),
        d('GraphAddDependencies', g.g, one(g.nodes[0]), one(last), z(1)),
    ]
    x = g.instance()
    return out + [
        d('EventElapsedTime', C.byref(ms), a, b),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('EventElapsedTime', C.byref(ms), a, b),
        ms.value >= 0,
    ]


@case
def capture_events(d):
    s, e, f, g, n, kind = handle(), event(d), event(d), handle(), C.c_size_t(8), C.c_int()
    nodes = (C.c_void_p * 8)()
    d.must('StreamCreate', C.byref(s), u(1))
    out = [
        d('EventRecordWithFlags', e, s, u(0)),
        d('EventRecordWithFlags', e, s, u(1)),
        d('EventRecordWithFlags', e, s, u(2)),
        d('StreamWaitEvent', s, e, u(1)),
        d('StreamWaitEvent', s, e, u(2)),
    ]
    d.must('StreamBeginCapture', s, 2)
    out += [
        d('EventRecordWithFlags', e, s, u(1)),
        d('EventRecordWithFlags', f, s, u(0)),
        d('StreamWaitEvent', s, e, u(1)),
        d('EventRecord', f, s),
        d('StreamEndCapture', s, C.byref(g)),
        d('GraphGetNodes', g, nodes, C.byref(n)),
        n.value,
    ]
    for k in range(min(n.value, 8)):
        out += [d('GraphNodeGetType', C.c_void_p(nodes[k]), C.byref(kind)), kind.value] if nodes[k] else []
    return out


@case
def graph_enabled(d):
    g, on = Graph(d), u(7)
    x, out = g.instance(), []
    for n in g.nodes:
        out += [
            d('GraphNodeGetEnabled', x, n, C.byref(on)),
            on.value,
            d('GraphNodeSetEnabled', x, n, u(0)),
            d('GraphNodeGetEnabled', x, n, C.byref(on)),
            on.value,
        ]
    out += [
        d('GraphNodeSetEnabled', x, g.nodes[0], u(5)),
        d('GraphNodeGetEnabled', x, g.nodes[0], C.byref(on)),
        on.value,
        d('GraphNodeSetEnabled', None, g.nodes[0], u(0)),
        d('GraphNodeSetEnabled', x, None, u(0)),
        d('GraphNodeGetEnabled', x, g.nodes[0], None),
        d('GraphNodeSetEnabled', x, Graph(d).nodes[0], u(0)),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
    ]
    return out


def first_word(d):
    d.must('MemcpyDtoH', d.host, d.p, z(4))
    return int.from_bytes(d.host.raw[:4], 'little')


@case
def graph_enabled_runs(d):
    """Disables a memset node, changes it, enables it again, and updates it from another graph."""
    g = Graph(d, value=7)
    x, out, m = g.instance(), [], Memset(d.p.value, 0, 9, 4, 16, 1)
    for calls in (
        [],
        [('GraphNodeSetEnabled', x, g.nodes[2], u(0))],
        [('GraphExecMemsetNodeSetParams', x, g.nodes[2], C.byref(m), d.ctx)],
        [('GraphNodeSetEnabled', x, g.nodes[2], u(1))],
        [
            ('GraphNodeSetEnabled', x, g.nodes[2], u(0)),
            ('GraphExecUpdate', x, Graph(d, value=11).g, C.byref((C.c_uint64 * 3)())),
        ],
    ):
        out += [d(*c) for c in calls]
        d.must('MemsetD32', d.p, u(5), z(16))
        out += [d('GraphLaunch', x, d.stream), d('StreamSynchronize', d.stream), first_word(d)]
    return out


@case
def graph_edges_listed(d):
    g, count, some = Graph(d), C.c_size_t(), (C.c_void_p * 9)()
    more = (C.c_void_p * 9)()
    a, b, c = (one(g.nodes[k]) for k in range(3))
    d.must('GraphAddDependencies', g.g, a, b, z(1))
    d.must('GraphAddDependencies', g.g, a, c, z(1))
    d.must('GraphAddDependencies', g.g, b, c, z(1))
    out = [d('GraphGetEdges', g.g, None, None, C.byref(count)), count.value]
    for room in (2, 9):
        count.value = room
        out += [
            d('GraphGetEdges', g.g, some, more, C.byref(count)),
            count.value,
            sum(x is not None for x in some),
        ] + [[n.value for n in g.nodes].index(x) if x else -1 for x in (*some[:4], *more[:4])]
    out += [
        d('GraphGetEdges', g.g, some, None, C.byref(count)),
        d('GraphGetEdges', g.g, some, more, None),
        d('GraphGetEdges', None, None, None, C.byref(count)),
    ]
    out += (
        [
            d('GraphGetRootNodes', g.g, None, C.byref(count)),
            count.value,
            d('GraphGetRootNodes', g.g, some, C.byref(count)),
            count.value,
        ]
        + [[n.value for n in g.nodes].index(x) if x else -1 for x in some[:6]]
        + [d('GraphGetRootNodes', g.g, some, None), d('GraphGetRootNodes', None, None, C.byref(count))]
    )
    out += [
        d('GraphNodeGetDependentNodes', g.nodes[0], None, C.byref(count)),
        count.value,
        d('GraphNodeGetDependentNodes', g.nodes[0], some, C.byref(count)),
        count.value,
        some[0] == g.nodes[1].value,
        some[1] == g.nodes[2].value,
        d('GraphNodeGetDependentNodes', g.nodes[2], None, C.byref(count)),
        count.value,
        d('GraphNodeGetDependentNodes', None, None, C.byref(count)),
        d('GraphNodeGetDependentNodes', g.nodes[0], None, None),
    ]
    return out


@case
def graph_edges_removed(d):
    g, other, count = Graph(d), Graph(d), C.c_size_t()
    a, b, c = (one(g.nodes[k]) for k in range(3))
    d.must('GraphAddDependencies', g.g, a, b, z(1))
    d.must('GraphAddDependencies', g.g, b, c, z(1))
    out = [
        d('GraphRemoveDependencies', g.g, a, c, z(1)),
        d('GraphRemoveDependencies', g.g, b, a, z(1)),
        d('GraphRemoveDependencies', g.g, a, one(other.nodes[1]), z(1)),
        d('GraphRemoveDependencies', other.g, a, b, z(1)),
        d('GraphRemoveDependencies', g.g, None, b, z(1)),
        d('GraphRemoveDependencies', g.g, None, None, z(0)),
        d('GraphRemoveDependencies', None, a, b, z(1)),
        d('GraphGetEdges', g.g, None, None, C.byref(count)),
        count.value,
        d('GraphRemoveDependencies', g.g, a, b, z(1)),
        d('GraphRemoveDependencies', g.g, a, b, z(1)),
        d('GraphGetEdges', g.g, None, None, C.byref(count)),
        count.value,
        d(
            'GraphRemoveDependencies',
            g.g,
            (C.c_void_p * 2)(g.nodes[1], g.nodes[1]),
            (C.c_void_p * 2)(g.nodes[2], g.nodes[2]),
            z(2),
        ),
        d('GraphGetEdges', g.g, None, None, C.byref(count)),
        count.value,
    ]
    return out


@case
def graph_nodes_destroyed(d):
    g, count, n = Graph(d), C.c_size_t(), handle()
    a, b, c = (one(g.nodes[k]) for k in range(3))
    d.must('GraphAddDependencies', g.g, a, b, z(1))
    d.must('GraphAddDependencies', g.g, b, c, z(1))
    x = g.instance()
    out = [
        d('GraphDestroyNode', g.nodes[1]),
        d('GraphGetNodes', g.g, None, C.byref(count)),
        count.value,
        d('GraphGetEdges', g.g, None, None, C.byref(count)),
        count.value,
        d('GraphNodeGetDependencies', g.nodes[2], None, C.byref(count)),
        count.value,
        d('GraphDestroyNode', None),
        d('GraphDestroyNode', g.nodes[4]),
        d('GraphGetNodes', g.g, None, C.byref(count)),
        count.value,
        d('GraphExecUpdate', x, g.g, C.byref((C.c_uint64 * 3)())),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('GraphDestroyNode', g.inner),
        d('GraphLaunch', g.instance(), d.stream),
        d('StreamSynchronize', d.stream),
    ]
    return out


@case
def graph_edge_data(d):
    g, n, count = Graph(d), handle(), C.c_size_t(4)
    second = g.add('GraphAddKernelNode', C.byref(g.kernel))
    a, b, m = one(g.nodes[0]), one(second), one(g.nodes[2])
    add = lambda x, y, *e: d.lib.cuGraphAddDependencies_v2(g.g, x, y, C.byref(Edge(*e)), z(1))
    out = [
        add(a, b, 1, 0, 1),
        add(a, b, 1, 0, 1),
        add(a, b, 0, 0, 0),
        d.lib.cuGraphRemoveDependencies_v2(g.g, a, b, C.byref(Edge(0, 0, 0)), z(1)),
        d.lib.cuGraphRemoveDependencies_v2(g.g, a, b, C.byref(Edge(1, 0, 1)), z(1)),
        add(a, b, 2, 0, 1),
        d.lib.cuGraphRemoveDependencies_v2(g.g, a, b, C.byref(Edge(2, 0, 1)), z(1)),
        add(a, b, 3, 0, 1),
        add(a, b, 1, 0, 0),
        add(a, b, 0, 0, 1),
        add(a, b, 0, 1, 0),
        add(a, b, 0, 0, 2),
        add(a, m, 1, 0, 1),
        add(m, b, 1, 0, 1),
        add(m, b, 1, 0, 0),
        add(m, b, 0, 0, 0),
        add(a, b, 1, 0, 1),
    ]
    some, more, data = (C.c_void_p * 4)(), (C.c_void_p * 4)(), (Edge * 4)()
    out += [
        d('GraphGetEdges', g.g, some, more, C.byref(count)),
        count.value,
        d.lib.cuGraphGetEdges_v2(g.g, some, more, data, C.byref(count)),
        count.value,
    ] + [x for e in data[:4] for x in (e.from_port, e.to_port, e.kind)]
    count.value = 4
    out += [
        d('GraphNodeGetDependencies', second, some, C.byref(count)),
        d.lib.cuGraphNodeGetDependencies_v2(second, some, data, C.byref(count)),
        count.value,
    ] + [x for e in data[:2] for x in (e.from_port, e.to_port, e.kind)]
    x = handle()
    return out + [
        d('GraphInstantiateWithFlags', C.byref(x), g.g, C.c_ulonglong(0)),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d.lib.cuGraphAddNode_v2(C.byref(n), g.g, a, C.byref(Edge(1, 0, 1)), z(1), params(EMPTY)),
    ]


@case
def kernel_node_params(d):
    g, p, got, n = Graph(d), kernel_node(d, 'write'), KernelNode(), handle()
    at, value = q(d.p.value), u(77)
    words = (C.c_void_p * 2)(C.addressof(at), C.addressof(value))
    p.params = C.addressof(words)
    out = [d('GraphAddKernelNode', C.byref(n), g.g, None, z(0), C.byref(p))]
    at.value, value.value = 0, 0
    get = getattr(d.lib, 'cuGraphKernelNodeGetParams_v2')
    out += [get(n, C.byref(got)), got.f == p.f, *got.grid, *got.block, got.shared, got.extra is None]
    if got.params:
        held = (C.c_void_p * 2).from_address(got.params)
        out += [C.c_uint64.from_address(held[0]).value == d.p.value, C.c_uint.from_address(held[1]).value]
    out += [
        get(g.nodes[0], C.byref(got)),
        got.params is None,
        get(g.nodes[1], C.byref(got)),
        get(None, C.byref(got)),
        get(n, None),
    ]
    return out


ATTRIBUTES = {
    'cluster': (CLUSTER, 1, 2, 1, 1),
    'large cluster': (CLUSTER, 1, 64, 1, 1),
    'cooperative': (COOPERATIVE, 1, 1),
    'priority': (PRIORITY, 1, -1),
    'window': (1, 0),
    'policy': (5, 1, 1),
    'serialization': (6, 1, 1),
    'domain': (10, 1, 1),
    'preferred cluster': (11, 1, 2, 1, 1),
    'carveout': (14, 1, 50),
    'none': (0, 0),
    'unknown': (99, 0),
    'synchronization': (3, 1, 1),
    'updatable': (13, 1, 1),
}


@each('kernel node attribute', ATTRIBUTES)
def _(d, v):
    attr, words, *values = v
    g, value, got = Graph(d), (C.c_uint * 16)(*[x & 0xffffffff for x in values]), (C.c_uint * 16)()
    p = kernel_node(d, grid=(4, 1, 1))
    second = handle()
    d.must('GraphAddKernelNode', C.byref(second), g.g, None, z(0), C.byref(p))
    seen = lambda: list(got[:len(values)])
    out = [
        d('GraphKernelNodeGetAttribute', second, attr, got),
        *seen(),
        d('GraphKernelNodeSetAttribute', second, attr, value),
        d('GraphKernelNodeGetAttribute', second, attr, got),
        *seen(),
        d('GraphKernelNodeSetAttribute', g.nodes[1], attr, value),
        d('GraphKernelNodeGetAttribute', g.nodes[1], attr, got),
        d('GraphKernelNodeCopyAttributes', g.nodes[0], second),
        d('GraphKernelNodeGetAttribute', g.nodes[0], attr, got),
        *seen(),
        d('GraphKernelNodeCopyAttributes', g.nodes[1], second),
    ]
    x = handle()
    rc = d('GraphInstantiateWithFlags', C.byref(x), g.g, C.c_ulonglong(0))
    return out + [rc] + ([] if rc else [d('GraphLaunch', x, d.stream), d('StreamSynchronize', d.stream)])


@case
def graph_node_set(d):
    """Calls cuGraphNodeSetParams and cuGraphExecNodeSetParams with the same and with another node type."""
    g, e = Graph(d), event(d)
    x, out = g.instance(), []
    wait = g.add('GraphAddEventWaitNode', e)
    host = (C.c_uint64 * 2)(g.host.fn, 0)
    memset = Memset(d.p.value, 0, 3, 4, 8, 1)
    copy = (C.c_ubyte * (16 + 208))()
    C.memmove(C.byref(copy, 8), C.byref(copy_node(d, 32)), C.sizeof(copy_node(d)))
    kinds = [
        changed(KERNEL, kernel_node(d, 'small')),
        params(MEMSET, memset.dst, memset.pitch, 3 | 4 << 32, 8, 1),
        params(HOST, g.host.fn, 0),
        params(CHILD, g.child.value),
        params(EMPTY),
        params(WAIT, e.value),
        params(RECORD, e.value),
        params(99),
    ]
    for n in (g.nodes[0], g.nodes[2], g.nodes[3], g.nodes[4], g.nodes[5], wait):
        for p in kinds:
            out += [d('GraphNodeSetParams', n, p), d('GraphExecNodeSetParams', x, n, p)]
    return out + [
        d('GraphNodeSetParams', None, kinds[0]),
        d('GraphNodeSetParams', g.nodes[0], None),
        d('GraphExecNodeSetParams', None, g.nodes[0], kinds[0]),
        d('GraphExecNodeSetParams', x, g.nodes[0], None),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
    ]


@each('GraphInstantiate', (0, 1, 2, 4, 5, 8, 12, 16, 32))
def _(d, v):
    g, x, flags = Graph(d), handle(), C.c_ulonglong(99)
    small, n = handle(), handle()
    d.must('GraphCreate', C.byref(small), u(0))
    d.must('GraphAddKernelNode', C.byref(n), small, None, z(0), C.byref(g.kernel))
    out = []
    for graph in (g.g, small):
        rc = d('GraphInstantiateWithFlags', C.byref(x), graph, C.c_ulonglong(v))
        out += [rc] + (
            []
            if rc
            else [
                d('GraphExecGetFlags', x, C.byref(flags)),
                flags.value,
                d('GraphExecGetFlags', x, None),
                d('GraphUpload', x, d.stream),
                d('GraphLaunch', x, d.stream),
                d('StreamSynchronize', d.stream),
            ]
        )
        p = Instance(v, d.stream.value, None, 77)
        rc = d('GraphInstantiateWithParams', C.byref(x), graph, C.byref(p))
        out += [rc, p.result, p.node is not None] + (
            [] if rc else [d('GraphExecGetFlags', x, C.byref(flags)), flags.value]
        )
    return out + [
        d('GraphInstantiateWithParams', C.byref(x), g.g, None),
        d('GraphInstantiateWithParams', None, g.g, C.byref(Instance())),
        d('GraphExecGetFlags', None, C.byref(flags)),
    ]


@case
def graph_instantiate_cycle(d):
    g, x, p = Graph(d), handle(), Instance(0, None, None, 77)
    a, b = (one(g.nodes[k]) for k in range(2))
    d('GraphAddDependencies', g.g, a, b, z(1))
    d('GraphAddDependencies', g.g, b, a, z(1))
    return [d('GraphInstantiateWithParams', C.byref(x), g.g, C.byref(p)), p.result, p.node is not None]



@case
def graph_edges_counted(d):
    """Counts edges with edge data.

    A query is not lossy without an output array or with an array for edge data. A capacity of 0 is refused.
    """
    g, n, count, some, data = Graph(d), handle(), C.c_size_t(4), (C.c_void_p * 4)(), (Edge * 4)()
    second = g.add('GraphAddKernelNode', C.byref(g.kernel))
    a, b = one(g.nodes[0]), one(second)
    out = [
        d.lib.cuGraphAddDependencies_v2(g.g, a, b, C.byref(Edge(1, 0, 1)), z(1)),
        d('GraphGetEdges', g.g, None, None, C.byref(count)),
        count.value,
        d('GraphNodeGetDependencies', second, None, C.byref(count)),
        count.value,
    ]
    count.value = 4
    out += [
        d('GraphNodeGetDependentNodes', g.nodes[0], some, C.byref(count)),
        count.value,
        d('GraphNodeGetDependentNodes', g.nodes[0], None, C.byref(count)),
        count.value,
    ]
    count.value = 4
    out += [d.lib.cuGraphNodeGetDependentNodes_v2(g.nodes[0], some, data, C.byref(count)), count.value] + [
        x for e in data[:2] for x in (e.from_port, e.to_port, e.kind)
    ]
    count.value = 0
    out += [d('GraphNodeGetDependencies', second, some, C.byref(count)), count.value]
    x, y = handle(), handle()
    out += [d('GraphClone', C.byref(x), g.g), d('GraphGetEdges', x, some, some, C.byref(count)), count.value]
    return out
