"""Tests of modules and devices, and of their properties."""
import pathlib

import numpy as np
import pytest

KERNELS = pathlib.Path(__file__).with_name('kernels.ptx')
HEAD = '.version 8.0\n.target sm_75\n.address_size 64\n'


def test_names(ptxi):
    mod = ptxi.load(KERNELS)
    assert mod.kernels == ('add', 'params', 'shape', 'swap', 'ranks', 'trapped')
    assert mod['add'] is mod.add and 'add' in dir(mod)
    assert list(mod) == list(mod.kernels) and len(mod) == 6 and 'add' in mod and 'ad' not in mod and 3 not in mod
    assert mod.add.signature == 'add(.u64 y, .u64 x, .f32 a)'
    assert [(p.name, p.type, p.offset, p.bytes) for p in mod.add.parameters] == [
        ('y', 'u64', 0, 8), ('x', 'u64', 8, 8), ('a', 'f32', 16, 4)]
    assert mod.params.parameters[-1].count == 12
    with pytest.raises(AttributeError, match="no kernel 'ad'; it has add"):
        mod.ad
    with pytest.raises(KeyError, match='no kernel'):
        mod['']
    with pytest.raises(TypeError, match='<ptx>: PTX is str or bytes, not PosixPath; ptxi.load reads a file'):
        ptxi.loads(KERNELS)


def test_variables_are_in_place(ptxi):
    mod = ptxi.load(KERNELS)
    counter = mod.variable('counter', 'u4')
    assert counter.tolist() == [7]
    counter[0] = 41
    mod.shape[1, 1](np.zeros(2, 'u4'))
    assert counter.tolist() == [42]
    with pytest.raises(KeyError, match="no variable 'nothing'"):
        mod.variable('nothing')


def test_bad_ptx_says_where_and_what_is_accepted(ptxi):
    with pytest.raises(ptxi.ModuleError) as e:
        ptxi.loads(HEAD + '.entry k() { .reg .f32 %f; add.f33 %f, %f, %f; }', name='mine.ptx')
    assert str(e.value).startswith("mine.ptx:4:31: error: 'add' has no modifier '.f33'")
    assert 'note: accepted: add' in str(e.value)
    first = e.value.diagnostics[0]
    assert (first.line, first.column, first.severity) == (4, 31, ptxi.Severity.ERROR)
    assert e.value.result == ptxi.Result.ERROR_INVALID_PTX
    with pytest.raises(ptxi.ModuleError) as e:
        ptxi.loads('no ptx')
    assert e.value.result == ptxi.Result.ERROR_INVALID_IMAGE
    with pytest.raises(FileNotFoundError):
        ptxi.load('nowhere.ptx')


NEWER = '.version 8.6\n.target sm_100\n.address_size 64\n'


def test_options(ptxi):
    ptxi.loads(NEWER, device=ptxi.Device('sm_90'))
    with pytest.raises(ptxi.Error, match='NO_BINARY_FOR_GPU'):
        ptxi.loads(NEWER, strict=True, device=ptxi.Device('sm_90'))
    fused = ('.entry k(.param .u64 p) { .reg .b64 %p; .reg .f32 %a; ld.param.u64 %p, [p]; ld.global.f32 %a, [%p];\n'
             'mul.f32 %a, %a, %a; add.f32 %a, %a, 0fBF800000; st.global.f32 [%p], %a; }')
    results = []
    for fma in (True, False):
        x = np.array([1 + 2 ** -12], 'f4')
        ptxi.loads(HEAD + fused, fma=fma).k[1, 1](x)
        results.append(float(x[0]))
    assert results == [2 ** -11 + 2 ** -24, 2 ** -11]


def test_dump_and_unsupported(ptxi):
    mod = ptxi.load(KERNELS)
    assert 'add' in mod.dump('add') and mod.unsupported == ''


def test_devices(ptxi):
    assert 'sm_80' in ptxi.profiles()
    with ptxi.Device('sm_80', workers=2) as device:
        assert ptxi.current() is device
        assert (device.profile, device.workers) == ('sm_80', 2)
        assert device.attribute(ptxi.DeviceAttribute.COMPUTE_CAPABILITY_MAJOR) == 8
        assert ptxi.load(KERNELS).device is device
    assert ptxi.current() is not device
    with pytest.raises(ValueError, match='unknown device profile .sm_1.; accepted: .*sm_90'):
        ptxi.Device('sm_1')
    device.close()
    with pytest.raises(ValueError, match='closed'):
        device.synchronize()


def test_limits_and_counters(ptxi):
    device = ptxi.current()
    mod = ptxi.loads(HEAD + '.entry forever() { L: bra L; } .entry nothing() { ret; }')
    device.set_limit(ptxi.Limit.INSTRUCTIONS, 1000)
    assert device.limit(ptxi.Limit.INSTRUCTIONS) == 1000
    with pytest.raises(ptxi.LaunchError) as e:
        mod.forever[1, 1]()
    assert e.value.report.fault == ptxi.Fault.BUDGET
    with device.counting() as count:
        mod.nothing[3, 32]()
        assert (count().launches, count().blocks, count().threads) == (1, 3, 96)


PRINTS = HEAD + '''
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[8] = { 104, 105, 10, 0 };
.entry hi() { .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, format; cvta.global.u64 %rd, %rd;
  { .param .b64 a0; .param .b64 a1; .param .b32 r0; st.param.b64 [a0], %rd; st.param.b64 [a1], %rd;
    call.uni (r0), vprintf, (a0, a1); ld.param.b32 %r, [r0]; } ret; }'''


def test_what_kernels_print_goes_to_python(ptxi, capsys):
    mod = ptxi.loads(PRINTS)
    mod.hi[1, 2]()
    assert capsys.readouterr().out == 'hi\nhi\n'
    heard = []
    ptxi.current().output = heard.append
    mod.hi[1, 1]()
    assert ''.join(heard) == 'hi\n' and capsys.readouterr().out == ''


CALLER = HEAD + '''
.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .u32 offset;
.visible .entry k(.param .u64 out, .param .u32 x)
{ .reg .b64 %rd; .reg .b32 %r<3>; ld.param.u64 %rd, [out]; ld.param.u32 %r1, [x];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a); ld.param.b32 %r1, [b]; }
  ld.global.u32 %r2, [offset]; add.u32 %r1, %r1, %r2; st.global.u32 [%rd], %r1; }'''
CALLED = HEAD + '''
.visible .global .u32 offset = 100;
.visible .func (.param .b32 r) twice(.param .b32 x)
{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }'''


def test_linking(ptxi, tmp_path):
    out = np.zeros(1, 'u4')
    mod = ptxi.links([CALLER, CALLED])
    mod.k[1, 1](out, 21)
    assert out[0] == 142 and mod.variable('offset', 'u4').tolist() == [100]
    for name, text in ('a.ptx', CALLER), ('b.ptx', CALLED):
        (tmp_path / name).write_text(text)
    mod = ptxi.link([tmp_path / 'a.ptx', tmp_path / 'b.ptx'])
    mod.k[1, 1](out, 1)
    assert out[0] == 102 and mod.name.endswith('b.ptx')


def test_linking_says_what_does_not_fit(ptxi):
    with pytest.raises(ptxi.ModuleError, match=r"two.ptx:\d+:\d+: error: .*twice"):
        ptxi.links([CALLED, CALLED], ['one.ptx', 'two.ptx'])
    with pytest.raises(ptxi.ModuleError, match='bad.ptx:4:'):
        ptxi.links([CALLER, HEAD + 'nonsense'], ['a.ptx', 'bad.ptx'])
    undefined = ptxi.links([CALLER])
    with pytest.raises(ptxi.LaunchError, match='twice'):
        undefined.k[1, 1](np.zeros(1, 'u4'), 1)


def test_dialects(ptxi):
    text = (HEAD + '.entry k(.param .u64 p) { .reg .b64 %p; .reg .f64 %a; ld.param.u64 %p, [p];\n'
            'rcp.approx.f64 %a, 0d4000000000000000; st.global.f64 [%p], %a; }')
    x = np.zeros(1)
    ptxi.loads(text, dialect=ptxi.Dialect.OCELOT).k[1, 1](x)
    assert x[0] == 0.5
    ptxi.loads(text, device=ptxi.Device(dialect=ptxi.Dialect.OCELOT + ptxi.Dialect.ANY_WIDTH))
    with pytest.raises(ptxi.ModuleError, match='requires .ftz'):
        ptxi.loads(text)


def test_schedule(ptxi):
    device = ptxi.current()
    for order in ('fair', 7, 2 ** 64 - 2, 'run'):
        device.schedule = order
        assert device.schedule == order
    device.schedule = 0
    assert device.schedule == 'run'
    with pytest.raises(ValueError, match="unknown schedule 'greedy'; accepted: run, fair, or an integer"):
        device.schedule = 'greedy'
    with pytest.raises(ValueError, match='out of range'):
        device.schedule = -1


def test_tier(ptxi):
    device = ptxi.current()
    before = device.tier
    for tier in ('auto', 'native', 'interpreter'):
        device.tier = tier
        assert device.tier == tier
    with pytest.raises(ValueError, match="unknown tier 'fast'; accepted: auto, interpreter, native"):
        device.tier = 'fast'
    device.tier = before


def test_a_closed_device_is_not_taken_for_another(ptxi):
    device = ptxi.Device(workers=1)
    device.close()
    with ptxi.Device(workers=2) as other:
        ptxi.load(KERNELS)
        for use in (lambda: device.workers, lambda: device.counting().__enter__(),
                    lambda: device.limit(ptxi.Limit.STACK_SIZE)):
            with pytest.raises(ValueError, match='the device is closed'):
                use()
        assert other.workers == 2


def test_numbers_are_not_cut_off(ptxi):
    device = ptxi.current()
    shared = ptxi.FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
    for use in (lambda: ptxi.Device(workers=(1 << 32) + 1),
                lambda: device.set_limit(ptxi.Limit.INSTRUCTIONS, (1 << 64) + 1),
                lambda: ptxi.load(KERNELS).add.set_attribute(shared, 1 << 32)):
        with pytest.raises(ValueError, match='out of range'):
            use()


def test_names_with_zero_bytes(ptxi):
    mod = ptxi.load(KERNELS)
    for use in (lambda: ptxi.loads('', name='a\0b'), lambda: ptxi.Device('sm_90\0'), lambda: mod.variable('counter\0'),
                lambda: mod.dump('add\0')):
        with pytest.raises(ValueError, match='zero byte'):
            use()
    with pytest.raises(TypeError):
        ptxi.loads(5)
    with pytest.raises(TypeError):
        ptxi.load(1)
    for make in (lambda: ptxi.loads('', device=5), lambda: ptxi.Buffer(4, 'u4', 5), lambda: ptxi.Stream(5)):
        with pytest.raises(TypeError, match='5 is not a ptxi.Device'):
            make()
