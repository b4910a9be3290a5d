#!/usr/bin/env python3
"""Compares the modules accepted by the front end with those accepted by ptxas.

    modules.py [--ptxas PTXAS] [--front-end VERDICTS] [--count N] [--changes N] [--only WORD] [--jobs N] [--store FILE]
               [--seed N] [--record FILE] [--show-known]

Each test is one of the modules below, for a random target and PTX version, with --changes mutations. A mutation
removes, duplicates or moves a token, or replaces it with one of the same kind: directive, type, number or name.
legality.known lists intended differences. Exits with status 1 for other differences."""

import argparse
import random
import re
import sys

import ptxas

VERSIONS = [63, 64, 65, 70, 71, 74, 75, 76, 77, 78, 80, 81, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94, 95]  # times 10
WORDS = {  # interchangeable words
    'directive': '.visible .extern .weak .common .entry .func .global .const .shared .local .reg .param .tex .align '
    '.attribute .pragma .maxntid .reqntid .minnctapersm .maxnctapersm .maxnreg .noreturn .explicitcluster '
    '.reqnctapercluster .maxclusterrank .blocksareclusters .abi_preserve .abi_preserve_control .ptr .alias .loc .file '
    '.minperctamemory .loc_intermediate .section .callprototype .calltargets .branchtargets .version .target '
    '.address_size .unified'.split(),
    'type': '.b8 .b16 .b32 .b64 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .f32 .f64 .pred .texref .samplerref '
    '.surfref .v2 .v4 .b128 .bf16 .v8'.split(),
    'number': '0 1 2 3 4 8 16 17 32 64 128 1024 65536 2147483648 4294967296 -1 0x10 0X1F 010 0b11 0B1 8U 0xFFU 1.5 1e3 '
    '.5 5. 1.5e-3 0f3F800000 0F3F800000 0d3FF0000000000000 0f3F80000 0x 08 0b2 '
    '18446744073709551615 18446744073709551616 9223372036854775808 2147483647 -2147483648 1u WARP_SZ'.split(),
    'operator': '+ - * / % & | ^ << >> && || == != < > <= >= ! ~ ? : ( ) , ; { } [ ] = @ .'.split(),
    'cast': ['(.u64)', '(.s64)', 'generic', 'mask', '0xFF', '0xFF00', '-', '~', '!', '0xFF000000', '0xFFFF', '0x0F'],
    'name': ['zz', '%r1', '_', 'nosuch', 'a', 'b', 'f', 'k', 'L'],
}
CLASS = {w: c for c in ('type', 'operator', 'directive', 'number', 'cast') for w in WORDS[c]}
TOKEN = re.compile(
    r'"[^"]*"|0[fFdD][0-9a-fA-F]+|0[xX][0-9a-fA-F]*[uU]?|0[bB]\d*[uU]?'
    r'|\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+|\d+(?:[eE]\d+)?[uU]?'
    r'|[.%@]?[A-Za-z_$][\w$]*(?:\.[\w:]+)*|<<|>>|&&|\|\||[=!<>]=|::|\S'
)

# The modules, separated by empty lines.
SEEDS = '''
.global .b32 a = 1; .global .b32 b[4] = {1, 2, 3}; .const .align 8 .b8 c[8] = {0xFF, 010, 0b11, 4U, -1};
.visible .entry k() { ret; }

.global .u32 a = (1 + 2) * 3 - 4 / 2 % 3; .global .s64 b = 1 << 40 | 7 & 3 ^ 9; .global .u64 c = ~0 >> 3;
.global .s32 d = 1 < 2 ? 3 : 4 == 4 && 1 || !0; .visible .entry k() { ret; }

.global .f32 a = 1.5; .global .f64 b[2] = {0d3FF0000000000000, 2.5};
.global .f32 c[2][2] = {{1.0, 0f3F800000}, {1e3, .5}}; .visible .entry k() { ret; }

.global .b32 a; .global .u64 b = a; .global .u64 c[2] = {a + 4, generic(a)}; .const .u64 d = generic(a) + 8;
.visible .entry k() { ret; }

.global .b8 a[8]; .global .u8 b[8] = {0xFF(a), 0xFF00(a), 0xFF0000(a), 0xFF000000(a), 0, 1};
.global .u8 d[2][2] = {{0xFF(a), 3}, {0xFF00(generic(a)), 1}}; .visible .entry k() { ret; }

.func f() { ret; } .func k2(); .global .u8 b[4] = {0xFF(f), 0xFF00(f), 3}; .global .u64 t[2] = {f, k2};
.func k2() { ret; } .visible .entry k() { ret; }

.shared .align 16 .b8 s[128]; .extern .shared .align 8 .b8 d[];
.visible .entry k() { .shared .b32 l[4]; .reg .b32 r; mov.u32 r, s; st.shared.u32 [l], r; mov.u32 r, d; ret; }

.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .b8 q[12], .param .align 8 .b8 s[16])
    .maxntid 32, 2, 1 .minnctapersm 2 { .reg .b64 rd<4>; ld.param.u64 rd1, [p]; ret; }

.visible .entry k() .reqntid 64, 1, 1 .maxnreg 64 { ret; } .weak .entry w() .maxntid 128 { ret; } .extern .entry e();

.visible .entry k() .reqnctapercluster 2, 1, 1 .maxntid 64 { ret; }
.entry m() .explicitcluster .maxclusterrank 8 { ret; }
.entry n() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }

.func (.param .b32 r) f(.param .b32 a, .param .align 8 .b8 s[16]) { .reg .b32 x; ld.param.b32 x, [a];
    st.param.b32 [r+0], x; ret; }
.visible .entry k() { .reg .b32 y; { .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 r; st.param.b32 [a], 1;
    call.uni (r), f, (a, s); ld.param.b32 y, [r]; } ret; }

.func (.reg .b32 r) f(.reg .b32 a, .reg .f32 b); .func (.reg .b32 r) f(.reg .b32 a, .reg .f32 b) { mov.b32 r, a; ret; }
.visible .entry k() { .reg .b32 y; call (y), f, (y, 0f3F800000); ret; }

.extern .func (.param .b32 r) f(.param .b64 a);
.visible .func g() { .param .b64 a; .param .b32 r; st.param.b64 [a], 0; call (r), f, (a); ret; }
.visible .entry k() { call g; ret; }

.func f(.param .b32 a) .noreturn { exit; } .weak .func w() { ret; } .visible .func v(.param .b32 a) .noreturn;
.func v(.param .b32 a) .noreturn { exit; } .visible .entry k() { .param .b32 a; st.param.b32 [a], 1; call f, (a); ret; }

.func f() { ret; } .func h() { ret; }
.visible .entry k() { .reg .u64 g; mov.u64 g, f; T: .calltargets f, h; call g, T; P: .callprototype _ (); call g, P;
    ret; }

.func (.param .b32 r) f(.param .b32 a) { st.param.b32 [r], 1; ret; }
.visible .entry k() { .reg .u64 g; .param .b32 a; .param .b32 r; mov.u64 g, f; st.param.b32 [a], 2;
    P: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), g, (a), P; ret; }

.visible .entry k() { .reg .u64 g; .param .align 4 .b8 a[8]; mov.u64 g, 0;
    P: .callprototype _ (.param .align 4 .b8 _[8]) .noreturn; st.param.b32 [a], 2; call g, (a), P; ret; }

.visible .entry k() { .reg .b32 i; mov.u32 i, %tid.x; T: .branchtargets A, B, C; brx.idx i, T; A: add.u32 i, i, 1;
    B: ret; C: exit; }

.visible .entry k() { .reg .pred p; .reg .b32 r; L: setp.eq.u32 p, r, 1; @p bra L; @!p bra.uni M; { .reg .b32 r;
    N: mov.u32 r, 2; @p bra N; } M: ret; }

.visible .entry k() { .reg .b32 a; { .reg .b32 a, b<4>; mov.b32 a, 1; add.u32 b1, a, b0; } { .local .b32 b; .reg .f32 c;
    mov.f32 c, 1.5; st.local.f32 [b], c; } ret; }

.const .align 16 .f32 c[8];
.visible .entry k() { .reg .v4 .f32 v; .reg .v2 .b32 w; .reg .f32 x; mov.f32 x, v.x; mov.f32 v.w, v.g;
    add.f32 v.r, x, v.a; mov.b32 w.x, w.y; ld.const.v4.f32 v, [c]; ret; }

.file 1 "a.cu" .file 2 "b.cu", 123456, 789 .visible .entry k() { .loc 1 10 5 .reg .b32 r; mov.u32 r, 1;
    .loc 2 11 0 ret; }

.file 1 "a.cu" .visible .entry k() { .loc 1 10 5 ret; .loc 1 12 0, function_name I, inlined_at 1 10 5 ret; }
.section .debug_str { I: .b8 102, 0 }

.section .debug_abbrev { .b8 1, 17 .b8 0 }
.section .debug_info { .b32 12 .b16 2 .b32 .debug_abbrev .b8 8, 1 .b64 L0 .b64 a+4 .b32 .debug_info+3 } .global .b32 a;
.visible .entry k() { L0: ret; }

.section .debug_str { S: .b8 1, 2, 3 T: .b8 0 } .section .debug_info { .b32 T-S .b32 S .b64 .debug_str+1 .b16 -1 }
.visible .entry k() { ret; }

.section .debug_loc { .b64 L1 .b64 L2-L1 .b64 k .b8 1 } .visible .entry k() { L1: bar.sync 0; L2: ret; }

.pragma "nounroll"; .visible .entry k() .pragma "nounroll";
{ .pragma "nounroll"; .pragma "used_bytes_mask 1"; .pragma "enable_smem_spilling"; ret; }

.visible .entry k() { .pragma "enable_smem_spilling"; .pragma "frequency 100"; L: .pragma "nounroll", "unroll 2";
    bra L; }

.func f() { ret; } .func g(); .alias g, f; .visible .func h(); .alias h, f; .visible .entry k() { call g; call h; ret; }

.func (.param .b32 r) f(.param .b32 a) { ret; } .visible .func (.param .b32 r) g(.param .b32 a); .alias g, f;
.visible .entry k() { ret; }

.extern .global .b32 a; .visible .global .b32 a; .visible .global .b32 b = 4; .weak .const .b32 c = 1;
.common .global .align 8 .b64 d; .extern .const .b32 e[];
.visible .entry k() { .reg .b32 r; ld.global.b32 r, [a]; ld.const.b32 r, [e+4]; ret; }

.global .attribute(.managed) .b32 a; .visible .global .attribute(.managed) .align 16 .b8 b[32];
.global .attribute(.unified(1, 2)) .b32 c; .visible .entry k() { ret; }

.func .attribute(.unified(1, 2)) f() { ret; } .visible .global .attribute(.managed, .unified(3, 4)) .b32 c = 1;
.visible .entry k() { ret; }

.global .texref t; .global .surfref u[2]; .global .texref v = { addr_mode_0 = wrap, filter_mode = linear };
.visible .entry k() { .reg .f32 f<8>; .reg .b32 x; tex.1d.v4.f32.s32 {f0, f1, f2, f3}, [t, x]; ret; }

.visible .entry k(.param .texref p, .param .u64 q, .param .surfref r) { .reg .f32 f<8>; .reg .b32 x;
    tex.1d.v4.f32.s32 {f0, f1, f2, f3}, [p, x]; ret; }

.global .texref t =
    { width = 4, height = 2, depth = 1, channel_data_type = 1, channel_order = 2, normalized_coords = 1 };
.global .surfref u = { width = 4, memory_layout = 1 }; .visible .entry k() { ret; }

.visible .entry k(.param .u64 p) { .reg .b64 d<4>; .reg .b32 r<4>; .reg .pred q; ld.param.u64 d0, [p];
    ld.global.v2.b32 {r0, r1}, [d0+8]; st.global.b32 [d0+-4], r1; setp.ne.and.s32 q|_, r0, 5, !q;
    @q st.global.b32 [d0+16], {r1}; ret; }

.visible .entry k() { .reg .b32 r; .reg .b64 d; .reg .f32 f; .reg .f64 e; mov.b32 r, 0x7fffffff; mov.s32 r, -5;
    mov.u64 d, 0xFFFFFFFFFFFFFFFF; mov.f32 f, 0f7F800000; mov.f64 e, 1.0e300; add.f32 f, f, 2.0;
    mov.b32 r, (1 << 4) + 3; ret; }

.const .b32 c[4] = {1, 2, 3, 4}; .global .b32 g[2][3] = {{1, 2}, {3}};
.visible .entry k() { .reg .b64 d; .reg .b32 r; mov.u64 d, g; add.u64 d, d, 4; ld.global.b32 r, [g+8];
    ld.const.b32 r, [c]; cvta.const.u64 d, c; mov.u64 d, c; mov.u64 d, g+4; ret; }

.visible .entry k() { .reg .b32 r; .shared .align 8 .b64 m[2]; .local .align 16 .b8 l[64]; .reg .b64 d; mov.u64 d, l;
    cvta.local.u64 d, d; mbarrier.init.shared.b64 [m+8], 1; ld.local.b32 r, [l+4]; st.shared.b64 [m], d; ret; }

.global .v4 .f32 a = {1.0, 2.0, 3.0, 4.0}; .global .v2 .b32 b[2] = {{1, 2}, {3, 4}}; .shared .v4 .b32 s[4];
.visible .entry k() { .reg .f32 f<4>; ld.global.v4.f32 {f0, f1, f2, f3}, [a]; ret; }

.global .b32 a<3>; .visible .entry k() { .reg .b32 r<2>, s, t<3>; ld.global.b32 r1, [a2]; add.u32 s, t2, r0; ret; }

.visible .entry k(.param .b32 a, .param .f64 b, .param .u16 c[3], .param .align 16 .f32 v[4]) { .reg .b32 r;
    .reg .f64 d; ld.param.b32 r, [a]; ld.param.f64 d, [b]; ld.param.u16 r, [c+2]; ld.param.f32 r, [v+4]; mov.b64 d, a;
    ret; }

.func f() .abi_preserve 16 .abi_preserve_control 2 { ret; } .visible .entry k() { call f; ret; }

.func (.reg .b32 r, .reg .b32 s) f(.param .b32 a) { mov.b32 r, 1; mov.b32 s, 2; ret; }
.func (.param .align 16 .b8 r[32]) g() { st.param.v4.b32 [r+16], {1, 2, 3, 4}; ret; }
.visible .entry k() { .param .align 16 .b8 r[32]; call (r), g; ret; }

.visible .entry k() { .reg .b32 r; .reg .pred p; mov.u32 r, %laneid; mov.u32 r, %ctaid.y; mov.u32 r, WARP_SZ;
    mov.u32 r, %ntid.x; .reg .b64 d; mov.b32 r, %envreg3; mov.b32 r, %clock; mov.b64 d, %globaltimer;
    setp.lt.u32 p, r, 3; @p exit; ret; }

.entry m() .minperctamemory 2048 .maxntid 32 { .reg .b64 rd<2>; .reg .b32 r<2>; mov.u64 rd0, %perctamemoryoffset;
mov.u32 r0, %perctamemorysize; ret; }

.file 1 "a.cu" .file 2 "b.ir" .visible .entry k() { .reg .b32 r<2>; .loc 1 2 3 .loc_intermediate 2 4 0 mov.u32 r1, 0;
.loc 1 3 3 .loc_intermediate 2 5 0 ret; }
'''
SEEDS = [' '.join(module.split()) for module in SEEDS.split('\n\n')]


def expression(rng, depth=3):
    """Returns a random constant expression."""
    kind = rng.randrange(10)
    if kind < 4 or not depth:
        return rng.choice(WORDS['number'])
    if kind < 7:
        return '%s %s %s' % (
            expression(rng, depth - 1),
            rng.choice('+ - * / % & | ^ << >> && || == != < > <= >='.split()),
            expression(rng, depth - 1),
        )
    if kind == 7:
        return '%s%s' % (rng.choice(['-', '~', '!', '+', '(.s64)', '(.u64)', '- -']), expression(rng, depth - 1))
    if kind == 8:
        return '(%s)' % expression(rng, depth - 1)
    return '%s ? %s : %s' % (expression(rng, depth - 1), expression(rng, depth - 1), expression(rng, depth - 1))


def mutate(tokens, rng):
    """Replaces, removes, duplicates or moves one token, or overwrites it with another token of the module."""
    k = rng.randrange(len(tokens))
    while CLASS.get(tokens[k]) == 'operator' and rng.random() < .8:  # most operator mutations give no valid PTX
        k = rng.randrange(len(tokens))
    t = tokens[k]
    kind = rng.choice((0,) * 12 + tuple(range(6, 10)) + (10, 11) * 3)
    names = [x for x in tokens if re.match(r'[%A-Za-z_]', x)]
    if kind == 0:
        c = CLASS.get(t) or (
            'number'
            if t[0].isdigit()
            else 'name' if re.match(r'[%A-Za-z_]', t) else 'directive' if t[0] == '.' else 'operator'
        )
        if c == 'number' and rng.random() < .3:
            new = [expression(rng)]
        elif c == 'name':
            new = [rng.choice(names + WORDS['name'])]
        else:
            new = [rng.choice(WORDS[c])]
        return tokens[:k] + new + tokens[k + 1:]
    if kind == 6:
        return tokens[:k] + tokens[k + 1:]
    if kind == 7:
        return tokens[:k] + [t] + tokens[k:]
    if kind == 8:
        return tokens[:k] + tokens[k:k + 2][::-1] + tokens[k + 2:]
    if kind == 9:
        return tokens[:k] + [rng.choice(rng.choice(list(WORDS.values())))] + tokens[k:]
    statements = [i for i, x in enumerate(tokens) if x in ';{}'] or [k]
    if kind == 10 and len(statements) > 2:  # move or duplicate a statement
        i = rng.randrange(len(statements) - 1)
        part = tokens[statements[i] + 1:statements[i + 1] + 1]
        rest = tokens[:statements[i] + 1] + tokens[(statements[i] if rng.random() < .5 else statements[i + 1]) + 1:]
        at = rng.choice([i for i, x in enumerate(rest) if x in ';{}'] or [0]) + 1
        return rest[:at] + part + rest[at:]
    i = rng.choice(statements)
    return tokens[:i + 1] + TOKEN.findall(rng.choice(rng.choice(SEEDS).split(';')) + ';') + tokens[i + 1:]


def write(tokens):
    return ' '.join(tokens).replace(' ;', ';').replace(' ,', ',')


def random_module(seeds, versions, targets, changes, rng):
    tokens = TOKEN.findall(rng.choice(seeds))
    for _ in range(changes):
        tokens = mutate(tokens, rng)
    target = rng.choice(targets)
    version = rng.choice(versions if rng.random() < 0.3 else versions[-1:])
    version = max(version, ptxas.TARGETS[target])
    option = rng.choice([''] * 8 + [', texmode_unified', ', texmode_independent', ', debug'])
    return '.version %d.%d .target %s%s .address_size 64 %s' % (*divmod(version, 10), target, option, write(tokens))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ptxas.add_arguments(a)
    a.add_argument('--count', type=int, default=400)
    a.add_argument('--changes', type=int, default=1)
    a.add_argument('--only', help='a word that the modules must have')
    a.add_argument('--record', metavar='FILE', help="append ptxas's verdicts, as verdicts.c reads them")
    args = a.parse_args()
    rng = random.Random(args.seed)
    newest = ptxas.newest_version(args.ptxas)
    seeds = [s for s in SEEDS if not args.only or args.only in s]
    versions = [v for v in VERSIONS if v <= newest]
    targets = [t for t, first in ptxas.TARGETS.items() if first <= newest]
    modules = [random_module(seeds, versions, targets, args.changes, rng) for _ in range(args.count)]
    report = ptxas.Report(args)
    verdicts = report.compare_modules(modules, ptxas.Store(args.store), ptxas.Progress('modules', 0))
    if args.record:
        with open(args.record, 'a') as f:
            for m, (theirs, _) in verdicts.items():
                if theirs != ptxas.NONE:
                    f.write('module 0 %s %s\n' % (theirs, m))
    report.print_counts('modules')
    sys.exit(report.total['others'] > 0)


main()
