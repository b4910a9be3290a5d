"""Test cases for calls.py: CUDA driver calls with valid and invalid arguments.

Each case returns a list of numbers: the result codes of calls and their output values.
"""

import ctypes as C

CASES = []
V2 = {
    'CtxDestroy',
    'CtxPopCurrent',
    'CtxPushCurrent',
    'DeviceTotalMem',
    'EventDestroy',
    'MemAlloc',
    'MemAllocHost',
    'MemAllocPitch',
    'MemFree',
    'MemGetAddressRange',
    'MemGetInfo',
    'MemHostGetDevicePointer',
    'MemHostRegister',
    'Memcpy2D',
    'Memcpy2DUnaligned',
    'MemcpyDtoD',
    'MemcpyDtoH',
    'MemcpyHtoD',
    'MemcpyHtoDAsync',
    'MemcpyDtoHAsync',
    'MemsetD16',
    'MemsetD2D8',
    'MemsetD2D16',
    'MemsetD2D32',
    'MemsetD32',
    'MemsetD8',
    'ModuleGetGlobal',
    'StreamDestroy',
    'Memcpy3D',
    'LinkAddData',
    'LinkAddFile',
    'LinkCreate',
    'ArrayCreate',
    'Array3DCreate',
    'ArrayGetDescriptor',
    'Array3DGetDescriptor',
    'MemcpyAtoA',
    'MemcpyAtoD',
    'MemcpyAtoH',
    'MemcpyDtoA',
    'MemcpyHtoA',
    'StreamBeginCapture',
    'EventElapsedTime',
    'DevicePrimaryCtxRelease',
    'DevicePrimaryCtxReset',
    'GraphAddKernelNode',
    'GraphKernelNodeSetParams',
    'GraphExecKernelNodeSetParams',
    'GraphExecUpdate',
    'MemcpyDtoDAsync',
    'StreamGetCaptureInfo',
    'StreamWaitValue32',
    'StreamWaitValue64',
    'StreamWriteValue32',
    'StreamWriteValue64',
    'StreamBatchMemOp',
}
KERNELS = b""".version 8.6
.target sm_90
.address_size 64
.visible .global .align 8 .b8 space[40];
.global .u32 hidden;
.visible .const .align 4 .b8 table[64];
.extern .shared .align 16 .b8 more[];
.visible .entry plain() { ret; }
.visible .entry write(.param .u64 p, .param .u32 x)
{ .reg .u64 %p; .reg .u32 %x; ld.param.u64 %p, [p]; ld.param.u32 %x, [x]; st.global.u32 [%p], %x; ret; }
.visible .entry shared() { .reg .u32 %x; .shared .align 8 .b8 s[1000]; mov.u32 %x, s; st.shared.u32 [%x], %x;
mov.u32 %x, more; st.shared.u32 [%x], %x; ret; }
.visible .entry small() .maxntid 64, 1, 1 { ret; }
.visible .entry exact() .reqntid 32, 2, 1 { ret; }
.visible .entry pairs() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry anycluster() .explicitcluster { ret; }
.visible .entry most() .maxclusterrank 4 { ret; }
.visible .entry both() .reqntid 32, 1, 1 .explicitcluster .reqnctapercluster 2, 2, 1 { ret; }
\0"""
NULL = C.c_void_p(None)


def case(f):
    CASES.append((f.__name__, f))
    return f


def each(name, values):
    """Adds a case for each value."""
    def add(f):
        for label, v in values.items() if isinstance(values, dict) else [(str(v), v) for v in values]:
            CASES.append(('%s(%s)' % (name, label), lambda d, v=v: f(d, v)))
        return f
    return add


def structure(fields):
    kinds = {'z': C.c_size_t, 'u': C.c_uint, 'i': C.c_int, 'p': C.c_void_p, 'q': C.c_uint64, 'f': C.c_float}
    return type(
        'S',
        (C.Structure,),
        {'_fields_': [(n, kinds[k] if isinstance(k, str) and len(k) == 1 else k) for n, k in fields]},
    )


ArrayDesc = structure([('w', 'z'), ('h', 'z'), ('format', 'u'), ('channels', 'u')])
Array3D = structure([('w', 'z'), ('h', 'z'), ('d', 'z'), ('format', 'u'), ('channels', 'u'), ('flags', 'u')])
SIDE2 = [('x', 'z'), ('y', 'z'), ('type', 'u'), ('host', 'p'), ('dev', 'q'), ('array', 'p'), ('pitch', 'z')]
SIDE3 = [
    ('x', 'z'),
    ('y', 'z'),
    ('z', 'z'),
    ('lod', 'z'),
    ('type', 'u'),
    ('host', 'p'),
    ('dev', 'q'),
    ('array', 'p'),
    ('reserved', 'p'),
    ('pitch', 'z'),
    ('height', 'z'),
]
Copy2D = structure([('s_' + n, k) for n, k in SIDE2] + [('d_' + n, k) for n, k in SIDE2] + [('w', 'z'), ('h', 'z')])
Copy3D = structure(
    [('s_' + n, k) for n, k in SIDE3] + [('d_' + n, k) for n, k in SIDE3] + [('w', 'z'), ('h', 'z'), ('d', 'z')]
)
Resource = structure([('type', 'i'), ('words', C.c_uint64 * 16), ('flags', 'u')])
Texture = structure(
    [
        ('address', C.c_int * 3),
        ('filter', 'i'),
        ('flags', 'u'),
        ('aniso', 'u'),
        ('mip', 'i'),
        ('bias', 'f'),
        ('low', 'f'),
        ('high', 'f'),
        ('border', C.c_float * 4),
        ('reserved', C.c_int * 12),
    ]
)
View = structure(
    [
        ('format', 'i'),
        ('w', 'z'),
        ('h', 'z'),
        ('d', 'z'),
        ('level0', 'u'),
        ('level1', 'u'),
        ('layer0', 'u'),
        ('layer1', 'u'),
        ('reserved', C.c_uint * 16),
    ]
)
Attribute = structure([('id', 'i'), ('pad', 'i'), ('value', C.c_uint64 * 8)])
Config = structure(
    [
        ('grid', C.c_uint * 3),
        ('block', C.c_uint * 3),
        ('shared', 'u'),
        ('stream', 'p'),
        ('attrs', 'p'),
        ('count', 'u'),
    ]
)
KernelNode = structure(
    [
        ('f', 'p'),
        ('grid', C.c_uint * 3),
        ('block', C.c_uint * 3),
        ('shared', 'u'),
        ('params', 'p'),
        ('extra', 'p'),
        ('kern', 'p'),
        ('ctx', 'p'),
    ]
)
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4


def z(x):
    return C.c_size_t(x & (1 << 64) - 1)


def u(x):
    return C.c_uint(x & 0xffffffff)


def q(x):
    return C.c_uint64(x)


class Calls:
    """A driver library and the objects that cases use."""

    def __init__(self, library):
        self.lib = C.CDLL(library)
        self.must('Init', u(0))
        self.dev, self.ctx, self.module, self.stream, self.event = (
            C.c_int(),
            C.c_void_p(),
            C.c_void_p(),
            C.c_void_p(),
            C.c_void_p(),
        )
        self.must('DeviceGet', C.byref(self.dev), 0)
        self.must('DevicePrimaryCtxRetain', C.byref(self.ctx), self.dev)
        self.must('CtxSetCurrent', self.ctx)
        self.must('ModuleLoadData', C.byref(self.module), KERNELS)
        self.must('StreamCreate', C.byref(self.stream), u(1))
        self.must('EventCreate', C.byref(self.event), u(0))
        self.p = C.c_uint64()
        self.must('MemAlloc', C.byref(self.p), z(1 << 16))
        self.host = C.create_string_buffer(1 << 16)
        self.array = self.new_array(64, 32, 0, 3, 1, 2)

    def __call__(self, name, *args):
        return getattr(self.lib, 'cu' + name + ('_v2' if name in V2 else ''))(*args)

    def must(self, name, *args):
        rc = self(name, *args)
        if rc:
            raise RuntimeError('%s: %d' % (name, rc))

    def f(self, name):
        f = C.c_void_p()
        self.must('ModuleGetFunction', C.byref(f), self.module, name.encode())
        return f

    def new_array(self, *a):
        h = C.c_void_p()
        self.must('Array3DCreate', C.byref(h), C.byref(Array3D(*a)))
        return h

    def launch(self, name, grid=(1, 1, 1), block=(32, 1, 1), shared=0, params=None, extra=None, stream=NULL):
        rc = self(
            'LaunchKernel',
            self.f(name) if isinstance(name, str) else name,
            *map(u, grid),
            *map(u, block),
            u(shared),
            stream,
            params,
            extra
        )
        return [rc, self('CtxSynchronize')]

    def config(self, *attrs, grid=(4, 1, 1), block=(32, 1, 1), shared=0, stream=NULL, count=None, null=False):
        self.attrs = (Attribute * max(len(attrs), 1))(*[Attribute(k, 0, (C.c_uint64 * 8)(*v)) for k, *v in attrs])
        return Config(
            (C.c_uint * 3)(*grid),
            (C.c_uint * 3)(*block),
            shared,
            stream,
            None if null else C.addressof(self.attrs),
            len(attrs) if count is None else count,
        )

    def launch_ex(self, name, *attrs, **how):
        return [
            self('LaunchKernelEx', C.byref(self.config(*attrs, **how)), self.f(name), None, None),
            self('CtxSynchronize'),
        ]

    def clusters(self, name, *attrs, **how):
        """Queries the maximum number of active clusters and the maximum cluster size."""
        c, n, size = self.config(*attrs, **how), C.c_int(-5), C.c_int(-5)
        return [
            self('OccupancyMaxActiveClusters', C.byref(n), self.f(name), C.byref(c)),
            n.value,
            self('OccupancyMaxPotentialClusterSize', C.byref(size), self.f(name), C.byref(c)),
            size.value,
        ]


# ---- initialization, devices, contexts

@each('Init', (0, 1))
def _(d, v): return [d('Init', u(v))]


@each('DeviceGet', (0, 8, -1))
def _(d, v):
    x = C.c_int(-7)
    return [d('DeviceGet', C.byref(x), C.c_int(v)), x.value]


@each('DeviceGetAttribute', (0, 1, 16, 147, 1000, -1))
def _(d, v): return [d('DeviceGetAttribute', C.byref(C.c_int()), C.c_int(v), d.dev)]


@case
def device_attribute_of_no_device(d):
    return [d('DeviceGetAttribute', C.byref(C.c_int()), 1, C.c_int(k)) for k in (64, -1)] + [
        d('DeviceGetAttribute', None, 1, d.dev)
    ]


@case
def device_name(d):
    b = C.create_string_buffer(b'xxxxxxx', 8)
    return [d('DeviceGetName', b, 4, d.dev), b.raw[3], d('DeviceGetName', b, 4, 77)]


@case
def device_memory(d): return [d('DeviceTotalMem', None, d.dev), d('DeviceTotalMem', C.byref(C.c_size_t()), 77)]


@case
def error_names(d):
    p = C.c_char_p()
    return [d('GetErrorName', k, C.byref(p)) for k in (0, 1, 200, 5, 12345, -1)] + [
        d('GetErrorString', k, C.byref(p)) for k in (0, 999, 12345)
    ]


@case
def known_errors(d):
    p = C.c_char_p()
    return [k for k in range(1024) if not d('GetErrorName', k, C.byref(p))]


@case
def contexts(d):
    c = C.c_void_p()
    return [
        d('CtxGetCurrent', C.byref(c)),
        c.value == d.ctx.value,
        d('CtxGetCurrent', None),
        d('CtxPushCurrent', d.ctx),
        d('CtxPopCurrent', C.byref(c)),
        c.value == d.ctx.value,
        d('CtxPushCurrent', None),
        d('CtxDestroy', None),
        d('CtxSetCurrent', None),
        d('CtxPopCurrent', C.byref(c)),
        d('CtxSetCurrent', d.ctx),
    ]


@case
def without_context(d):
    x, p, f, mem = C.c_int(), C.c_void_p(), d.f('plain'), C.c_uint64()
    d.must('MemAlloc', C.byref(mem), z(16))
    d.must('CtxSetCurrent', None)
    out = [
        d('CtxSynchronize'),
        d('CtxGetDevice', C.byref(x)),
        d('MemAlloc', C.byref(C.c_uint64()), z(16)),
        d('MemFree', q(0)),
        d('MemFree', mem),
        d('StreamCreate', C.byref(p), u(0)),
        d('ModuleLoadData', C.byref(p), KERNELS),
        d('EventCreate', C.byref(p), u(0)),
        d('MemcpyHtoD', d.p, d.host, z(4)),
        d('StreamSynchronize', None),
        d('StreamSynchronize', d.stream),
        d('EventQuery', d.event),
        d('CtxGetLimit', C.byref(C.c_size_t()), 0),
        d('LaunchKernel', f, *[u(1)] * 6, u(0), NULL, None, None),
        d('MemGetInfo', C.byref(C.c_size_t()), C.byref(C.c_size_t())),
        d('CtxGetStreamPriorityRange', C.byref(x), C.byref(x)),
        d('CtxGetCurrent', C.byref(p)),
        p.value is None,
    ]
    d.must('CtxSetCurrent', d.ctx)
    return out


@each('CtxGetLimit', (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, -1))
def _(d, v): return [d('CtxGetLimit', C.byref(C.c_size_t()), C.c_int(v))]


@each(
    'CtxSetLimit',
    {
        '%d,%#x' % v: v
        for v in (
            (0, 0),
            (0, 1),
            (0, 1 << 10),
            (0, 1 << 17),
            (0, 1 << 19),
            (0, 1 << 30),
            (0, 1 << 40),
            (1, 0),
            (1, 1 << 20),
            (1, 1 << 50),
            (2, 0),
            (2, 1 << 20),
            (2, 1 << 60),
            (3, 1),
            (3, 24),
            (4, 100),
            (4, 0),
            (5, 0),
            (5, 64),
            (5, 33),
            (5, 129),
            (6, 0),
            (6, 1 << 20),
            (6, 1 << 40),
            (9, 1),
            (100, 1),
        )
    },
)
def _(d, v):
    before, after = C.c_size_t(), C.c_size_t()
    known = not d('CtxGetLimit', C.byref(before), v[0])
    rc = d('CtxSetLimit', v[0], z(v[1]))
    d('CtxGetLimit', C.byref(after), v[0])
    if known:
        d('CtxSetLimit', v[0], before)
    return [rc] + ([after.value] if v[0] in (0, 2, 5) and v[1] < 1 << 20 else [])


@each('CtxCreate_v4', (0, 1, 2, 3, 4, 7, 8, 16, 64, 128, 256, 1 << 31))
def _(d, v):
    c = C.c_void_p()
    rc = d('CtxCreate_v4', C.byref(c), None, u(v), d.dev)
    return [rc] if rc else [rc, d('CtxDestroy', c), d('CtxSetCurrent', d.ctx)]


# Members of CUctxCreateParams that are set: execution affinities, their number, graphics parameters.
@each(
    'CtxCreate_v4',
    {'none': (0, 0, 0), 'count': (0, 1, 0), 'affinities': (1, 0, 0), 'graphics': (0, 0, 1), 'affinity': (1, 1, 0)},
)
def _(d, v):
    c, zeros = C.c_void_p(), C.create_string_buffer(64)
    at = C.addressof(zeros)
    rc = d('CtxCreate_v4', C.byref(c), (C.c_uint64 * 3)(at * v[0], v[1], at * v[2]), u(0), d.dev)
    return [rc] if rc else [rc, d('CtxDestroy', c), d('CtxSetCurrent', d.ctx)]


@case
def context_of_no_device(d):
    return [
        d('CtxCreate_v4', C.byref(C.c_void_p()), None, u(0), 77),
        d('CtxCreate_v4', None, None, u(0), d.dev),
        d('DevicePrimaryCtxRetain', C.byref(C.c_void_p()), 77),
    ]


@case
def context_version(d):
    v = C.c_uint()
    return [d('CtxGetApiVersion', d.ctx, C.byref(v)), v.value, d('CtxGetApiVersion', d.ctx, None)]


@case
def primary_state(d):
    flags, active = C.c_uint(), C.c_int()
    return [
        d('DevicePrimaryCtxGetState', d.dev, C.byref(flags), C.byref(active)),
        active.value,
        d('DevicePrimaryCtxGetState', d.dev, None, C.byref(active)),
        d('DevicePrimaryCtxGetState', 77, C.byref(flags), C.byref(active)),
    ]


# ---- modules and functions

IMAGES = {
    'empty': b'',
    'text': b'hello',
    'version only': b'.version 8.0\n',
    'no target': b'.version 8.0\n.address_size 64\n',
    'new version': b'.version 99.0\n.target sm_90\n.address_size 64\n',
    'new target': b'.version 8.0\n.target sm_200\n.address_size 64\n',
    'later target': b'.version 8.8\n.target sm_100\n.address_size 64\n.entry k() { ret; }',
    'syntax': KERNELS[:-1] + b'.entry k() { frob; }',
    'type': KERNELS[:-1] + b'.entry k() { .reg .f32 %x; add.u32 %x, %x, %x; ret; }',
    'extern': KERNELS[:-1] + b'.extern .func foo(); .entry k() { call foo; ret; }',
    'extern variable': KERNELS[:-1]
    + b'.extern .global .u32 foo; .entry k() { .reg .u32 %x; ld.global.u32 %x, [foo]; ret; }',
    'nothing in it': b'.version 8.0\n.target sm_80\n.address_size 64\n',
    '32 bits': b'.version 8.0\n.target sm_80\n.address_size 32\n.entry k() { ret; }',
    'twice': KERNELS[:-1] + b'.entry plain() { ret; }',
    'newer instruction': b'.version 8.8\n.target sm_90\n.address_size 64\n'
                         b'.entry k() { tcgen05.fence::before_thread_sync; ret; }',
    'old target': b'.version 6.0\n.target sm_30\n.address_size 64\n.entry k() { ret; }',
    'variant': b'.version 8.8\n.target sm_100a\n.address_size 64\n.entry k() { ret; }',
    'much shared': b'.version 8.0\n.target sm_90\n.address_size 64\n'
                   b'.entry k() { .shared .b8 s[60000]; .reg .u32 %x; mov.u32 %x, s; st.shared.u32 [%x], %x; ret; }',
    'big constant': b'.version 8.0\n.target sm_90\n.address_size 64\n.const .b8 c[70000];\n'
                    b'.visible .entry k(.param .u64 p) { .reg .u32 %x; .reg .u64 %p; ld.param.u64 %p, [p]; '
                    b'ld.const.u32 %x, [c]; st.global.u32 [%p], %x; ret; }',
    'elf': b'\x7fELF' + bytes(60),
    'fatbin': b'\x50\xed\x55\xba\x01\x00\x10\x00' + bytes(60),
}


@each('ModuleLoadData', IMAGES)
def _(d, v): return [d('ModuleLoadData', C.byref(C.c_void_p()), v + b'\0')]


@case
def module_null(d):
    return [
        d('ModuleLoadData', C.byref(C.c_void_p()), None),
        d('ModuleLoadData', None, KERNELS),
        d('ModuleLoad', C.byref(C.c_void_p()), b'/no/such/file'),
        d('ModuleLoad', C.byref(C.c_void_p()), None),
        d('ModuleUnload', None),
    ]


@case
def module_options(d):
    m, out = C.c_void_p(), []
    for options, values in (
        ((), ()),
        ((7,), (4,)),
        ((7,), (9,)),
        ((0,), (32,)),
        ((0,), (0,)),
        ((99,), (1,)),
        ((1,), (64,)),
        ((9,), (90,)),
        ((9,), (1000,)),
        ((8,), (1,)),
        ((14,), (1,)),
        ((3, 4), (0, 100)),
    ):
        keys, args = (C.c_int * 8)(*options), (C.c_void_p * 8)(*values)
        out.append(d('ModuleLoadDataEx', C.byref(m), KERNELS, u(len(options)), keys, args))
    return out


@each('ModuleGetFunction', ('plain', 'nothing', 'space', ''))
def _(d, v):
    f = C.c_void_p()
    return [d('ModuleGetFunction', C.byref(f), d.module, v.encode())]


@case
def function_null(d):
    return [
        d('ModuleGetFunction', None, d.module, b'plain'),
        d('ModuleGetFunction', C.byref(C.c_void_p()), None, b'plain'),
        d('ModuleGetFunction', C.byref(C.c_void_p()), d.module, None),
    ]


@each('ModuleGetGlobal', ('space', 'hidden', 'table', 'nothing', 'plain', 'more', ''))
def _(d, v):
    p, n = C.c_uint64(), C.c_size_t(77)
    rc = d('ModuleGetGlobal', C.byref(p), C.byref(n), d.module, v.encode())
    return [rc] + ([] if rc else [n.value])


@case
def global_null(d):
    p, n = C.c_uint64(), C.c_size_t()
    return [
        d('ModuleGetGlobal', None, C.byref(n), d.module, b'space'),
        d('ModuleGetGlobal', C.byref(p), None, d.module, b'space'),
        d('ModuleGetGlobal', None, None, d.module, b'space'),
        d('ModuleGetGlobal', C.byref(p), C.byref(n), d.module, None),
        d('ModuleGetGlobal', C.byref(p), C.byref(n), None, b'space'),
    ]


@case
def function_count(d):
    n, many = C.c_uint(), (C.c_void_p * 16)()
    return [
        d('ModuleGetFunctionCount', C.byref(n), d.module),
        n.value,
        d('ModuleEnumerateFunctions', many, u(3), d.module),
        d('ModuleEnumerateFunctions', many, u(16), d.module),
        d('ModuleGetFunctionCount', None, d.module),
    ]


@each('FuncGetAttribute', range(-1, 18))
def _(d, v):
    x, out = C.c_int(), []
    for name in ('plain', 'shared', 'small', 'exact', 'pairs', 'anycluster'):
        rc = d('FuncGetAttribute', C.byref(x), C.c_int(v), d.f(name))
        out += [rc] if rc or v in (2, 3, 4, 5, 6) else [rc, x.value]
    return out


@each(
    'FuncSetAttribute',
    {
        '%s,%d,%d' % v: v
        for v in [('plain', k, 1) for k in range(18)]
        + [
            (n, 8, x)
            for n in ('plain', 'shared')
            for x in (
                -1,
                0,
                49152,
                98304,
                226 << 10,
                (227 << 10) - 1000,
                (227 << 10) - 999,
                (227 << 10) - 1008,
                227 << 10,
                (227 << 10) + 1,
                228 << 10,
            )
        ]
        + [('plain', 9, x) for x in (-2, -1, 0, 50, 100, 101)]
        + [(n, 11, x) for n in ('plain', 'pairs', 'anycluster') for x in (0, 1, 2, 8, 16, 17, -1)]
        + [('plain', 14, x) for x in (0, 2, -1)]
        + [('plain', 15, x) for x in (0, 1, 2, 3, -1)]
    },
)
def _(d, v):
    f, x = d.f(v[0]), C.c_int()
    rc = [d('FuncSetAttribute', f, C.c_int(v[1]), C.c_int(v[2])), d('FuncGetAttribute', C.byref(x), C.c_int(v[1]), f)]
    if v[1] not in (2, 3, 4, 5, 6, 7):
        rc.append(x.value)
    d('ModuleUnload', d.module)
    d.must('ModuleLoadData', C.byref(d.module), KERNELS)
    return rc


@each('FuncSetCacheConfig', (0, 1, 2, 3, 4, -1))
def _(d, v): return [d('FuncSetCacheConfig', d.f('plain'), C.c_int(v))]


@each('FuncGetParamInfo', (0, 1, 2, 100))
def _(d, v):
    a, b = C.c_size_t(), C.c_size_t()
    rc = d('FuncGetParamInfo', d.f('write'), z(v), C.byref(a), C.byref(b))
    return [rc] + ([] if rc else [a.value, b.value])


@case
def function_null_attributes(d):
    return [
        d('FuncGetAttribute', C.byref(C.c_int()), 0, None),
        d('FuncGetAttribute', None, 0, d.f('plain')),
        d('FuncSetAttribute', None, 8, 0),
        d('FuncGetName', C.byref(C.c_char_p()), None),
        d('FuncGetName', None, d.f('plain')),
        d('FuncGetModule', C.byref(C.c_void_p()), None),
        d('FuncGetModule', None, d.f('plain')),
        d('FuncSetCacheConfig', None, 0),
    ]


@each(
    'OccupancyMaxActiveBlocksPerMultiprocessor',
    {
        '%s,%d,%d' % v: v
        for v in (
            ('plain', 32, 0),
            ('plain', 1024, 0),
            ('plain', 1025, 0),
            ('plain', 0, 0),
            ('plain', -1, 0),
            ('plain', 128, 49152),
            ('plain', 128, 49153),
            ('plain', 128, 1 << 20),
            ('shared', 64, 0),
            ('small', 64, 0),
            ('small', 128, 0),
            ('exact', 64, 0),
            ('exact', 32, 0),
            ('pairs', 32, 0),
        )
    },
)
def _(d, v):
    n = C.c_int(-5)
    return [d('OccupancyMaxActiveBlocksPerMultiprocessor', C.byref(n), d.f(v[0]), C.c_int(v[1]), z(v[2])), n.value]


@each('LinkAddData', {'%d' % k: k for k in (0, 1, 2, 3, 4, 5, 6, 99)})
def _(d, v):
    s, out, n = C.c_void_p(), C.c_void_p(), C.c_size_t()
    r = [
        d('LinkCreate', u(0), None, None, C.byref(s)),
        d('LinkAddData', s, C.c_int(v), KERNELS, z(len(KERNELS)), b'name', u(0), None, None),
    ]
    return r + [d('LinkComplete', s, C.byref(out), C.byref(n)), d('LinkDestroy', s)]


@case
def link_badly(d):
    s, out, n = C.c_void_p(), C.c_void_p(), C.c_size_t()
    bad, part = (
        b'.version 8.0\n.target sm_90\n.address_size 64\n.entry k() { frob; }\0',
        b'.version 8.0\n.target sm_90\n.address_size 64\n'
        b'.extern .func foo();\n.visible .entry k() { call foo; ret; }\0',
    )
    r = [
        d('LinkCreate', u(0), None, None, None),
        d('LinkCreate', u(0), None, None, C.byref(s)),
        d('LinkComplete', s, C.byref(out), C.byref(n)),
        d('LinkDestroy', s),
    ]
    for data in ((bad,), (part,), (KERNELS, KERNELS)):
        d.must('LinkCreate', u(0), None, None, C.byref(s))
        r += [d('LinkAddData', s, 1, x, z(len(x)), None, u(0), None, None) for x in data] + [
            d('LinkComplete', s, C.byref(out), C.byref(n)),
            d('LinkDestroy', s),
        ]
    d.must('LinkCreate', u(0), None, None, C.byref(s))
    return r + [
        d('LinkAddFile', s, 1, b'/no/such/file', u(0), None, None),
        d('LinkAddData', s, 1, None, z(5), None, u(0), None, None),
        d('LinkDestroy', s),
        d('LinkDestroy', None),
    ]


# ---- memory

@each('MemAlloc', (0, 1, 512, 1 << 20, 1 << 50, (1 << 64) - 1))
def _(d, v):
    p = C.c_uint64(77)
    rc = d('MemAlloc', C.byref(p), z(v))
    return [rc] if rc else [rc, p.value % 256, d('MemFree', p)]


@case
def free_badly(d):
    p = C.c_uint64()
    d.must('MemAlloc', C.byref(p), z(4096))
    return [
        d('MemAlloc', None, z(16)),
        d('MemFree', q(0)),
        d('MemFree', q(p.value + 16)),
        d('MemFree', p),
        d('MemFree', p),
        d('MemFree', q(12345)),
        d('MemFree', q(C.addressof(d.host))),
    ]


@each('MemAllocManaged', {'%d,%d' % v: v for v in ((0, 1), (64, 0), (64, 1), (64, 2), (64, 3), (64, 4), (64, 8))})
def _(d, v):
    p = C.c_uint64()
    rc = d('MemAllocManaged', C.byref(p), z(v[0]), u(v[1]))
    return [rc] if rc else [rc, d('MemFree', p)]


@each(
    'MemAllocPitch',
    {
        '%d,%d,%d' % v: v
        for v in (
            (100, 10, 4),
            (100, 10, 8),
            (100, 10, 16),
            (100, 10, 1),
            (100, 10, 3),
            (100, 10, 0),
            (100, 10, 32),
            (0, 10, 4),
            (100, 0, 4),
            (513, 2, 4),
            (1 << 50, 10, 4),
        )
    },
)
def _(d, v):
    p, n = C.c_uint64(), C.c_size_t()
    rc = d('MemAllocPitch', C.byref(p), C.byref(n), z(v[0]), z(v[1]), u(v[2]))
    return [rc] if rc else [rc, n.value, d('MemFree', p)]


@each(
    'MemHostAlloc',
    {'%d,%d' % v: v for v in ((0, 0), (64, 0), (64, 1), (64, 2), (64, 4), (64, 7), (64, 8), (64, 16), (1 << 50, 0))},
)
def _(d, v):
    p = C.c_void_p()
    flags = C.c_uint()
    rc = d('MemHostAlloc', C.byref(p), z(v[0]), u(v[1]))
    return [rc] if rc else [rc, d('MemHostGetFlags', C.byref(flags), p), flags.value, d('MemFreeHost', p)]


@case
def host_badly(d):
    p, dp = C.c_void_p(), C.c_uint64()
    d.must('MemHostAlloc', C.byref(p), z(4096), u(2))
    inside = C.c_void_p(p.value + 64)
    return [
        d('MemHostAlloc', None, z(4), u(0)),
        d('MemAllocHost', C.byref(C.c_void_p()), z(0)),
        d('MemHostGetDevicePointer', C.byref(dp), p, u(0)),
        d('MemHostGetDevicePointer', C.byref(dp), inside, u(0)),
        d('MemHostGetDevicePointer', C.byref(dp), p, u(1)),
        d('MemHostGetDevicePointer', C.byref(dp), d.host, u(0)),
        d('MemHostGetDevicePointer', None, p, u(0)),
        d('MemHostGetFlags', C.byref(C.c_uint()), d.host),
        d('MemFreeHost', inside),
        d('MemFree', q(p.value)),
        d('MemFreeHost', p),
        d('MemFreeHost', p),
        d('MemFreeHost', None),
        d('MemFreeHost', d.host),
    ]


@each(
    'MemHostRegister',
    {
        '%d,%d,%d' % v: v
        for v in ((0, 4096, 0), (0, 0, 0), (0, 4096, 1), (0, 4096, 2), (0, 4096, 8), (0, 4096, 16), (100, 50, 0))
    },
)
def _(d, v):
    at = C.c_void_p((C.addressof(d.host) + 4095) // 4096 * 4096 + v[0])
    rc = d('MemHostRegister', at, z(v[1]), u(v[2]))
    return (
        [rc]
        if rc
        else [
            rc,
            d('MemHostRegister', at, z(v[1]), u(v[2])),
            d('MemHostUnregister', C.c_void_p(at.value + 8)),
            d('MemHostUnregister', at),
            d('MemHostUnregister', at),
        ]
    )


@case
def register_null(d):
    return [d('MemHostRegister', None, z(4096), u(0)), d('MemHostUnregister', None), d('MemHostUnregister', d.host)]


@case
def address_range(d):
    p, n = C.c_uint64(), C.c_size_t()
    return [
        d('MemGetAddressRange', C.byref(p), C.byref(n), q(d.p.value + 5)),
        n.value,
        p.value == d.p.value,
        d('MemGetAddressRange', None, None, d.p),
        d('MemGetAddressRange', C.byref(p), C.byref(n), q(16)),
        d('MemGetAddressRange', C.byref(p), C.byref(n), q(C.addressof(d.host))),
    ]


@each('PointerGetAttribute', range(0, 22))
def _(d, v):
    b, out = (C.c_uint64 * 4)(), []
    for p in (d.p.value, d.p.value + 100, C.addressof(d.host), 0):
        rc = d('PointerGetAttribute', b, C.c_int(v), q(p))
        out += [rc]
        if not rc and v in (2, 8, 9, 13, 16, 12):
            out.append(b[0] & 0xffffffff)
    return out


@case
def pointer_null(d): return [d('PointerGetAttribute', None, 2, d.p)]


@case
def copy_nothing(d):
    return [
        d('MemcpyHtoD', q(0), None, z(0)),
        d('MemcpyDtoH', None, q(0), z(0)),
        d('MemcpyDtoD', q(0), q(0), z(0)),
        d('Memcpy', q(0), q(0), z(0)),
        d('MemsetD8', q(0), 0, z(0)),
        d('MemsetD32', q(0), 0, z(0)),
        d('MemcpyHtoD', q(123), d.host, z(0)),
    ]


@case
def copy_badly(d):
    h, far = C.addressof(d.host), d.p.value + (1 << 16)
    return [
        d('MemcpyHtoD', q(0), d.host, z(4)),
        d('MemcpyHtoD', d.p, None, z(4)),
        d('MemcpyHtoD', q(77), d.host, z(4)),
        d('MemcpyDtoH', None, d.p, z(4)),
        d('MemcpyDtoH', d.host, q(0), z(4)),
        d('MemcpyDtoD', q(0), d.p, z(4)),
        d('MemcpyDtoD', d.p, q(0), z(4)),
        d('MemcpyDtoD', d.p, q(77), z(4)),
        d('Memcpy', q(h), d.p, z(4)),
        d('Memcpy', d.p, q(h), z(4)),
        d('Memcpy', q(h), q(h + 100), z(4)),
        d('Memcpy', q(0), d.p, z(4)),
        d('MemcpyDtoD', q(d.p.value + 8), d.p, z(64)),
        d('MemcpyHtoD', q(h), d.host, z(4)),
        d('MemcpyDtoD', q(h), d.p, z(4)),
    ]


@case
def copy_beyond(d):
    p = C.c_uint64()
    d.must('MemAlloc', C.byref(p), z(4 << 20))
    big = C.create_string_buffer(80 << 20)
    return [
        d('MemcpyHtoD', p, big, z(70 << 20)),
        d('MemcpyDtoH', big, p, z(70 << 20)),
        d('MemsetD8', p, 0, z(70 << 20)),
        d('MemFree', p),
        d('MemcpyHtoD', p, big, z(4)),
        d('MemsetD8', p, 0, z(4)),
    ]


@case
def copy_async(d):
    return [
        d('MemcpyHtoDAsync', d.p, d.host, z(64), d.stream),
        d('MemcpyHtoDAsync', q(0), d.host, z(64), d.stream),
        d('MemcpyDtoHAsync', d.host, q(77), z(4), d.stream),
        d('MemcpyHtoDAsync', d.p, d.host, z(4), C.c_void_p(1)),
        d('MemcpyHtoDAsync', d.p, d.host, z(4), C.c_void_p(2)),
        d('StreamSynchronize', d.stream),
    ]


@each(
    'Memset',
    {
        n: n
        for n in (
            'D16 odd',
            'D32 odd',
            'D32 at 2',
            'null',
            'host',
            '2D',
            '2D pitch',
            '2D nothing',
            '2D16 odd pitch',
            '2D32 odd',
            '2D16 odd',
        )
    },
)
def _(d, v):
    p = d.p.value
    return [
        {
            'D16 odd': lambda: d('MemsetD16', q(p + 1), C.c_ushort(1), z(2)),
            'D32 odd': lambda: d('MemsetD32', q(p + 1), 1, z(2)),
            'D32 at 2': lambda: d('MemsetD32', q(p + 2), 1, z(2)),
            'null': lambda: d('MemsetD8', q(0), 1, z(2)),
            'host': lambda: d('MemsetD8', q(C.addressof(d.host)), 1, z(2)),
            '2D': lambda: d('MemsetD2D8', d.p, z(64), 1, z(10), z(4)),
            '2D pitch': lambda: d('MemsetD2D8', d.p, z(8), 1, z(10), z(4)),
            '2D nothing': lambda: d('MemsetD2D8', d.p, z(8), 1, z(10), z(0)),
            '2D16 odd pitch': lambda: d('MemsetD2D16', d.p, z(31), C.c_ushort(1), z(4), z(4)),
            '2D32 odd': lambda: d('MemsetD2D32', q(p + 2), z(32), 1, z(4), z(4)),
            '2D16 odd': lambda: d('MemsetD2D16', q(p + 1), z(32), C.c_ushort(1), z(4), z(4)),
        }[v]()
    ]


def rectangle(d, **more):
    c = Copy2D(
        s_type=HOST, s_host=C.addressof(d.host), s_pitch=64, d_type=DEVICE, d_dev=d.p.value, d_pitch=128, w=64, h=8
    )
    for k, v in more.items():
        setattr(c, k, v)
    return c


RECTANGLES = {
    'plain': {},
    'no pitch': dict(s_pitch=0),
    'no pitches': dict(s_pitch=0, d_pitch=0),
    'small source': dict(s_pitch=63),
    'small target': dict(d_pitch=63),
    'nothing wide': dict(w=0),
    'nothing high': dict(h=0),
    'null host': dict(s_host=None),
    'null device': dict(d_dev=0),
    'no type': dict(s_type=0),
    'type 5': dict(s_type=5),
    'target type 0': dict(d_type=0),
    'at x': dict(s_x=4, s_pitch=68),
    'at x too far': dict(s_x=4),
    'one row': dict(h=1, s_pitch=10, d_pitch=10),
    'unified': dict(s_type=UNIFIED, s_dev='host'),
    'device as host': dict(s_host='device'),
    'host as device': dict(d_dev='host'),
    'to array': dict(d_type=ARRAY, d_array='array'),
    'to array odd': dict(d_type=ARRAY, d_array='array', w=62),
    'to array odd x': dict(d_type=ARRAY, d_array='array', d_x=2),
    'to array too wide': dict(d_type=ARRAY, d_array='array', d_x=200),
    'to array too high': dict(d_type=ARRAY, d_array='array', h=33),
    'to array y': dict(d_type=ARRAY, d_array='array', d_y=30),
    'to no array': dict(d_type=ARRAY),
    'wide pitch': dict(s_pitch=1 << 40, h=1),
    'pitch over': dict(d_pitch=(1 << 31) - 1),
    'pitch 2^31': dict(d_pitch=1 << 31, h=1),
}


@each('Memcpy2D', RECTANGLES)
def _(d, v):
    what = {'host': C.addressof(d.host), 'device': d.p.value, 'array': d.array.value}
    c = rectangle(d, **{k: what[x] if isinstance(x, str) else x for k, x in v.items()})
    return [d(n, C.byref(c)) for n in ('Memcpy2D', 'Memcpy2DUnaligned')]


@case
def copy_2d_null(d): return [d('Memcpy2D', None)]


BOXES = {
    'plain': {},
    'no height': dict(s_height=0),
    'small height': dict(s_height=3),
    'one slice': dict(d=1, s_height=0),
    'nothing': dict(d=0),
    'lod': dict(s_lod=1),
    'reserved': dict(s_reserved=8),
    'to array': dict(d_type=ARRAY, d_array='array', d=1),
    'to array deep': dict(d_type=ARRAY, d_array='array'),
    'to array z': dict(d_type=ARRAY, d_array='array', d=1, d_z=1),
    'to array too wide': dict(d_type=ARRAY, d_array='array', d=1, d_x=224),
    'wide': dict(w=65),
}


@each('Memcpy3D', BOXES)
def _(d, v):
    c = Copy3D(
        s_type=HOST,
        s_host=C.addressof(d.host),
        s_pitch=64,
        s_height=4,
        d_type=DEVICE,
        d_dev=d.p.value,
        d_pitch=64,
        d_height=4,
        w=64,
        h=4,
        d=3,
    )
    for k, x in v.items():
        setattr(c, k, d.array.value if x == 'array' else x)
    return [d('Memcpy3D', C.byref(c))]


@case
def copy_to_arrays(d):
    line = d.new_array(64, 0, 0, 3, 1, 0)
    return [
        d('MemcpyHtoA', line, z(0), d.host, z(256)),
        d('MemcpyHtoA', line, z(0), d.host, z(257)),
        d('MemcpyHtoA', line, z(4), d.host, z(256)),
        d('MemcpyHtoA', line, z(2), d.host, z(4)),
        d('MemcpyHtoA', line, z(0), d.host, z(2)),
        d('MemcpyHtoA', None, z(0), d.host, z(4)),
        d('MemcpyHtoA', line, z(0), None, z(4)),
        d('MemcpyAtoH', d.host, line, z(0), z(256)),
        d('MemcpyAtoH', d.host, d.array, z(0), z(256)),
        d('MemcpyHtoA', d.array, z(0), d.host, z(512)),
        d('MemcpyAtoA', line, z(0), d.array, z(0), z(64)),
        d('MemcpyDtoA', line, z(0), d.p, z(64)),
        d('MemcpyAtoD', d.p, line, z(0), z(64)),
        d('MemcpyAtoD', q(0), line, z(0), z(64)),
        d('MemcpyHtoA', line, z(0), d.host, z(0)),
        d('ArrayDestroy', line),
    ]


# ---- arrays, textures


@each(
    'ArrayCreate',
    {
        '%d,%d,%d,%d' % v: v
        for v in (
            (0, 0, 3, 1),
            (64, 0, 3, 1),
            (64, 64, 3, 1),
            (0, 64, 3, 1),
            (64, 0, 3, 3),
            (64, 0, 3, 0),
            (64, 0, 3, 2),
            (64, 0, 0, 1),
            (64, 0, 7, 1),
            (64, 0, 0x20, 4),
            (131072, 0, 3, 1),
            (131073, 0, 3, 1),
            (131072, 65537, 1, 1),
            (131073, 2, 1, 1),
            (64, 0, 0x30, 1),
            (64, 0, 0x10, 1),
        )
    },
)
def _(d, v):
    h = C.c_void_p()
    rc = d('ArrayCreate', C.byref(h), C.byref(ArrayDesc(*v)))
    return [rc] if rc else [rc, d('ArrayDestroy', h)]


SHAPES = (
    (64, 64, 64, 1, 1, 0),
    (64, 64, 64, 1, 1, 1),
    (64, 0, 8, 1, 1, 1),
    (64, 0, 8, 1, 1, 0),
    (64, 64, 6, 1, 1, 4),
    (64, 64, 5, 1, 1, 4),
    (64, 32, 6, 1, 1, 4),
    (64, 64, 12, 1, 1, 5),
    (64, 64, 6, 1, 1, 5),
    (64, 64, 8, 1, 1, 5),
    (64, 64, 0, 1, 1, 1),
    (64, 0, 0, 1, 1, 1),
    (64, 64, 0, 3, 1, 8),
    (64, 0, 0, 3, 1, 8),
    (64, 64, 4, 3, 1, 8),
    (32769, 2, 0, 1, 1, 8),
    (64, 64, 0, 0x20, 1, 16),
    (64, 64, 0, 1, 1, 16),
    (64, 64, 0, 3, 1, 32),
    (16385, 1, 1, 1, 1, 0),
    (32768, 0, 2048, 1, 1, 1),
    (32769, 0, 2, 1, 1, 1),
    (4, 0, 2049, 1, 1, 1),
    (32768, 2, 2, 1, 1, 1),
    (32769, 2, 2, 1, 1, 1),
    (4, 4, 2049, 1, 1, 1),
    (46, 46, 6, 1, 1, 6),
    (32768, 1, 0, 1, 1, 2),
    (32769, 1, 0, 1, 1, 2),
    (131072, 65537, 0, 1, 1, 2),
    (64, 64, 0, 3, 1, 2),
    (64, 64, 6, 3, 1, 14),
    (2, 2, 12276, 1, 1, 5),
    (2, 2, 12288, 1, 1, 5),
)


@each('Array3DCreate', {','.join(map(str, v)): v for v in SHAPES})
def _(d, v):
    h = C.c_void_p()
    rc = d('Array3DCreate', C.byref(h), C.byref(Array3D(*v)))
    return [rc] if rc else [rc, d('ArrayDestroy', h)]


@case
def arrays_null(d):
    return [
        d('ArrayCreate', None, C.byref(ArrayDesc(64, 0, 3, 1))),
        d('ArrayCreate', C.byref(C.c_void_p()), None),
        d('ArrayDestroy', None),
        d('ArrayGetDescriptor', C.byref(ArrayDesc()), None),
        d('ArrayGetDescriptor', None, d.array),
        d('Array3DGetDescriptor', None, d.array),
    ]


@case
def array_descriptor(d):
    a, b = ArrayDesc(), Array3D()
    return [
        d('ArrayGetDescriptor', C.byref(a), d.array),
        a.w,
        a.h,
        a.format,
        a.channels,
        d('Array3DGetDescriptor', C.byref(b), d.array),
        b.w,
        b.h,
        b.d,
        b.format,
        b.channels,
        b.flags,
    ]


@each(
    'MipmappedArrayCreate',
    {
        '%d,%d,%d,%d; %d' % v: v
        for v in (
            (64, 64, 0, 0, 1),
            (64, 64, 0, 0, 7),
            (64, 64, 0, 0, 8),
            (64, 64, 0, 0, 0),
            (64, 0, 0, 0, 7),
            (64, 4, 0, 0, 7),
            (64, 64, 6, 4, 7),
            (64, 64, 4, 1, 3),
            (64, 64, 64, 0, 20),
            (64, 64, 0, 8, 2),
            (32768, 1, 0, 0, 2),
            (32769, 1, 0, 0, 2),
            (0, 0, 0, 0, 1),
        )
    },
)
def _(d, v):
    h, l = C.c_void_p(), C.c_void_p()
    rc = d('MipmappedArrayCreate', C.byref(h), C.byref(Array3D(*v[:3], 3, 1, v[3])), u(v[4]))
    b, out = Array3D(), [rc]
    for k in (0, 1, v[4] - 1, v[4]) if not rc else ():
        r = d('MipmappedArrayGetLevel', C.byref(l), h, u(k))
        out += [r] if r else [r, d('Array3DGetDescriptor', C.byref(b), l), b.w, b.h, b.d]
    return out if rc else out + [d('ArrayDestroy', l) if l else -1, d('MipmappedArrayDestroy', h)]


def resource(d, kind, *words, flags=0):
    r = Resource(type=kind, flags=flags)
    for k, w in enumerate(words):
        r.words[k] = w or 0
    return r


def texel(format, channels=1):
    return format | channels << 32


RESOURCES = {
    'array': lambda d: resource(d, 0, d.array.value),
    'no array': lambda d: resource(d, 0),
    'type 4': lambda d: resource(d, 4, d.array.value),
    'type -1': lambda d: resource(d, -1, d.array.value),
    'flags': lambda d: resource(d, 0, d.array.value, flags=1),
    'linear': lambda d: resource(d, 2, d.p.value, texel(3), 1024),
    'linear odd': lambda d: resource(d, 2, d.p.value + 16, texel(3), 1024),
    'linear null': lambda d: resource(d, 2, 0, texel(3), 1024),
    'linear nothing': lambda d: resource(d, 2, d.p.value, texel(3), 0),
    'linear 3 channels': lambda d: resource(d, 2, d.p.value, texel(3, 3), 1024),
    'linear no format': lambda d: resource(d, 2, d.p.value, texel(0), 1024),
    'linear long': lambda d: resource(d, 2, d.p.value, texel(3), 1 << 30),
    'linear odd size': lambda d: resource(d, 2, d.p.value, texel(3), 1023),
    'linear too long': lambda d: resource(d, 2, d.p.value, texel(1), (1 << 28) + 1),
    'pitch': lambda d: resource(d, 3, d.p.value, texel(3), 32, 32, 128),
    'pitch odd': lambda d: resource(d, 3, d.p.value + 16, texel(3), 32, 32, 128),
    'pitch small': lambda d: resource(d, 3, d.p.value, texel(3), 33, 32, 128),
    'pitch 100': lambda d: resource(d, 3, d.p.value, texel(3), 20, 32, 100),
    'pitch 96': lambda d: resource(d, 3, d.p.value, texel(3), 20, 32, 96),
    'pitch nothing': lambda d: resource(d, 3, d.p.value, texel(3), 0, 32, 128),
    'pitch no rows': lambda d: resource(d, 3, d.p.value, texel(3), 32, 0, 128),
    'pitch null': lambda d: resource(d, 3, 0, texel(3), 32, 32, 128),
    'mip': lambda d: resource(d, 1),
}


@each('TexObjectCreate', RESOURCES)
def _(d, v):
    t = C.c_uint64()
    rc = d('TexObjectCreate', C.byref(t), C.byref(v(d)), C.byref(Texture()), None)
    return [rc] if rc else [rc, d('TexObjectDestroy', t)]


@each('SurfObjectCreate', RESOURCES)
def _(d, v):
    t = C.c_uint64()
    rc = d('SurfObjectCreate', C.byref(t), C.byref(v(d)))
    return [rc] if rc else [rc, d('SurfObjectDestroy', t)]


TEXTURES = {
    'address 4': dict(address=(4, 0, 0)),
    'address -1': dict(address=(-1, 0, 0)),
    'third address 4': dict(address=(0, 0, 4)),
    'wrap': dict(),
    'border': dict(address=(3, 3, 3)),
    'filter 2': dict(filter=2),
    'linear of integers': dict(filter=1),
    'linear as integers': dict(filter=1, flags=1),
    'flags 4': dict(flags=4),
    'flags 8': dict(flags=8),
    'srgb': dict(flags=0x10),
    'flags 0x80': dict(flags=0x80),
    'aniso 16': dict(aniso=16),
    'aniso 17': dict(aniso=17),
    'mip filter 2': dict(mip=2),
    'mip filter': dict(mip=1),
    'bias': dict(bias=100.0),
    'clamp': dict(low=5.0, high=1.0),
    'negative clamp': dict(low=-1.0),
    'reserved': dict(reserved=(1,) + (0,) * 11),
    'seamless': dict(flags=0x40),
    'normalized': dict(flags=2),
    'all flags': dict(flags=0x73),
}


@each('TexObjectCreate texture', TEXTURES)
def _(d, v):
    out = []
    for r in (
        resource(d, 0, d.array.value),
        resource(d, 2, d.p.value, texel(0x20), 1024),
        resource(d, 3, d.p.value, texel(8), 128, 32, 128),
    ):
        t, x = C.c_uint64(), Texture()
        for k, y in v.items():
            setattr(x, k, type(getattr(x, k))(*y) if isinstance(y, tuple) else y)
        rc = d('TexObjectCreate', C.byref(t), C.byref(r), C.byref(x), None)
        out += [rc] if rc else [rc, d('TexObjectDestroy', t)]
    return out


VIEWS = {
    'same': (0xD, 64, 32, 0),
    'none': (0, 64, 32, 0),
    'signed': (0x10, 64, 32, 0),
    'float': (0x16, 64, 32, 0),
    'two of 16': (8, 64, 32, 0),
    'narrower': (0xD, 32, 32, 0),
    'wider texels': (0xE, 64, 32, 0),
    'format 0x23': (0x23, 64, 32, 0),
    'bc1': (0x19, 256, 128, 0),
    'nothing': (0xD, 0, 0, 0),
    'deep': (0xD, 64, 32, 1),
    'levels': (0xD, 64, 32, 0, 0, 1),
    'layers': (0xD, 64, 32, 0, 0, 0, 0, 1),
}


@each('TexObjectCreate view', VIEWS)
def _(d, v):
    t, w = C.c_uint64(), View(*v)
    rc = d('TexObjectCreate', C.byref(t), C.byref(resource(d, 0, d.array.value)), C.byref(Texture()), C.byref(w))
    lin = d(
        'TexObjectCreate',
        C.byref(t),
        C.byref(resource(d, 2, d.p.value, texel(3), 1024)),
        C.byref(Texture()),
        C.byref(w),
    )
    return [rc, lin]


@case
def textures_null(d):
    t, r, x = C.c_uint64(), resource(d, 0, d.array.value), Texture()
    return [
        d('TexObjectCreate', None, C.byref(r), C.byref(x), None),
        d('TexObjectCreate', C.byref(t), None, C.byref(x), None),
        d('TexObjectCreate', C.byref(t), C.byref(r), None, None),
        d('SurfObjectCreate', None, C.byref(r)),
        d('SurfObjectCreate', C.byref(t), None),
    ]


@case
def textures_destroyed(d): return [d('TexObjectDestroy', q(0)), d('SurfObjectDestroy', q(0))]


@case
def surface_of_plain_array(d):
    return [
        d('SurfObjectCreate', C.byref(C.c_uint64()), C.byref(resource(d, 0, d.new_array(64, 32, 0, 3, 1, 0).value)))
    ]


# ---- streams and events

@each('StreamCreate', (0, 1, 2, 3, 1 << 31))
def _(d, v):
    s, f = C.c_void_p(), C.c_uint()
    rc = d('StreamCreate', C.byref(s), u(v))
    return [rc] if rc else [rc, d('StreamGetFlags', s, C.byref(f)), f.value, d('StreamQuery', s), d('StreamDestroy', s)]


@each(
    'StreamCreateWithPriority',
    {'%d,%d' % v: v for v in ((0, 0), (1, -1), (1, -5), (1, -6), (1, 1), (1, 100), (2, 0))},
)
def _(d, v):
    s, p = C.c_void_p(), C.c_int()
    rc = d('StreamCreateWithPriority', C.byref(s), u(v[0]), C.c_int(v[1]))
    return [rc] if rc else [rc, d('StreamGetPriority', s, C.byref(p)), p.value, d('StreamDestroy', s)]


@case
def priorities(d):
    a, b = C.c_int(), C.c_int()
    return [
        d('CtxGetStreamPriorityRange', C.byref(a), C.byref(b)),
        a.value,
        b.value,
        d('CtxGetStreamPriorityRange', None, None),
    ]


@case
def default_streams(d):
    f, p, c = C.c_uint(), C.c_int(), C.c_void_p()
    out = []
    for s in (0, 1, 2):
        s = C.c_void_p(s)
        out += [
            d('StreamQuery', s),
            d('StreamSynchronize', s),
            d('StreamGetFlags', s, C.byref(f)),
            f.value,
            d('StreamGetPriority', s, C.byref(p)),
            p.value,
            d('StreamGetCtx', s, C.byref(c)),
            c.value == d.ctx.value,
        ]
    return out


@case
def streams_null(d):
    return [
        d('StreamCreate', None, u(0)),
        d('StreamGetFlags', d.stream, None),
        d('StreamGetPriority', d.stream, None),
        d('StreamDestroy', None),
        d('StreamDestroy', C.c_void_p(1)),
        d('StreamDestroy', C.c_void_p(2)),
    ]


@each('EventCreate', (0, 1, 2, 3, 4, 6, 8, 64))
def _(d, v):
    e = C.c_void_p()
    rc = d('EventCreate', C.byref(e), u(v))
    return (
        [rc]
        if rc
        else [
            rc,
            d('EventQuery', e),
            d('EventSynchronize', e),
            d('StreamWaitEvent', d.stream, e, u(0)),
            d('EventRecord', e, d.stream),
            d('EventSynchronize', e),
            d('EventQuery', e),
            d('EventElapsedTime', C.byref(C.c_float()), e, e),
            d('EventDestroy', e),
        ]
    )


@case
def events_badly(d):
    e, f = C.c_void_p(), C.c_float()
    d.must('EventCreate', C.byref(e), u(0))
    return [
        d('EventCreate', None, u(0)),
        d('EventRecord', None, d.stream),
        d('EventQuery', None),
        d('EventSynchronize', None),
        d('EventDestroy', None),
        d('EventElapsedTime', C.byref(f), e, e),
        d('EventElapsedTime', None, e, e),
        d('EventElapsedTime', C.byref(f), None, e),
        d('StreamWaitEvent', d.stream, None, u(0)),
        d('StreamWaitEvent', d.stream, e, u(1)),
        d('StreamWaitEvent', d.stream, e, u(2)),
        d('EventRecord', e, C.c_void_p(1)),
        d('EventRecord', e, C.c_void_p(2)),
        d('EventDestroy', e),
    ]


# ---- launches


@each(
    'LaunchKernel',
    {
        '%s,%s,%s,%d' % v: v
        for v in [
            ('plain', g, (32, 1, 1), 0)
            for g in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 65535, 1), (1, 65536, 1), (1, 1, 65536), (1 << 31, 1, 1))
        ]
        + [
            ('plain', (1, 1, 1), b, 0)
            for b in (
                (0, 1, 1),
                (1, 0, 1),
                (1, 1, 0),
                (1024, 1, 1),
                (1025, 1, 1),
                (1, 1024, 1),
                (1, 1, 64),
                (1, 1, 65),
                (32, 33, 1),
                (33, 33, 1),
            )
        ]
        + [
            (n, (1, 1, 1), (32, 1, 1), s)
            for n in ('plain', 'shared')
            for s in (4, 48128, 48152, 48153, 49152, 49153, 232448, 232449, 1 << 20)
        ]
        + [('small', (1, 1, 1), b, 0) for b in ((64, 1, 1), (65, 1, 1), (32, 2, 1), (8, 8, 1), (1, 1, 2))]
        + [('exact', (1, 1, 1), b, 0) for b in ((32, 2, 1), (64, 1, 1), (32, 1, 1), (2, 32, 1))]
        + [('pairs', g, (32, 1, 1), 0) for g in ((2, 1, 1), (1, 1, 1), (3, 1, 1), (4, 3, 2))]
        + [
            ('anycluster', (2, 1, 1), (32, 1, 1), 0),
            ('most', (4, 1, 1), (32, 1, 1), 0),
            ('both', (2, 2, 1), (32, 1, 1), 0),
            ('both', (2, 1, 1), (32, 1, 1), 0),
        ]
    },
)
def _(d, v):
    return d.launch(*v)


@case
def launch_null(d):
    return (
        [d('LaunchKernel', None, *[u(1)] * 6, u(0), NULL, None, None)]
        + d.launch('plain', stream=d.stream)
        + d.launch('plain', stream=C.c_void_p(1))
        + d.launch('plain', stream=C.c_void_p(2))
    )


@case
def launch_parameters(d):
    held = C.c_uint64(d.p.value), C.c_uint(7)
    params = (C.c_void_p * 2)(*[C.addressof(h) for h in held])
    buffer = (C.c_uint64 * 2)(d.p.value, 5)

    def extra(size, *keys):
        n = C.c_size_t(size)
        return (C.c_void_p * 8)(*(keys or (1, C.addressof(buffer), 2, C.addressof(n), 0))), n
    good, n = extra(12)
    out = (
        d.launch('write', params=params)
        + d.launch('write', extra=good)
        + d.launch('write', params=params, extra=good)
        + d.launch('write')
    )
    for size in (16, 8, 13, 0):
        e, n = extra(size)
        out += d.launch('write', extra=e)
    for keys in ((0,), (3, 4, 0), (1, C.addressof(buffer), 0), (2, C.addressof(n), 0)):
        e, n = extra(12, *keys)
        out += d.launch('write', extra=e)
    return out


@case
def launch_cooperative(d):
    return [
        d('LaunchCooperativeKernel', d.f(name), *map(u, (grid, 1, 1, block, 1, 1, shared)), NULL, None)
        for name, grid, block, shared in (
            ('plain', 132, 1024, 0),
            ('plain', 264, 1024, 0),
            ('plain', 265, 1024, 0),
            ('plain', 132 * 32, 32, 0),
            ('plain', 132 * 32 + 1, 32, 0),
            ('shared', 132, 64, 40000),
            ('plain', 0, 32, 0),
            ('plain', 1, 1025, 0),
            ('pairs', 2, 32, 0),
            ('pairs', 264, 1024, 0),
            ('pairs', 266, 1024, 0),
        )
    ]


CLUSTER, POLICY, SERIAL, PROGRAM, PRIORITY, DOMAINS, DOMAIN, PREFERRED, COMPLETION, UPDATABLE, CARVEOUT = range(4, 15)


def dims(x, y=1, z=1):
    return x | y << 32, z


CLUSTERS = [
    ('plain', c, g)
    for c, g in (
        ((1, 1, 1), (4, 1, 1)),
        ((2, 1, 1), (4, 1, 1)),
        ((2, 1, 1), (3, 1, 1)),
        ((4, 1, 1), (2, 1, 1)),
        ((8, 1, 1), (8, 1, 1)),
        ((9, 1, 1), (9, 1, 1)),
        ((16, 1, 1), (16, 1, 1)),
        ((17, 1, 1), (17, 1, 1)),
        ((3, 1, 1), (6, 1, 1)),
        ((7, 1, 1), (7, 1, 1)),
        ((0, 1, 1), (4, 1, 1)),
        ((0, 0, 0), (4, 1, 1)),
        ((2, 2, 1), (4, 4, 1)),
        ((2, 2, 2), (2, 2, 2)),
        ((2, 2, 2), (2, 2, 3)),
        ((4, 4, 1), (4, 4, 1)),
        ((1, 2, 1), (4, 1, 1)),
        ((1 << 31, 1, 1), (4, 1, 1)),
        ((65536, 65536, 1), (4, 1, 1)),
    )
]
CLUSTERS += [
    (n, c, g)
    for n in ('pairs', 'anycluster', 'most')
    for c, g in (
        ((2, 1, 1), (4, 1, 1)),
        ((1, 1, 1), (4, 1, 1)),
        ((4, 1, 1), (8, 1, 1)),
        ((8, 1, 1), (8, 1, 1)),
        ((1, 2, 1), (4, 4, 1)),
    )
]


@each('LaunchKernelEx cluster', {'%s,%s,%s' % v: v for v in CLUSTERS})
def _(d, v): return d.launch_ex(v[0], (CLUSTER, *dims(*v[1])), grid=v[2])


@case
def launch_nonportable_clusters(d):
    out = []
    for n in (9, 15, 16, 17, 32):
        f = d.f('plain')
        d.must('FuncSetAttribute', f, 14, 1)
        out += d.launch_ex('plain', (CLUSTER, *dims(n)), grid=(n, 1, 1))
    d.must('FuncSetAttribute', f, 14, 0)
    return out


@case
def launch_required_clusters(d):
    f, out = d.f('anycluster'), []
    for w, h in ((2, 1), (2, 0), (0, 0), (8, 2), (16, 1)):
        out += (
            [d('FuncSetAttribute', f, 11, w), d('FuncSetAttribute', f, 12, h), d('FuncSetAttribute', f, 13, 1)]
            + d.launch('anycluster', (4, 4, 1))
            + d.launch_ex('anycluster', (CLUSTER, *dims(2)), grid=(4, 4, 1))
            + d.launch('anycluster', (3, 1, 1))
        )
    d.must('ModuleUnload', d.module)
    d.must('ModuleLoadData', C.byref(d.module), KERNELS)
    return out


@each('occupancy of clusters', {'%s,%s,%s' % v: v for v in CLUSTERS})
def _(d, v): return d.clusters(v[0], (CLUSTER, *dims(*v[1])), grid=v[2])


@each(
    'occupancy of clusters in blocks',
    {
        '%d,%d' % v: v
        for v in (
            (32, 0),
            (128, 0),
            (384, 0),
            (512, 0),
            (1024, 0),
            (1025, 0),
            (96, 0),
            (128, 30000),
            (128, 75000),
            (128, 120000),
            (128, 232448),
            (128, 232449),
        )
    },
)
def _(d, v):
    f, out = d.f('plain'), []
    d.must('FuncSetAttribute', f, 8, 232448)
    for portable in (0, 1):
        d.must('FuncSetAttribute', f, 14, 1 - portable)
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17):
            out += d.clusters('plain', (CLUSTER, *dims(n)), grid=(n * 6, 1, 1), block=(v[0], 1, 1), shared=v[1])
        out += d.clusters('plain', block=(v[0], 1, 1), shared=v[1])
    d.must('FuncSetAttribute', f, 14, 0)
    d.must('FuncSetAttribute', f, 8, 0)
    return out


@case
def occupancy_of_other_clusters(d):
    out = []
    for name in ('pairs', 'anycluster', 'most', 'both', 'small', 'exact', 'shared'):
        for block in ((32, 1, 1), (32, 2, 1), (256, 1, 1)):
            out += (
                d.clusters(name, grid=(4, 4, 1), block=block)
                + d.clusters(name, (CLUSTER, *dims(2, 2)), grid=(4, 4, 1), block=block)
                + d.clusters(name, (2, 1), grid=(4, 4, 1), block=block)
                + d.clusters(name, (CLUSTER, *dims(2)), (PREFERRED, *dims(4)), grid=(8, 1, 1), block=block)
            )
    f = d.f('anycluster')
    d.must('FuncSetAttribute', f, 11, 4), d.must('FuncSetAttribute', f, 12, 1), d.must('FuncSetAttribute', f, 13, 1)
    out += d.clusters('anycluster', grid=(4, 4, 1)) + d.clusters('anycluster', (CLUSTER, *dims(2)), grid=(4, 4, 1))
    d.must('ModuleUnload', d.module)
    d.must('ModuleLoadData', C.byref(d.module), KERNELS)
    return out


@case
def occupancy_of_clusters_badly(d):
    c, n = d.config((CLUSTER, *dims(2))), C.c_int()
    out = (
        d.clusters('plain', null=True, count=1)
        + d.clusters('plain', null=True)
        + d.clusters('plain', grid=(0, 1, 1))
        + d.clusters('plain', block=(0, 1, 1))
        + d.clusters('plain', grid=(4, 65536, 1))
        + d.clusters('plain', block=(1, 1, 65))
    )
    for name in ('OccupancyMaxActiveClusters', 'OccupancyMaxPotentialClusterSize'):
        out += [
            d(name, None, d.f('plain'), C.byref(c)),
            d(name, C.byref(n), None, C.byref(c)),
            d(name, C.byref(n), d.f('plain'), None),
        ]
    return out


@each(
    'OccupancyAvailableDynamicSMemPerBlock',
    {
        '%s,%d,%d,%d' % v: v
        for v in [
            ('plain', b, n, s)
            for s in (0, 232448, 100000)
            for b in (0, 1, 2, 3, 5, 7, 16, 32, 33, -1)
            for n in (32, 128)
        ]
        + [('plain', 1, n, 0) for n in (0, -1, 100, 1024, 1025)]
        + [(f, b, 64, 100000) for f in ('shared', 'small', 'exact', 'pairs') for b in (1, 2, 3, 8)]
    },
)
def _(d, v):
    f, size = d.f(v[0]), C.c_size_t(5)
    d.must('FuncSetAttribute', f, 8, v[3])
    out = [
        d('OccupancyAvailableDynamicSMemPerBlock', C.byref(size), f, v[1], v[2]),
        size.value,
        d('OccupancyAvailableDynamicSMemPerBlock', None, f, v[1], v[2]),
    ]
    d.must('FuncSetAttribute', f, 8, 0)
    return out


ATTRIBUTES = {
    'none': [],
    'ignore': [(0, 0)],
    'window': [(1, 0, 0, 0, 0)],
    'cooperative': [(2, 1)],
    'cooperative 0': [(2, 0)],
    'cooperative 2': [(2, 2)],
    'cooperative cluster': [(2, 1), (CLUSTER, *dims(2))],
    'sync policy 1': [(3, 1)],
    'sync policy 9': [(3, 9)],
    'policy 1': [(POLICY, 1)],
    'policy 9': [(POLICY, 9)],
    'policy and cluster': [(CLUSTER, *dims(2)), (POLICY, 2)],
    'serial': [(SERIAL, 1)],
    'serial 2': [(SERIAL, 2)],
    'priority 0': [(PRIORITY, 0)],
    'priority -1': [(PRIORITY, 0xFFFFFFFF)],
    'priority -100': [(PRIORITY, 0xFFFFFF9C)],
    'priority 100': [(PRIORITY, 100)],
    'domain 0': [(DOMAIN, 0)],
    'domain 1': [(DOMAIN, 1)],
    'domain 2': [(DOMAIN, 2)],
    'domain map': [(DOMAINS, 0x100)],
    'domain map 9': [(DOMAINS, 0x909)],
    'preferred': [(CLUSTER, *dims(2)), (PREFERRED, *dims(4))],
    'preferred alone': [(PREFERRED, *dims(4))],
    'preferred odd': [(CLUSTER, *dims(2)), (PREFERRED, *dims(3))],
    'preferred other': [(CLUSTER, *dims(2)), (PREFERRED, *dims(2, 2))],
    'updatable': [(UPDATABLE, 1, 0)],
    'carveout 50': [(CARVEOUT, 50)],
    'carveout 200': [(CARVEOUT, 200)],
    'carveout -1': [(CARVEOUT, 0xFFFFFFFF)],
    'unknown 15': [(15, 0)],
    'unknown 16': [(16, 0)],
    'unknown 17': [(17, 0)],
    'unknown 99': [(99, 0)],
    'unknown -1': [(-1, 0)],
    'program event null': [(PROGRAM, 0, 0)],
    'completion event null': [(COMPLETION, 0, 0)],
    'cluster twice': [(CLUSTER, *dims(2)), (CLUSTER, *dims(4))],
    'priority twice': [(PRIORITY, 0), (PRIORITY, 0)],
}


@each('LaunchKernelEx', ATTRIBUTES)
def _(d, v): return d.launch_ex('plain', *v) + d.launch_ex('plain', *v, stream=d.stream)


@case
def launch_ex_badly(d):
    return (
        d.launch_ex('plain', null=True)
        + d.launch_ex('plain', null=True, count=1)
        + [d('LaunchKernelEx', None, d.f('plain'), None, None)]
        + d.launch_ex('plain', grid=(0, 1, 1))
        + d.launch_ex('plain', shared=60000)
        + d.launch_ex('plain', (2, 1), grid=(265, 1, 1), block=(1024, 1, 1))
        + d.launch_ex('pairs', (2, 1), grid=(266, 1, 1), block=(1024, 1, 1))
    )


@case
def launch_events(d):
    out, timed, plain = [], C.c_void_p(), C.c_void_p()
    d.must('EventCreate', C.byref(timed), u(0))
    d.must('EventCreate', C.byref(plain), u(2))
    for e in (timed, plain):
        out += (
            d.launch_ex('plain', (PROGRAM, e.value, 0))
            + d.launch_ex('plain', (COMPLETION, e.value, 0))
            + d.launch_ex('plain', (PROGRAM, e.value, 1))
            + d.launch_ex('plain', (COMPLETION, e.value, 1))
            + d.launch_ex('plain', (PROGRAM, e.value, 9))
            + [d('EventQuery', e)]
        )
    return out


# ---- graphs and capture

@case
def graphs_badly(d):
    g, n, x = C.c_void_p(), C.c_void_p(), C.c_void_p()
    d.must('GraphCreate', C.byref(g), u(0))
    p = KernelNode(d.f('plain').value, (C.c_uint * 3)(1, 1, 1), (C.c_uint * 3)(32, 1, 1))
    bad = KernelNode(d.f('plain').value, (C.c_uint * 3)(0, 1, 1), (C.c_uint * 3)(32, 1, 1))
    big = KernelNode(d.f('plain').value, (C.c_uint * 3)(1, 1, 1), (C.c_uint * 3)(2000, 1, 1))
    none = KernelNode(None, (C.c_uint * 3)(1, 1, 1), (C.c_uint * 3)(32, 1, 1))
    return [
        d('GraphCreate', None, u(0)),
        d('GraphCreate', C.byref(x), u(1)),
        d('GraphAddEmptyNode', C.byref(n), g, None, z(0)),
        d('GraphAddEmptyNode', C.byref(x), g, None, z(1)),
        d('GraphAddEmptyNode', C.byref(x), None, None, z(0)),
        d('GraphAddKernelNode', C.byref(n), g, None, z(0), C.byref(p)),
        d('GraphAddKernelNode', C.byref(x), g, None, z(0), C.byref(bad)),
        d('GraphAddKernelNode', C.byref(x), g, None, z(0), C.byref(big)),
        d('GraphAddKernelNode', C.byref(x), g, None, z(0), C.byref(none)),
        d('GraphAddKernelNode', C.byref(x), g, None, z(0), None),
        d('GraphInstantiateWithFlags', C.byref(x), g, C.c_ulonglong(0)),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('GraphLaunch', None, d.stream),
        d('GraphExecDestroy', x),
        d('GraphExecDestroy', None),
        d('GraphInstantiateWithFlags', C.byref(x), None, C.c_ulonglong(0)),
        d('GraphInstantiateWithFlags', C.byref(x), g, C.c_ulonglong(1 << 20)),
        d('GraphDestroy', g),
        d('GraphDestroy', None),
    ]


@case
def capture_badly(d):
    g, s = C.c_void_p(), C.c_int()
    out = [
        d('StreamEndCapture', d.stream, C.byref(g)),
        d('StreamBeginCapture', None, 0),
        d('StreamBeginCapture', C.c_void_p(1), 0),
        d('StreamBeginCapture', d.stream, 9),
        d('StreamBeginCapture', d.stream, 2),
        d('StreamBeginCapture', d.stream, 2),
        d('StreamIsCapturing', d.stream, C.byref(s)),
        s.value,
        d('StreamQuery', d.stream),
    ]
    out += [
        d('StreamIsCapturing', d.stream, C.byref(s)),
        s.value,
        d('StreamEndCapture', d.stream, C.byref(g)),
        d('StreamIsCapturing', d.stream, C.byref(s)),
        s.value,
    ]
    out += [
        d('StreamBeginCapture', d.stream, 2),
        d('EventRecord', d.event, d.stream),
        d('EventQuery', d.event),
        d('StreamEndCapture', d.stream, C.byref(g)),
        d('EventSynchronize', d.event),
    ]
    return out + [
        d('StreamBeginCapture', d.stream, 2),
        d('StreamSynchronize', d.stream),
        d('StreamEndCapture', d.stream, C.byref(g)),
        d('StreamIsCapturing', None, C.byref(s)),
        d('StreamIsCapturing', d.stream, None),
    ]
