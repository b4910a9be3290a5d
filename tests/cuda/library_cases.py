"""Test cases for calls.py: libraries, their kernels, and link errors."""
import ctypes as C

from call_cases import KERNELS, KernelNode, case, each, q, u, z

NULL = C.c_void_p(None)
HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n'


def handle():
    return C.c_void_p()


def library(d, text=KERNELS):
    lib = handle()
    d.must('LibraryLoadData', C.byref(lib), text, None, None, u(0), None, None, u(0))
    return lib


def kernel(d, lib, name):
    k = handle()
    d.must('LibraryGetKernel', C.byref(k), lib, name.encode())
    return k


IMAGES = {
    'kernels': KERNELS,
    'empty': b'\0',
    'text': b'hello\0',
    'nothing in it': HEAD.encode() + b'\0',
    'syntax': KERNELS[:-1] + b'.entry k() { frob; }\0',
    'extern': KERNELS[:-1] + b'.extern .func foo(); .entry k() { call foo; ret; }\0',
    'new version': b'.version 99.0\n.target sm_90\n.address_size 64\n\0',
    'new target': b'.version 8.0\n.target sm_200\n.address_size 64\n\0',
}


@each('LibraryLoadData', IMAGES)
def _(d, v):
    lib, k, n = handle(), handle(), C.c_uint(77)
    rc = d('LibraryLoadData', C.byref(lib), v, None, None, u(0), None, None, u(0))
    return (
        [rc]
        if rc
        else [
            rc,
            d('LibraryGetKernelCount', C.byref(n), lib),
            n.value,
            d('LibraryGetKernel', C.byref(k), lib, b'k'),
            d('LibraryUnload', lib),
        ]
    )


@case
def library_badly(d):
    lib, text = handle(), KERNELS
    keys, values = (C.c_int * 2)(7, 99), (C.c_void_p * 2)(4, 1)
    load = lambda *a: d('LibraryLoadData', *a)
    out = [
        load(None, text, None, None, u(0), None, None, u(0)),
        load(C.byref(lib), None, None, None, u(0), None, None, u(0)),
        load(C.byref(lib), text, keys, values, u(1), None, None, u(0)),
        load(C.byref(lib), text, keys, values, u(2), None, None, u(0)),
        load(C.byref(lib), text, None, None, u(1), None, None, u(0)),
        load(C.byref(lib), text, None, None, u(0), (C.c_int * 1)(1), (C.c_void_p * 1)(1), u(1)),
        load(C.byref(lib), text, None, None, u(0), (C.c_int * 1)(0), (C.c_void_p * 1)(0), u(1)),
        load(C.byref(lib), text, None, None, u(0), (C.c_int * 1)(7), (C.c_void_p * 1)(1), u(1)),
        load(C.byref(lib), text, None, None, u(0), None, None, u(1)),
    ]
    out += [
        d('LibraryLoadFromFile', C.byref(lib), b'/no/such/file', None, None, u(0), None, None, u(0)),
        d('LibraryLoadFromFile', C.byref(lib), None, None, None, u(0), None, None, u(0)),
        d('LibraryLoadFromFile', None, b'/no/such/file', None, None, u(0), None, None, u(0)),
        d('LibraryUnload', None),
    ]
    return out


@each('LibraryGetKernel', ('plain', 'nothing', 'space', ''))
def _(d, v):
    return [d('LibraryGetKernel', C.byref(handle()), library(d), v.encode())]


@each('LibraryGetGlobal', ('space', 'hidden', 'table', 'nothing', 'plain', 'more', ''))
def _(d, v):
    p, n = C.c_uint64(), C.c_size_t(77)
    rc = d('LibraryGetGlobal', C.byref(p), C.byref(n), library(d), v.encode())
    return [rc] + ([] if rc else [n.value]) + [d('LibraryGetManaged', C.byref(p), C.byref(n), library(d), v.encode())]


@case
def library_null(d):
    lib, k, m, n, p, f, size = library(d), handle(), handle(), C.c_uint(), C.c_uint64(), handle(), C.c_size_t()
    text = C.c_char_p()
    out = [
        d('LibraryGetKernel', None, lib, b'plain'),
        d('LibraryGetKernel', C.byref(k), None, b'plain'),
        d('LibraryGetKernel', C.byref(k), lib, None),
        d('LibraryGetKernelCount', None, lib),
        d('LibraryGetKernelCount', C.byref(n), None),
        d('LibraryGetModule', None, lib),
        d('LibraryGetModule', C.byref(m), None),
        d('LibraryGetGlobal', None, C.byref(size), lib, b'space'),
        d('LibraryGetGlobal', C.byref(p), None, lib, b'space'),
        d('LibraryGetGlobal', None, None, lib, b'space'),
        d('LibraryGetGlobal', C.byref(p), None, lib, None),
        d('LibraryGetGlobal', C.byref(p), None, None, b'space'),
        d('LibraryGetUnifiedFunction', C.byref(f), lib, b'plain'),
        d('LibraryGetUnifiedFunction', None, lib, b'plain'),
        d('LibraryGetUnifiedFunction', C.byref(f), lib, None),
    ]
    return out + [
        d('KernelGetFunction', C.byref(f), None),
        d('KernelGetFunction', None, kernel(d, lib, 'plain')),
        d('KernelGetLibrary', C.byref(m), None),
        d('KernelGetLibrary', None, kernel(d, lib, 'plain')),
        d('KernelGetName', C.byref(text), None),
        d('KernelGetName', None, kernel(d, lib, 'plain')),
        d('LibraryUnload', lib),
    ]


@case
def library_kernels(d):
    lib, n, many, m, back, name, f, g = (
        library(d),
        C.c_uint(),
        (C.c_void_p * 16)(),
        handle(),
        handle(),
        C.c_char_p(),
        handle(),
        handle(),
    )
    out = [
        d('LibraryGetKernelCount', C.byref(n), lib),
        n.value,
        d('LibraryEnumerateKernels', many, u(3), lib),
        many[2] is not None,
        many[3] is None,
        d('LibraryEnumerateKernels', many, u(16), lib),
        many[8] is not None,
        many[9] is None,
        d('LibraryEnumerateKernels', None, u(3), lib),
        d('LibraryEnumerateKernels', None, u(0), lib),
        d('LibraryEnumerateKernels', many, u(0), lib),
        d('LibraryEnumerateKernels', many, u(3), None),
    ]
    k = kernel(d, lib, 'plain')
    out += [
        k.value in many[:9],
        k.value == kernel(d, lib, 'plain').value,
        d('KernelGetLibrary', C.byref(back), k),
        back.value == lib.value,
        d('KernelGetName', C.byref(name), k),
        name.value == b'plain',
        d('KernelGetFunction', C.byref(f), k),
        d('KernelGetFunction', C.byref(g), k),
        f.value == g.value,
        d('LibraryGetModule', C.byref(m), lib),
        d('ModuleGetFunction', C.byref(g), m, b'plain'),
        f.value == g.value,
        d('FuncGetModule', C.byref(back), f),
        back.value == m.value,
        d('FuncGetName', C.byref(name), f),
        name.value == b'plain',
        d('ModuleUnload', m),
        d('LibraryUnload', lib),
    ]
    return out


@case
def library_unloaded(d):
    return [d('LibraryUnload', library(d)), d('CtxSynchronize')]


@each('KernelGetAttribute', range(-1, 18))
def _(d, v):
    lib, x, out = library(d), C.c_int(), []
    for name in ('plain', 'shared', 'small', 'exact', 'pairs', 'anycluster'):
        rc = d('KernelGetAttribute', C.byref(x), C.c_int(v), kernel(d, lib, name), d.dev)
        out += [rc] if rc or v in (2, 3, 4, 5, 6) else [rc, x.value]
    return out


@case
def kernel_attributes_badly(d):
    k, x = kernel(d, library(d), 'plain'), C.c_int()
    return [
        d('KernelGetAttribute', None, 0, k, d.dev),
        d('KernelGetAttribute', C.byref(x), 0, None, d.dev),
        d('KernelGetAttribute', C.byref(x), 0, k, 77),
        d('KernelGetAttribute', C.byref(x), 0, k, -1),
        d('KernelSetAttribute', 8, 1000, None, d.dev),
        d('KernelSetAttribute', 8, 1000, k, 77),
        d('KernelSetCacheConfig', k, 1, d.dev),
        d('KernelSetCacheConfig', k, 9, d.dev),
        d('KernelSetCacheConfig', None, 1, d.dev),
        d('KernelSetCacheConfig', k, 1, 77),
    ]


@each(
    'KernelSetAttribute',
    {
        '%s,%d,%d' % v: v
        for v in [('plain', k, 1) for k in range(18)]
        + [('plain', 8, x) for x in (-1, 0, 49152, 227 << 10, (227 << 10) + 1)]
        + [('plain', 9, x) for x in (-2, -1, 50, 101)]
        + [(n, 11, x) for n in ('plain', 'pairs', 'anycluster') for x in (0, 2, 17)]
    },
)
def _(d, v):
    lib, x, f = library(d), C.c_int(-7), handle()
    k = kernel(d, lib, v[0])
    out = [
        d('KernelSetAttribute', C.c_int(v[1]), C.c_int(v[2]), k, d.dev),
        d('KernelGetAttribute', C.byref(x), C.c_int(v[1]), k, d.dev),
    ] + ([x.value] if v[1] not in (2, 3, 4, 5, 6, 7) else [])
    d.must('KernelGetFunction', C.byref(f), k)
    out += [d('FuncGetAttribute', C.byref(x), C.c_int(v[1]), f)] + ([x.value] if v[1] not in (2, 3, 4, 5, 6, 7) else [])
    return out + [d('LibraryUnload', lib)]


@each('KernelGetParamInfo', (0, 1, 2, 100))
def _(d, v):
    a, b = C.c_size_t(), C.c_size_t()
    rc = d('KernelGetParamInfo', kernel(d, library(d), 'write'), z(v), C.byref(a), C.byref(b))
    return (
        [rc]
        + ([] if rc else [a.value, b.value])
        + [
            d('KernelGetParamInfo', kernel(d, library(d), 'write'), z(0), None, C.byref(b)),
            d('KernelGetParamInfo', kernel(d, library(d), 'write'), z(0), C.byref(a), None),
            d('KernelGetParamInfo', None, z(0), C.byref(a), C.byref(b)),
        ]
    )


@case
def kernel_as_function(d):
    """Passes a kernel handle as a function: in launches, queries and graphs."""
    lib = library(d)
    k, x, f, n, at, value = kernel(d, lib, 'write'), C.c_int(-7), handle(), C.c_int(), q(d.p.value), u(77)
    words = (C.c_void_p * 2)(C.addressof(at), C.addressof(value))
    out = d.launch(k, params=words) + [d('MemcpyDtoH', d.host, d.p, z(4)), d.host.raw[0]]
    out += [
        d('FuncGetAttribute', C.byref(x), 0, k),
        x.value,
        d('FuncGetModule', C.byref(f), k),
        d('OccupancyMaxActiveBlocksPerMultiprocessor', C.byref(n), k, 32, z(0)),
        n.value,
        d('LaunchKernelEx', C.byref(d.config()), k, words, None),
        d('CtxSynchronize'),
    ]
    out += [
        d('FuncSetAttribute', k, 8, 1000),
        d('FuncGetName', C.byref(C.c_char_p()), k),
        d('LaunchCooperativeKernel', k, *[u(1)] * 6, u(0), NULL, words),
        d('CtxSynchronize'),
    ]
    return out


@case
def kernel_in_graph(d):
    lib, g, node, x = library(d), handle(), handle(), handle()
    k, at, value = kernel(d, lib, 'write'), q(d.p.value), u(78)
    words = (C.c_void_p * 2)(C.addressof(at), C.addressof(value))
    d.must('GraphCreate', C.byref(g), u(0))
    out = []
    for f, kern in ((None, k), (k, None), (None, None), (k, k)):
        p, got = (
            KernelNode(
                f.value if f else None,
                (1, 1, 1),
                (1, 1, 1),
                0,
                C.addressof(words),
                None,
                kern.value if kern else None,
                None,
            ),
            KernelNode(),
        )
        rc = d.lib.cuGraphAddKernelNode_v2(C.byref(node), g, None, z(0), C.byref(p))
        out.append(rc)
        if not rc:
            out += [
                d.lib.cuGraphKernelNodeGetParams_v2(node, C.byref(got)),
                got.f is None,
                got.kern is None,
                got.kern == k.value,
            ]
    return out + [
        d('GraphInstantiateWithFlags', C.byref(x), g, C.c_ulonglong(0)),
        d('GraphLaunch', x, d.stream),
        d('StreamSynchronize', d.stream),
        d('MemcpyDtoH', d.host, d.p, z(4)),
        d.host.raw[0],
    ]


@case
def library_without_context(d):
    lib, k, f, m = handle(), handle(), handle(), handle()
    n, p = C.c_uint(), C.c_uint64()
    d.must('CtxSetCurrent', None)
    out = [d('LibraryLoadData', C.byref(lib), KERNELS, None, None, u(0), None, None, u(0))]
    if lib.value:
        out += [
            d('LibraryGetKernel', C.byref(k), lib, b'plain'),
            d('LibraryGetKernelCount', C.byref(n), lib),
            d('LibraryGetModule', C.byref(m), lib),
            d('LibraryGetGlobal', C.byref(p), None, lib, b'space'),
        ]
        if k.value:
            out += [
                d('KernelGetFunction', C.byref(f), k),
                d('KernelGetAttribute', C.byref(C.c_int()), 0, k, d.dev),
                d('KernelSetAttribute', 8, 1000, k, d.dev),
                d('KernelGetParamInfo', k, z(0), C.byref(C.c_size_t()), None),
                d('KernelGetName', C.byref(C.c_char_p()), k),
            ]
        out.append(d('LibraryUnload', lib))
    d.must('CtxSetCurrent', d.ctx)
    return out


# ---- linking



def entry(body, name='k'):
    return (
        '.visible .entry %s(.param .u64 out) '
        '{ .reg .b64 %%d<9>; .reg .b32 %%r<9>; ld.param.u64 %%d0, [out]; %s ret; }\n'
        % (name, body)
    )


def store(value, name='k'):
    return entry('mov.u32 %%r1, %d; st.global.u32 [%%d0], %%r1;' % value, name)


def function(value, how='.visible', name='f'):
    return '%s .func (.param .u32 r) %s() { .reg .b32 %%r<2>; mov.u32 %%r1, %d; st.param.u32 [r], %%r1; ret; }\n' % (
        how,
        name,
        value,
    )


CALL = entry('{ .param .u32 x; call (x), f, (); ld.param.u32 %r1, [x]; } st.global.u32 [%d0], %r1;')
CALL_TWO = entry(
    '{ .param .u32 x; call (x), f, (); ld.param.u32 %r1, [x]; } '
    '{ .param .u32 x; call (x), g, (); ld.param.u32 %r2, [x]; } add.u32 %r1, %r1, %r2; st.global.u32 [%d0], %r1;'
)
LOAD = entry('ld.global.u32 %r1, [v]; st.global.u32 [%d0], %r1;')
F, G, V = '.extern .func (.param .u32 r) f();\n', '.extern .func (.param .u32 r) g();\n', '.extern .global .u32 v;\n'

PARTS = {
    'nothing': [],
    'one': [function(1) + CALL],
    'two': [F + CALL, function(7)],
    'missing function': [F + CALL],
    'missing function, other': [F + CALL, function(7, name='h')],
    'missing functions': [F + G + CALL_TWO],
    'missing variable': [V + LOAD],
    'missing unused': [F + store(3)],
    'missing in unused': [
        store(3),
        F + '.visible .func h() { .reg .b32 %r1; { .param .u32 x; call (x), f, (); ld.param.u32 %r1, [x]; } ret; }',
    ],
    'function twice': [F + CALL, function(7), function(8)],
    'functions twice': [F + G + CALL_TWO, function(7) + function(1, name='g'), function(8) + function(2, name='g')],
    'kernel twice': [store(1), store(2)],
    'kernels twice': [store(1) + store(1, 'l'), store(2) + store(1, 'l')],
    'kernel and function twice': [function(1) + CALL, function(1) + CALL],
    'variable twice': [V + LOAD, '.visible .global .u32 v = 5;', '.visible .global .u32 v = 6;'],
    'variables twice': [
        '.visible .global .u32 v = 5; .visible .global .u32 w = 5;',
        '.visible .global .u32 v = 5; .visible .global .u32 w = 5;',
        V + LOAD,
    ],
    'other result': [
        '.extern .func (.param .u64 r) f();'
        + CALL.replace('.u32 x;', '.u64 x;').replace('.param.u32 %r1, [x]', '.param.u64 %d1, [x]'),
        function(7),
    ],
    'other kind': [F + CALL, '.visible .global .u32 f = 5;'],
    'kernel as function': [F + CALL, '.visible .entry f() { ret; }'],
    'other size': ['.extern .global .u64 v;' + LOAD, '.visible .global .u32 v = 5;'],
    'other space': [V + LOAD, '.visible .const .u32 v = 5;'],
    'static in another': [F + CALL, function(8, '')],
    'two errors': [F + CALL, function(7), '.visible .global .u32 f = 5; .visible .entry k() { ret; }'],
    'after an error': [store(1), store(2), function(3)],
    'nonsense': ['hello'],
    'nonsense first': ['hello', store(1)],
    'nonsense last': [store(1), 'hello'],
    'common and weak': ['.common .global .u32 v;' + LOAD, '.weak .global .u32 v = 8;'],
    'align': [
        '.visible .func (.param .align 8 .b8 r[4]) f() '
        '{ .reg .b32 %r<2>; mov.u32 %r1, 3; st.param.b32 [r], %r1; ret; }',
        '.extern .func (.param .b32 r) f();' + CALL.replace('.u32 x;', '.b32 x;'),
    ],
    'u16 for u32': [
        '.extern .func (.param .u16 r) f();'
        + CALL.replace('.u32 x;', '.u16 x;').replace('.param.u32 %r1, [x]', '.param.u16 %r1, [x]'),
        function(7),
    ],
}


def linked(d, parts, named, options=()):
    s, image, n, m, f, out = handle(), handle(), C.c_size_t(), handle(), handle(), []
    log = C.create_string_buffer(4096)
    keys, values = (C.c_int * 2)(5, 6), (C.c_void_p * 2)(C.addressof(log), 4096)
    d.must('LinkCreate', u(2 if options else 0), keys, values, C.byref(s))
    for i, part in enumerate(parts):
        text = (HEAD + part).encode() + b'\0'
        out.append(d('LinkAddData', s, 1, text, z(len(text)), b'part%d' % i if named else None, u(0), None, None))
    rc = d('LinkComplete', s, C.byref(image), C.byref(n))
    out.append(rc)
    if not rc:
        rc = d('ModuleLoadData', C.byref(m), image)
        out.append(rc)
    if not rc:
        rc = d('ModuleGetFunction', C.byref(f), m, b'k')
        out.append(rc)
    if not rc:
        at = q(d.p.value)
        d.must('MemsetD32', d.p, u(99), z(1))
        out += d.launch(f, block=(1, 1, 1), params=(C.c_void_p * 1)(C.addressof(at))) + [
            d('MemcpyDtoH', d.host, d.p, z(4)),
            d.host.raw[0],
        ]
    return out + [d('LinkDestroy', s)]


@each('link', PARTS)
def _(d, v): return linked(d, v, True)


@each(
    'link unnamed',
    {
        k: PARTS[k]
        for k in (
            'two',
            'missing function',
            'missing functions',
            'function twice',
            'kernel twice',
            'kernel and function twice',
            'other result',
            'two errors',
        )
    },
)
def _(d, v):
    return linked(d, v, False)


@each(
    'link with a log',
    {
        k: PARTS[k]
        for k in (
            'two',
            'missing function',
            'missing functions',
            'function twice',
            'kernel twice',
            'kernel and function twice',
            'other result',
            'two errors',
        )
    },
)
def _(d, v):
    return linked(d, v, True, options=(1,))


# ---- limits of a thread


@each(
    'launch with local memory of',
    (1 << 10, 100000, 500000, 523000, 524000, 524288 - 1024, 524288 - 16, 524288, 524288 + 16, 600000, 1 << 20),
)
def _(d, v):
    m, f = handle(), handle()
    text = (
        '.version 8.0\n.target sm_90\n.address_size 64\n'
        '.visible .entry k(.param .u64 p, .param .u32 at) '
        '{ .local .align 16 .b8 l[%d]; .reg .b64 %%p, %%a; .reg .b32 %%r; ld.param.u64 %%p, [p]; '
        'ld.param.u32 %%r, [at]; mov.u64 %%a, l; cvt.u64.u32 %%p, %%r; add.u64 %%a, %%a, %%p; ld.param.u64 %%p, [p]; '
        'st.local.u32 [%%a], %%r; st.local.u64 [l], %%p; ld.local.u32 %%r, [%%a]; st.global.u32 [%%p], %%r; ret; }'
        % v
    )
    rc, x = d('ModuleLoadData', C.byref(m), text.encode() + b'\0'), C.c_int()
    if rc:
        return [rc]
    d.must('ModuleGetFunction', C.byref(f), m, b'k')
    at, where = q(d.p.value), u(v - 4)
    return (
        [rc, d('FuncGetAttribute', C.byref(x), 3, f), x.value]
        + d.launch(f, block=(1, 1, 1), params=(C.c_void_p * 2)(C.addressof(at), C.addressof(where)))
        + [d('MemcpyDtoH', d.host, d.p, z(4)), int.from_bytes(d.host.raw[:4], 'little') - v]
    )
