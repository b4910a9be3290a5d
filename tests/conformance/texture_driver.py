"""Access to the driver's texture calls with ctypes, and kernels with one texture or surface instruction."""
import array
import ctypes as C
import struct

FORMATS = dict(u8=(1, 1), u16=(2, 2), u32=(3, 4), s8=(8, 1), s16=(9, 2), s32=(10, 4), f16=(16, 2), f32=(32, 4))
NORMAL = dict(
    n8=(0xC0, 1), n16=(0xC3, 2), m8=(0xC6, 1), m16=(0xC9, 2)
)  # unsigned and signed, with one channel; then with two, and four
BLOCKS = dict(
    bc1=(0x91, 8),
    bc1s=(0x92, 8),
    bc2=(0x93, 16),
    bc2s=(0x94, 16),
    bc3=(0x95, 16),
    bc3s=(0x96, 16),
    bc4=(0x97, 8),
    bc4m=(0x98, 8),
    bc5=(0x99, 16),
    bc5m=(0x9A, 16),
    bc6=(0x9B, 16),
    bc6m=(0x9C, 16),
    bc7=(0x9D, 16),
    bc7s=(0x9E, 16),
)  # bytes of a block of 4x4
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = 0, 1
INT, NORM, SRGB, NOTRI, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
LAYERED, SURF, CUBE, GATHER, DEPTH = 1, 2, 4, 8, 16
V2 = {'MemAlloc', 'MemFree', 'MemcpyHtoD', 'MemcpyDtoH', 'Memcpy3D', 'Array3DCreate', 'MemsetD8'}


class Failure(Exception):
    pass


class Array3D(C.Structure):
    _fields_ = [
        ('w', C.c_size_t),
        ('h', C.c_size_t),
        ('d', C.c_size_t),
        ('fmt', C.c_uint),
        ('ch', C.c_uint),
        ('flags', C.c_uint),
    ]


class Copy3D(C.Structure):
    _fields_ = [
        ('sx', C.c_size_t),
        ('sy', C.c_size_t),
        ('sz', C.c_size_t),
        ('slod', C.c_size_t),
        ('stype', C.c_uint),
        ('shost', C.c_void_p),
        ('sdev', C.c_uint64),
        ('sarr', C.c_void_p),
        ('sres', C.c_void_p),
        ('spitch', C.c_size_t),
        ('sheight', C.c_size_t),
        ('dx', C.c_size_t),
        ('dy', C.c_size_t),
        ('dz', C.c_size_t),
        ('dlod', C.c_size_t),
        ('dtype', C.c_uint),
        ('dhost', C.c_void_p),
        ('ddev', C.c_uint64),
        ('darr', C.c_void_p),
        ('dres', C.c_void_p),
        ('dpitch', C.c_size_t),
        ('dheight', C.c_size_t),
        ('wb', C.c_size_t),
        ('h', C.c_size_t),
        ('d', C.c_size_t),
    ]


class Driver:
    def __init__(self, library='libcuda.so.1', prefix='cu'):
        self.lib, self.prefix = C.CDLL(library), prefix
        self('Init', C.c_uint(0))
        dev, ctx = C.c_int(), C.c_void_p()
        self('DeviceGet', C.byref(dev), 0)
        self('DevicePrimaryCtxRetain', C.byref(ctx), dev)
        self('CtxSetCurrent', ctx)
        name, ver = C.create_string_buffer(128), C.c_int()
        self('DeviceGetName', name, 128, dev)
        self('DriverGetVersion', C.byref(ver))
        self.about = '%s, driver %d' % (name.value.decode(), ver.value)
        self.functions = {}

    def __call__(self, name, *args):
        rc = getattr(self.lib, self.prefix + name + ('_v2' if self.prefix == 'cu' and name in V2 else ''))(*args)
        if rc:
            raise Failure('%s: error %d' % (name, rc))

    def alloc(self, size):
        p = C.c_uint64()
        self('MemAlloc', C.byref(p), C.c_size_t(max(size, 512)))
        return p.value

    def free(self, p):
        self('MemFree', C.c_uint64(p))

    def write(self, p, data):
        self('MemcpyHtoD', C.c_uint64(p), C.c_char_p(data), C.c_size_t(len(data)))

    def read(self, p, size):
        b = C.create_string_buffer(size)
        self('MemcpyDtoH', b, C.c_uint64(p), C.c_size_t(size))
        return b.raw

    def function(self, ptx):
        if ptx not in self.functions:
            m, f = C.c_void_p(), C.c_void_p()
            self('ModuleLoadData', C.byref(m), C.c_char_p(ptx.encode() + b'\0'))
            self('ModuleGetFunction', C.byref(f), m, b'k')
            self.functions[ptx] = f
        return self.functions[ptx]

    def launch(self, f, n, *params):
        held = [C.c_uint64(p) for p in params] + [C.c_uint(n)]
        arr = (C.c_void_p * len(held))(*[C.cast(C.pointer(h), C.c_void_p) for h in held])
        self(
            'LaunchKernel',
            f,
            *[C.c_uint(x) for x in ((n + 127) // 128, 1, 1, 128, 1, 1, 0)],
            C.c_void_p(None),
            arr,
            C.c_void_p(None)
        )
        self('CtxSynchronize')


def level_size(res, level):
    layered = res['flags'] & (LAYERED | CUBE)
    w, h, d = res['w'], res['h'], res['d']
    one = lambda v: max(1, v >> level)
    return one(w), (one(h) if h else 1), (max(d, 1) if layered else (one(d) if d else 1))


def layers(res, level):
    w, h, d = level_size(res, level)
    if res['flags'] & LAYERED and not res['h']:
        return w, 1, max(res['d'], 1)
    return w, h, d


def format_of(res):
    """Returns the driver's number of the format."""
    fmt = res['fmt']
    return (
        FORMATS[fmt][0]
        if fmt in FORMATS
        else BLOCKS[fmt][0] if fmt in BLOCKS else NORMAL[fmt][0] + (1, 2, 4).index(res['ch'])
    )


def storage(res, level):
    """Returns the bytes per row, the rows and the slices of a level."""
    w, h, d = layers(res, level)
    if res['fmt'] in BLOCKS:
        return (w + 3) // 4 * BLOCKS[res['fmt']][1], (h + 3) // 4, d
    return w * res['ch'] * {**FORMATS, **NORMAL}[res['fmt']][1], h, d


class Resource:
    """An array, mipmapped array or memory with its data.

    res: kind array|mip|linear|pitch, fmt, ch, w, h, d, flags, levels, data: the bytes of all levels in order."""

    def __init__(self, drv, res):
        self.drv, self.res = drv, res
        fmt = format_of(res)
        kind = res['kind']
        desc = Array3D(res['w'], res['h'], res['d'], fmt, res['ch'], res['flags'])
        self.handle = self.mip = self.dev = None
        self.arrays = []
        if kind == 'array':
            self.handle = C.c_void_p()
            drv('Array3DCreate', C.byref(self.handle), C.byref(desc))
            self.arrays = [self.handle]
        elif kind == 'mip':
            self.mip = C.c_void_p()
            drv('MipmappedArrayCreate', C.byref(self.mip), C.byref(desc), C.c_uint(res['levels']))
            for l in range(res['levels']):
                h = C.c_void_p()
                drv('MipmappedArrayGetLevel', C.byref(h), self.mip, C.c_uint(l))
                self.arrays.append(h)
        else:
            self.dev = drv.alloc(len(res['data']))
            drv.write(self.dev, res['data'])
        at = 0
        for l, a in enumerate(self.arrays):
            at += self.copy(a, l, res['data'], at)

    def copy(self, a, level, data, at, back=None):
        wb, h, d = storage(self.res, level)
        n = wb * h * d
        c = Copy3D(wb=wb, h=h, d=d)
        if back is None:
            keep = C.create_string_buffer(data[at:at + n], n)
            c.stype, c.shost, c.spitch, c.sheight, c.dtype, c.darr = 1, C.addressof(keep), wb, h, 3, a.value
        else:
            keep = back
            c.dtype, c.dhost, c.dpitch, c.dheight, c.stype, c.sarr = 1, C.addressof(keep) + at, wb, h, 3, a.value
        self.drv('Memcpy3D', C.byref(c))
        return n

    def contents(self):
        if self.dev:
            return self.drv.read(self.dev, len(self.res['data']))
        out, at = C.create_string_buffer(len(self.res['data'])), 0
        for l, a in enumerate(self.arrays):
            at += self.copy(a, l, None, at, out)
        return out.raw

    def desc(self):
        r = self.res
        fmt = format_of(r)
        if r['kind'] == 'array':
            body = struct.pack('<Q', self.handle.value)
            k = 0
        elif r['kind'] == 'mip':
            body, k = struct.pack('<Q', self.mip.value), 1
        elif r['kind'] == 'linear':
            body, k = struct.pack('<QIIQ', self.dev, fmt, r['ch'], len(r['data'])), 2
        else:
            body, k = struct.pack('<QIIQQQ', self.dev, fmt, r['ch'], r['w'], r['h'], r['pitch']), 3
        return struct.pack('<II', k, 0) + body.ljust(128, b'\0') + struct.pack('<II', 0, 0)

    def free(self):
        if self.handle:
            self.drv('ArrayDestroy', self.handle)
        if self.mip:
            self.drv('MipmappedArrayDestroy', self.mip)
        if self.dev:
            self.drv.free(self.dev)


def tex_desc(t):
    a = t.get('addr', (CLAMP,) * 3)
    return struct.pack(
        '<3iiIIifff4f12i',
        *a,
        t.get('filter', POINT),
        t.get('flags', 0),
        t.get('aniso', 0),
        t.get('mipfilter', POINT),
        t.get('bias', 0.0),
        t.get('min', 0.0),
        t.get('max', 100.0),
        *t.get('border', (0.0,) * 4),
        *[0] * 12
    )


def kernel(op, nin, nout):
    """op: an instruction with %t, %c0.. inputs and %d0.. outputs, all .b32; %h0.. outputs of .b16."""
    half = '%h' in op
    ld = ''.join('ld.global.b32 %%c%d, [%%a+%d];\n' % (k, 4 * k) for k in range(nin))
    st = ''.join(
        ('cvt.u32.u16 %%d%d, %%h%d;\n' % (k, k) if half else '') + 'st.global.b32 [%%b+%d], %%d%d;\n' % (4 * k, k)
        for k in range(nout)
    )
    return """.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pt, .param .u64 pin, .param .u64 pout, .param .u32 pn)
{
.reg .b32 %%c<16>, %%d<8>, %%i<8>; .reg .b16 %%h<8>; .reg .b64 %%t, %%a, %%b; .reg .pred %%p, %%q;
ld.param.u64 %%t, [pt]; ld.param.u64 %%a, [pin]; ld.param.u64 %%b, [pout]; ld.param.u32 %%i0, [pn];
mov.u32 %%i1, %%ctaid.x; mov.u32 %%i2, %%ntid.x; mov.u32 %%i3, %%tid.x; mad.lo.u32 %%i1, %%i1, %%i2, %%i3;
setp.ge.u32 %%p, %%i1, %%i0; @%%p ret;
cvta.to.global.u64 %%a, %%a; cvta.to.global.u64 %%b, %%b;
mad.wide.u32 %%a, %%i1, %d, %%a; mad.wide.u32 %%b, %%i1, %d, %%b;
%s%s
%sret;
}
""" % (4 * nin, 4 * nout, ld, op, st)


def run(drv, case):
    """Runs a case and returns the words of its results and, for a surface, the contents.

    case: op, res, tex or None for a surface, rows: array('I') of nin words each, nin, nout."""
    f = drv.function(kernel(case['op'], case['nin'], case['nout']))
    res = Resource(drv, case['res'])
    try:
        obj = C.c_uint64()
        d = C.create_string_buffer(res.desc(), 144)
        if case['tex'] is None:
            drv('SurfObjectCreate', C.byref(obj), d)
        else:
            t = C.create_string_buffer(tex_desc(case['tex']), 104)
            drv('TexObjectCreate', C.byref(obj), d, t, C.c_void_p(None))
        n = len(case['rows']) // case['nin']
        pin, pout = drv.alloc(4 * n * case['nin']), drv.alloc(4 * n * case['nout'])
        drv.write(pin, case['rows'].tobytes())
        drv('MemsetD8', C.c_uint64(pout), C.c_ubyte(0xcd), C.c_size_t(4 * n * case['nout']))
        drv.launch(f, n, obj.value, pin, pout)
        out = array.array('I', drv.read(pout, 4 * n * case['nout']))
        after = res.contents() if case['tex'] is None else b''
        drv.free(pin)
        drv.free(pout)
        drv('SurfObjectDestroy' if case['tex'] is None else 'TexObjectDestroy', obj)
    finally:
        res.free()
    return out, after
