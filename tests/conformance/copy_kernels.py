"""Kernels for copies.py. Each gets a tensor map, `data`, `out` and 16 words: the coordinates, the offsets of im2col,
the place of the box in shared memory, and the number of bytes that are expected."""

SMEM = 16384
TAIL = 32  # after a CTA's part of `out`: a flag for the end of the wait, then the mbarrier (not recorded)
OUT = SMEM + TAIL

FRAME = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 pmap[128], .param .u64 pdata, .param .u64 pout,
.param .align 4 .b8 args[64])%(cluster)s
{
.reg .b32 %%t, %%nt, %%s, %%m, %%c<5>, %%off, %%n, %%cta, %%w<4>, %%i<16>, %%x<4>, %%box; .reg .b16 %%o<3>, %%mask;
.reg .b64 %%map, %%data, %%out, %%at, %%d<8>; .reg .pred %%one, %%q, %%p, %%r;
.shared .align 1024 .b8 s[%(smem)d]; .shared .align 128 .b8 copy[128]; .shared .align 8 .b64 m;
mov.b64 %%map, pmap; cvta.param.u64 %%map, %%map; ld.param.u64 %%data, [pdata]; ld.param.u64 %%out, [pout];
cvta.to.global.u64 %%data, %%data; cvta.to.global.u64 %%out, %%out;
ld.param.b32 %%c0, [args]; ld.param.b32 %%c1, [args+4]; ld.param.b32 %%c2, [args+8]; ld.param.b32 %%c3, [args+12];
ld.param.b32 %%c4, [args+16];
ld.param.b16 %%o0, [args+20]; ld.param.b16 %%o1, [args+24]; ld.param.b16 %%o2, [args+28]; ld.param.b32 %%off, [args+32];
ld.param.b32 %%n, [args+36];
ld.param.b16 %%mask, [args+40]; ld.param.b32 %%i10, [args+44]; ld.param.b32 %%i11, [args+48];
ld.param.b32 %%i12, [args+52];
mov.u32 %%t, %%tid.x; mov.u32 %%nt, %%ntid.x; mov.u32 %%s, s; mov.u32 %%m, m; add.u32 %%box, %%s, %%off;
mov.u32 %%cta, %%ctaid.x; mul.wide.u32 %%at, %%cta, %(out)d; add.u64 %%out, %%out, %%at; setp.eq.u32 %%one, %%t, 0;
mul.lo.u32 %%i0, %%t, 16;
FILL: setp.ge.u32 %%p, %%i0, %(smem)d; @%%p bra FILLED; cvt.u64.u32 %%at, %%i0; add.u64 %%at, %%at, %%out;
add.u32 %%i1, %%i0, %%s;
ld.global.v4.b32 {%%w0, %%w1, %%w2, %%w3}, [%%at]; st.shared.v4.b32 [%%i1], {%%w0, %%w1, %%w2, %%w3};
mad.lo.u32 %%i0, %%nt, 16, %%i0; bra FILL;
FILLED: @%%one mbarrier.init.shared.b64 [%%m], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;
mov.u32 %%x0, 1;
%(body)s
DONE: bar.sync 0;
mul.lo.u32 %%i0, %%t, 16;
DUMP: setp.ge.u32 %%p, %%i0, %(smem)d; @%%p bra DUMPED; cvt.u64.u32 %%at, %%i0; add.u64 %%at, %%at, %%out;
add.u32 %%i1, %%i0, %%s;
ld.shared.v4.b32 {%%w0, %%w1, %%w2, %%w3}, [%%i1]; st.global.v4.b32 [%%at], {%%w0, %%w1, %%w2, %%w3};
mad.lo.u32 %%i0, %%nt, 16, %%i0; bra DUMP;
DUMPED: @!%%one bra END; st.global.b32 [%%out+%(smem)d], %%x0; ld.shared.b64 %%d0, [%%m];
st.global.b64 [%%out+%(smem)d+16], %%d0;
END: %(end)s ret;
}
"""
MEET = 'barrier.cluster.arrive; barrier.cluster.wait;'


def kernel(body, ctas=1, smem=SMEM):
    cluster = '' if ctas == 1 else '\n.explicitcluster .reqnctapercluster %d, 1, 1' % ctas
    return FRAME % dict(
        body=body if ctas == 1 else MEET + '\n' + body,
        cluster=cluster,
        smem=smem,
        out=smem + TAIL,
        end='' if ctas == 1 else MEET,
    )


# The wait is limited. The recording shows if fewer bytes than expected arrive.
WAIT = """mov.u32 %i2, 0;
TRY: mbarrier.try_wait.parity.shared.b64 %q, [%m], 0, 20000; @%q bra CAME; add.u32 %i2, %i2, 1; setp.lt.u32 %p, %i2, 20;
@%p bra TRY; mov.u32 %x0, 0;
CAME:
"""
EXPECT = '@%one mbarrier.arrive.expect_tx.shared.b64 _, [%m], %n;\n'
GROUP = '@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;\n'


def coords(rank):
    return '{' + ', '.join('%%c%d' % d for d in range(rank)) + '}'


def offsets(rank):
    return '{' + ', '.join('%%o%d' % d for d in range(rank - 2)) + '}'


def load(rank, columns=False, ctas=1, where='%map', before='', hint=False):
    mode = 'im2col' if columns else 'tile'
    policy = 'createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;\n' if hint else ''
    copy = (
        '@%%one cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes%s%s '
        '[%%box], [%s, %s], [%%m]%s%s%s;\n'
        % (
            rank,
            mode,
            '.multicast::cluster' if ctas > 1 else '',
            '.L2::cache_hint' if hint else '',
            where,
            coords(rank),
            ', ' + offsets(rank) if columns else '',
            ', %mask' if ctas > 1 else '',
            ', %d1' if hint else '',
        )
    )
    if ctas > 1:  # CTA i10 sends to all CTAs in the mask; other CTAs do not wait
        sender = 'setp.eq.and.u32 %r, %cta, %i10, %one;\n'
        waits = (
            'cvt.u32.u16 %i3, %mask; shr.u32 %i3, %i3, %cta; and.b32 %i3, %i3, 1; setp.eq.u32 %p, %i3, 0; '
            '@%p bra CAME;\n'
        )
        return kernel(before + policy + EXPECT + MEET + sender + copy.replace('@%one', '@%r') + waits + WAIT, ctas)
    return kernel(before + policy + EXPECT + copy + WAIT)


def store(rank, op='', columns=False):
    mode = 'im2col_no_offs' if columns else 'tile'
    name = (
        'cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.%s.bulk_group' % (rank, op, mode)
        if op
        else 'cp.async.bulk.tensor.%dd.global.shared::cta.%s.bulk_group' % (rank, mode)
    )
    return kernel('@%%one %s [%%map, %s], [%%box];\n' % (name, coords(rank)) + GROUP)


def prefetch(rank, columns=False):
    mode = 'im2col' if columns else 'tile'
    return kernel(
        '@%%one prefetch.tensormap [%%map]; @%%one cp.async.bulk.prefetch.tensor.%dd.L2.global.%s [%%map, %s]%s; '
        '@%%one cp.async.bulk.prefetch.L2.global [%%data], 256;\n'
        % (rank, mode, coords(rank), ', ' + offsets(rank) if columns else '')
    )


# ---- changed maps: changed in shared memory, then copied to global memory after the data's 64 KiB

COPY_MAP = """mov.u32 %i4, copy; mov.u32 %i5, 0;
setp.ge.u32 %p, %t, 16; @%p bra COPIED; mul.lo.u32 %i5, %t, 8; cvt.u64.u32 %d3, %i5; add.u64 %d3, %d3, %map;
add.u32 %i6, %i4, %i5; ld.b64 %d4, [%d3]; st.shared.b64 [%i6], %d4;
COPIED: bar.sync 0; add.u64 %d5, %data, 65536;
"""
PUBLISH = """bar.sync 0; setp.ge.u32 %p, %t, 32; @%p bra PUBLISHED;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d5], [%i4], 128;
PUBLISHED: bar.sync 0; fence.proxy.tensormap::generic.acquire.gpu [%d5], 128; bar.sync 0;
"""
TO_GLOBAL = """@%p bra GLOBAL; add.u64 %d3, %d5, 0; cvt.u64.u32 %d4, %i5; add.u64 %d3, %d3, %d4;
ld.shared.b64 %d4, [%i6]; st.global.b64 [%d3], %d4;
GLOBAL: bar.sync 0;
"""
PUBLISH_GLOBAL = """@%one fence.proxy.tensormap::generic.release.gpu; bar.sync 0;
fence.proxy.tensormap::generic.acquire.gpu [%d5], 128; bar.sync 0;
"""


def replaced(rank, changes, in_global=False, columns=False):
    """changes: (field, ordinal or None, value). Address values are relative to `data`."""
    text = COPY_MAP + (TO_GLOBAL if in_global else '')
    at = ('%d5', 'global') if in_global else ('%i4', 'shared::cta')
    for field, ordinal, value in changes:
        wide = field in ('global_address', 'global_stride')
        if field == 'global_address':
            text += 'add.u64 %%d6, %%data, %d;\n' % value
            value = '%d6'
        text += '@%%one tensormap.replace.tile.%s.%s.b1024.%s [%s], %s%s;\n' % (
            field,
            at[1],
            'b64' if wide else 'b32',
            at[0],
            '' if ordinal is None else '%d, ' % ordinal,
            value,
        )
    text += PUBLISH_GLOBAL if in_global else PUBLISH
    return load(rank, columns, where='%d5', before=text)


# ---- without tensors

def cp_async(size, sizes):
    """Each thread copies `size` bytes. sizes: '' all, 'src' as many as its index, 'ignore' alternately all or none."""
    text = (
        'rem.u32 %%i3, %%t, %d; and.b32 %%i4, %%t, 1; setp.eq.u32 %%p, %%i4, 0; mul.lo.u32 %%i5, %%t, %d; '
        'add.u32 %%i6, %%box, %%i5; cvt.u64.u32 %%d1, %%i5; add.u64 %%d1, %%d1, %%data;\n'
        % (size + 1, size)
    )
    tail = {'': '', 'src': ', %i3', 'ignore': ', %p'}[sizes]
    text += 'cp.async.%s.shared.global [%%i6], [%%d1], %d%s; cp.async.commit_group;\n' % (
        'cg' if size == 16 else 'ca',
        size,
        tail,
    )
    text += 'cp.async.ca.shared.global [%i6+4096], [%d1+4096], 4; cp.async.commit_group; cp.async.wait_group 1;\n'
    return kernel(text + 'cp.async.wait_all;\n')


def cp_async_arrive(noinc):
    text = (
        '@%%one mbarrier.init.shared.b64 [%%m], %s; bar.sync 0; mul.lo.u32 %%i5, %%t, 16; add.u32 %%i6, %%box, %%i5; '
        'cvt.u64.u32 %%d1, %%i5; add.u64 %%d1, %%d1, %%data;\n'
        % ('%nt' if noinc else '%nt')
    )
    text += 'cp.async.cg.shared.global [%%i6], [%%d1], 16; cp.async.mbarrier.arrive%s.shared.b64 [%%m];\n' % (
        '.noinc' if noinc else ''
    )
    return kernel(text + ('' if noinc else 'mbarrier.arrive.shared.b64 _, [%m];\n') + WAIT)


REMOTE = 'xor.b32 %i3, %cta, 1; mapa.shared::cluster.u32 %i4, %box, %i3; mapa.shared::cluster.u32 %i5, %m, %i3;\n'
BULK = {
    'load': (
        EXPECT
        + '@%one cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%box], [%data], %n, [%m];\n'
        + WAIT,
        1,
    ),
    'load-cluster': (
        EXPECT
        + '@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%box], [%data], %n, [%m];\n'
        + WAIT,
        1,
    ),
    'load-remote': (
        EXPECT
        + MEET
        + REMOTE
        + 'cvt.u64.u32 %d1, %cta; mad.lo.u64 %d1, %d1, 8192, %data; '
          '@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%i4], [%d1], %n, [%i5];\n'
        + WAIT,
        2,
    ),
    'store': ('@%one cp.async.bulk.global.shared::cta.bulk_group [%data], [%box], %n;\n' + GROUP, 1),
    'remote': (
        EXPECT
        + MEET
        + REMOTE
        + '@%one cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes '
          '[%i4+8192], [%box], %n, [%i5];\n'
        + WAIT,
        2,
    ),
}


def bulk(kind):
    return kernel(*BULK[kind])


def bulk_multicast(ctas):
    sender = 'setp.eq.and.u32 %r, %cta, %i10, %one;\n'
    waits = (
        'cvt.u32.u16 %i3, %mask; shr.u32 %i3, %i3, %cta; and.b32 %i3, %i3, 1; setp.eq.u32 %p, %i3, 0; @%p bra CAME;\n'
    )
    return kernel(
        EXPECT
        + MEET
        + sender
        + '@%r cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster '
          '[%box], [%data], %n, [%m], %mask;\n'
        + waits
        + WAIT,
        ctas,
    )


def bulk_reduce(op, type, remote):
    noftz = '.noftz' if op == 'add' and type in ('f16', 'bf16') else ''
    if not remote:
        return kernel(
            '@%%one cp.reduce.async.bulk.global.shared::cta.bulk_group.%s%s.%s [%%data], [%%box], %%n;\n'
            % (op, noftz, type)
            + GROUP
        )
    return kernel(
        EXPECT
        + MEET
        + REMOTE
        + '@%%one cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s.%s '
          '[%%i4+8192], [%%box], %%n, [%%i5];\n'
        % (op, type)
        + WAIT,
        2,
    )


def async_store(vec, type):
    wide = type[1:] == '64'
    regs = ['%d1', '%d2'] if wide else ['%w0', '%w1', '%w2', '%w3']
    count = int(vec[1:]) if vec else 1
    size = (8 if wide else 4) * count
    text = (
        'add.u32 %w0, %t, 100; add.u32 %w1, %t, 200; add.u32 %w2, %t, 300; add.u32 %w3, %t, 400; '
        'mov.b64 %d1, {%w0, %w1}; mov.b64 %d2, {%w2, %w3};\n'
    )
    value = '{%s}' % ', '.join(regs[:count]) if vec else regs[0]
    text += (
        'mad.lo.u32 %%i4, %%t, %d, %%i4; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes%s.%s '
        '[%%i4], %s, [%%i5];\n'
        % (size, '.' + vec if vec else '', type, value)
    )
    return kernel(EXPECT + MEET + REMOTE + text + WAIT, 2), size


def async_red(op, type):
    wide = type[1:] == '64'
    text = (
        'mad.lo.u32 %%i4, %%t, %d, %%i4; mul.lo.u32 %%w0, %%t, 0x9e3779b1; xor.b32 %%w1, %%w0, 0x5555; '
        'mov.b64 %%d1, {%%w0, %%w1};\n'
        % (8 if wide else 4)
    )
    text += 'red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%s.%s [%%i4], %s, [%%i5];\n' % (
        op,
        type,
        '%d1' if wide else '%w0',
    )
    return kernel(EXPECT + MEET + REMOTE + text + WAIT, 2), 8 if wide else 4


def sequence(ops):
    """One thread executes all operations in order. Each result is a word in shared memory."""
    return kernel('@!%one bra DONE;\n.reg .b64 %st<40>;\n' + ''.join(ops))
