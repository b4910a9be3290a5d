"""Test cases for calls.py: occupancy by shared memory preference, texture references, simple queries."""

import ctypes as C

from call_cases import Array3D, ArrayDesc, case, each, q, u, z

NULL = C.c_void_p(None)


TEXT = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k()%s { .reg .u32 %%x; %s ret; }
"""


def kernel(d, static, head=''):
    m, f = C.c_void_p(), C.c_void_p()
    body = '.shared .align 16 .b8 s[%d]; mov.u32 %%x, s; st.volatile.shared.u32 [%%x], %%x;' % static if static else ''
    d.must('ModuleLoadData', C.byref(m), (TEXT % (head, body)).encode() + b'\0')
    d.must('ModuleGetFunction', C.byref(f), m, b'k')
    return f


def allow(d, f, dynamic, carveout=-1, nonportable=0):
    return [
        d('FuncSetAttribute', f, 8, dynamic),
        d('FuncSetAttribute', f, 9, carveout),
        d('FuncSetAttribute', f, 14, nonportable),
    ]


# Sizes of shared memory in bytes, close to multiples of the allocation granularity
SHARED = (0, 1, 1024, 8192, 31744, 76800, 116737, 232448, 232449)


@each('resident', {'%d static, %d threads' % v: v for v in [(s, t) for s in (0, 20000) for t in (32, 129, 1024)]})
def _(d, v):
    f, n, out = kernel(d, v[0]), C.c_int(), []
    for carveout in (-1, 0, 50, 100):
        out += allow(d, f, (227 << 10) - (v[0] + 15) // 16 * 16, carveout)
        for dynamic in SHARED:
            n.value = -1
            out += [d('OccupancyMaxActiveBlocksPerMultiprocessor', C.byref(n), f, v[1], z(dynamic)), n.value]
    return out


# ---- texture references

def texture_reference(d):
    m, r = C.c_void_p(), C.c_void_p()
    d.must(
        'ModuleLoadData',
        C.byref(m),
        b'.version 8.0\n.target sm_90\n.address_size 64\n.visible .global .texref t;\n'
        b'.visible .entry k(.param .u64 p) { .reg .u64 %p; .reg .b32 %r<4>; ld.param.u64 %p, [p]; '
        b'tex.1d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [t, {0}]; st.global.u32 [%p], %r0; ret; }\0',
    )
    d.must('ModuleGetTexRef', C.byref(r), m, b't')
    return r


def properties(d, r):
    x, y, f, g, p, fs = C.c_int(-7), C.c_int(-7), C.c_float(-7), C.c_float(-7), C.c_void_p(), (C.c_float * 4)()
    out = []
    for dim in (0, 1, 2, 3, -1):
        out += [d('TexRefGetAddressMode', C.byref(x), r, dim), x.value]
    for name in ('FilterMode', 'MipmapFilterMode', 'Flags', 'MaxAnisotropy'):
        x.value = -7
        out += [d('TexRefGet' + name, C.byref(x), r), x.value, d('TexRefGet' + name, None, r)]
    out += [
        d('TexRefGetFormat', C.byref(x), C.byref(y), r),
        x.value,
        y.value,
        d('TexRefGetFormat', None, C.byref(y), r),
        d('TexRefGetFormat', C.byref(x), None, r),
        d('TexRefGetMipmapLevelBias', C.byref(f), r),
        f.value,
        d('TexRefGetMipmapLevelClamp', C.byref(f), C.byref(g), r),
        f.value,
        g.value,
        d('TexRefGetBorderColor', fs, r),
        *fs,
        d('TexRefGetMipmapLevelBias', None, r),
        d('TexRefGetMipmapLevelClamp', None, C.byref(g), r),
        d('TexRefGetBorderColor', None, r),
        d('TexRefGetAddressMode', None, r, 0),
    ]
    for name in ('Array', 'MipmappedArray'):
        out += [d('TexRefGet' + name, C.byref(p), r)]
    return out + [d.lib.cuTexRefGetAddress_v2(C.byref(C.c_uint64()), r)]


@case
def reference_fresh(d): return properties(d, texture_reference(d))


@case
def reference_none(d): return properties(d, NULL)


@case
def reference_set(d):
    r, out, p, at = texture_reference(d), [], C.c_void_p(), C.c_uint64()
    for call in (
        ('AddressMode', 0, 0),
        ('AddressMode', 1, 2),
        ('AddressMode', 2, 3),
        ('AddressMode', 0, 4),
        ('AddressMode', 3, 0),
        ('FilterMode', 1),
        ('FilterMode', 2),
        ('MipmapFilterMode', 1),
        ('MipmapLevelBias', C.c_float(1.5)),
        ('MipmapLevelClamp', C.c_float(0.5), C.c_float(3.5)),
        ('MaxAnisotropy', u(8)),
        ('MaxAnisotropy', u(99)),
        ('BorderColor', (C.c_float * 4)(1, 2, 3, 4)),
        ('BorderColor', None),
        ('Flags', u(2)),
        ('Flags', u(3)),
        ('Flags', u(0x20)),
        ('Flags', u(4)),
        ('Format', 8, 4),
        ('Format', 8, 3),
        ('Format', 77, 1),
    ):
        out += [d('TexRefSet' + call[0], r, *call[1:])]
    out += properties(d, r)
    out += [
        d('TexRefSetArray', r, d.array, u(1)),
        d('TexRefGetArray', C.byref(p), r),
        p.value == d.array.value,
        d('TexRefSetArray', r, d.array, u(0)),
        d('TexRefGetFormat', C.byref(C.c_int()), C.byref(C.c_int()), r),
        d('TexRefSetArray', r, None, u(1)),
        d('TexRefGetArray', C.byref(p), r),
    ]
    return out + properties(d, r)


@case
def reference_address(d):
    r, at, off, p = texture_reference(d), C.c_uint64(), C.c_size_t(77), C.c_void_p()
    out = [
        d.lib.cuTexRefSetAddress_v2(C.byref(off), r, q(d.p.value), z(256)),
        off.value,
        d.lib.cuTexRefGetAddress_v2(C.byref(at), r),
        at.value == d.p.value,
        d('TexRefGetArray', C.byref(p), r),
        d.lib.cuTexRefSetAddress_v2(C.byref(off), r, q(d.p.value + 16), z(256)),
        off.value,
        d.lib.cuTexRefSetAddress_v2(None, r, q(d.p.value + 16), z(256)),
        d.lib.cuTexRefSetAddress_v2(C.byref(off), r, q(0), z(0)),
        d.lib.cuTexRefGetAddress_v2(C.byref(at), r),
        at.value == 0,
        d.lib.cuTexRefSetAddress_v2(C.byref(off), r, q(d.p.value), z(1 << 40)),
    ]
    desc = ArrayDesc(16, 4, 0x20, 1)
    out += [
        d.lib.cuTexRefSetAddress2D_v3(r, C.byref(desc), q(d.p.value), z(256)),
        d.lib.cuTexRefGetAddress_v2(C.byref(at), r),
        at.value == d.p.value,
        d.lib.cuTexRefSetAddress2D_v3(r, C.byref(desc), q(d.p.value), z(72)),
        d.lib.cuTexRefSetAddress2D_v3(r, None, q(d.p.value), z(256)),
    ]
    return out


@case
def reference_made(d):
    r = C.c_void_p()
    out = [d('TexRefCreate', None), d('TexRefCreate', C.byref(r))]
    if r.value:
        out += properties(d, r) + [
            d('TexRefSetFlags', r, u(2)),
            d('TexRefSetArray', r, d.array, u(1)),
            d('TexRefDestroy', r),
        ]
    return out + [d('TexRefDestroy', None), d('TexRefDestroy', texture_reference(d))]


# ---- simple queries

@case
def stream_questions(d):
    a, b, dev = C.c_ulonglong(), C.c_ulonglong(), C.c_int(-1)
    return [
        d('StreamGetId', d.stream, C.byref(a)),
        d('StreamGetId', None, C.byref(b)),
        a.value != b.value,
        d('StreamGetId', d.stream, None),
        d('StreamGetDevice', d.stream, C.byref(dev)),
        dev.value,
        d('StreamGetDevice', d.stream, None),
        d('CtxGetId', d.ctx, C.byref(a)),
        d('CtxGetId', None, C.byref(b)),
        a.value == b.value,
        d('CtxGetId', None, None),
    ]


CALLED = []
CALLBACK = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_void_p)
KEEP = CALLBACK(lambda stream, status, data: CALLED.append((status, data)))


@case
def stream_callback(d):
    CALLED.clear()
    out = [d('StreamAddCallback', d.stream, KEEP, C.c_void_p(5), u(0)), d('StreamSynchronize', d.stream)] + [
        x or 0 for c in CALLED for x in c
    ]
    return out + [
        d('StreamAddCallback', d.stream, None, None, u(0)),
        d('StreamAddCallback', d.stream, KEEP, None, u(1)),
        d('StreamSynchronize', d.stream),
        len(CALLED),
    ]


@case
def function_loading(d):
    x = C.c_int(-1)
    return [
        d('FuncIsLoaded', C.byref(x), d.f('plain')),
        d('FuncLoad', d.f('plain')),
        d('FuncIsLoaded', C.byref(x), d.f('plain')),
        x.value,
        d('FuncLoad', None),
        d('FuncIsLoaded', None, d.f('plain')),
        d('ModuleGetLoadingMode', C.byref(x)),
    ]


@case
def context_configurations(d):
    x, flags = C.c_int(-1), C.c_uint(99)
    out = [d('CtxGetCacheConfig', C.byref(x)), x.value, d('CtxGetCacheConfig', None)]
    for v in (1, 3, 4, -1, 0):
        out += [d('CtxSetCacheConfig', v), d('CtxGetCacheConfig', C.byref(x)), x.value]
    out += [d('CtxGetSharedMemConfig', C.byref(x)), x.value, d('CtxGetSharedMemConfig', None)]
    for v in (0, 1, 2, 3, -1, 0):
        out += [d('CtxSetSharedMemConfig', v), d('CtxGetSharedMemConfig', C.byref(x)), x.value]
    return out + [d('FuncSetSharedMemConfig', d.f('plain'), v) for v in (0, 1, 2, 3)] + [d('CtxResetPersistingL2Cache')]


@case
def bus(d):
    b, dev = C.create_string_buffer(b'x' * 20, 20), C.c_int(-1)
    out = [
        d('DeviceGetPCIBusId', b, 20, d.dev),
        len(b.value),
        d('DeviceGetByPCIBusId', C.byref(dev), b),
        dev.value,
        d('DeviceGetByPCIBusId', C.byref(dev), b'0000:ff:1f.0'),
        d('DeviceGetByPCIBusId', C.byref(dev), b'nonsense'),
        d('DeviceGetByPCIBusId', C.byref(dev), None),
        d('DeviceGetPCIBusId', None, 20, d.dev),
        d('DeviceGetPCIBusId', b, 5, d.dev),
        b.value == b'',
        d('DeviceGetPCIBusId', b, 20, 77),
    ]
    return out


@case
def peers(d):
    at = q(d.p.value + 4096)
    return [
        d('MemcpyPeer', at, d.ctx, d.p, d.ctx, z(64)),
        d('MemcpyPeerAsync', at, d.ctx, d.p, d.ctx, z(64), d.stream),
        d('StreamSynchronize', d.stream),
        d('MemcpyPeer', at, None, d.p, d.ctx, z(64)),
        d('MemcpyPeer', q(1 << 50), d.ctx, d.p, d.ctx, z(64)),
        d('CtxEnablePeerAccess', d.ctx, u(0)),
        d('CtxEnablePeerAccess', None, u(0)),
        d('CtxDisablePeerAccess', d.ctx),
        d('CtxDisablePeerAccess', None),
    ]


@case
def array_flags(d):
    out = []
    for flags in (0x100, 0x102, 0x80, 0x40, 0x20, 0x10, 0x200, 0x400, 0x180):
        h, back = C.c_void_p(), Array3D()
        rc = d('Array3DCreate', C.byref(h), C.byref(Array3D(64, 32, 0, 1, 1, flags)))
        out += [rc] + ([] if rc else [d('Array3DGetDescriptor', C.byref(back), h), back.flags])
    return out
