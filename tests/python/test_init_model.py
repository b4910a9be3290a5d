"""Checks of uninitialised values: a result that changes when undefined bits of memory change must be reported."""
import os
import random
from typing import Any, List, Set, Tuple

import numpy as np
import pytest

ROUNDS = int(os.environ.get('PTXI_TEST_ROUNDS', '400'))

# Random operations. a, b, c: sources of 32 bits; A, B: of 64 bits; d, D: results; n: 0 to 31; x: any constant.
OPERATIONS = [
    *(f'{op} {{d}}, {{a}}, {source};' for source in ('{b}', '{x}') for op in
      ('and.b32', 'or.b32', 'xor.b32', 'add.u32', 'sub.s32', 'mul.lo.u32', 'mul.hi.u32', 'min.u32', 'max.s32')),
    *(f'{op} {{d}}, {{a}};' for op in ('not.b32', 'brev.b32', 'popc.b32', 'clz.b32', 'abs.s32', 'neg.s32')),
    *(f'{op} {{d}}, {{a}}, {{n}};' for op in ('shl.b32', 'shr.u32', 'shr.s32')),
    *(f'setp.{test} %p1, {{a}}, {{b}}; selp.b32 {{d}}, {{b}}, {{c}}, %p1;' for test in
      ('eq.u32', 'ne.u32', 'lt.u32', 'ge.s32')),
    'prmt.b32 {d}, {a}, {b}, {x};', 'bfe.u32 {d}, {a}, {n}, {n};', 'bfe.s32 {d}, {a}, {n}, {n};',
    'bfi.b32 {d}, {a}, {b}, {n}, {n};', 'shf.l.wrap.b32 {d}, {a}, {b}, {n};', 'shf.r.clamp.b32 {d}, {a}, {b}, {n};',
    'lop3.b32 {d}, {a}, {b}, {c}, {n};', 'mad.lo.s32 {d}, {a}, {b}, {c};', 'sad.u32 {d}, {a}, {b}, {c};',
    'dp4a.u32.u32 {d}, {a}, {b}, {c};', 'cvt.u16.u32 %h1, {a}; cvt.s32.s16 {d}, %h1;',
    'cvt.u16.u32 %h1, {a}; cvt.u32.u8 {d}, %h1;', 'cvt.u32.u64 {d}, {A};', 'mov.b64 {{%r1, {d}}}, {A};',
    *(f'{op} {{D}}, {{A}}, {{B}};' for op in ('and.b64', 'xor.b64', 'add.u64', 'sub.u64', 'mul.lo.u64', 'min.u64')),
    'shl.b64 {D}, {A}, {n};', 'shr.s64 {D}, {A}, {n};', 'mov.b64 {D}, {{{a}, {b}}};', 'cvt.s64.s32 {D}, {a};',
    'mul.wide.u32 {D}, {a}, {b};', 'setp.lt.s64 %p1, {A}, {B}; selp.b64 {D}, {A}, {B}, %p1;',
    # through other lanes and other memory
    'shfl.sync.bfly.b32 {d}, {a}, {n}, 31, -1;', 'shfl.sync.up.b32 {d}, {a}, {n}, 0, -1;',
    'setp.lt.u32 %p1, {a}, {b}; vote.sync.any.pred %p2, %p1, -1; selp.b32 {d}, {b}, {c}, %p2;',
    'setp.eq.u32 %p1, {a}, {b}; vote.sync.ballot.b32 {d}, %p1, -1;',
    'redux.sync.add.u32 {d}, {a}, -1;', 'redux.sync.and.b32 {d}, {a}, -1;', 'redux.sync.max.s32 {d}, {a}, -1;',
    'st.shared.b32 [%r2], {a}; bar.warp.sync -1; ld.shared.b32 {d}, [%r3]; bar.warp.sync -1;',
    'st.local.b32 [%rd5], {a}; ld.local.b32 {d}, [%rd5];', 'st.local.b32 [%rd5], {a}; ld.local.s8 {d}, [%rd5+1];',
]
HEAD = '''.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 pairs, .param .u64 results) {
.reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .pred %p<3>; .reg .b16 %h<2>;
.shared .align 4 .b8 shared[128]; .local .align 8 .b8 local[8];
ld.param.u64 %rd1, [words]; ld.param.u64 %rd2, [pairs]; ld.param.u64 %rd3, [results]; mov.u32 %r0, %tid.x;
mul.wide.u32 %rd4, %r0, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd3, %rd3, %rd4;
mul.wide.u32 %rd4, %r0, 8; add.u64 %rd2, %rd2, %rd4; mov.u64 %rd5, local;
mov.u32 %r2, shared; shl.b32 %r1, %r0, 2; add.u32 %r2, %r2, %r1;
mov.u32 %r3, shared; xor.b32 %r1, %r1, 20; add.u32 %r3, %r3, %r1;
ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+128]; ld.global.u32 %r12, [%rd1+256];
ld.global.u64 %rd10, [%rd2]; ld.global.u64 %rd11, [%rd2+256];'''
ROWS = 3, 2          # of 32 words, and of 32 pairs
DEFINED_ROWS = 2, 1  # in the last row, some bytes of each element are undefined
RESULTS = 32


def draw(seed: int) -> Tuple[str, List[int]]:
    """Return a random program for a warp, and the lines that store its results."""
    rng = random.Random(seed)
    words, pairs = ['%r10', '%r11', '%r12'], ['%rd10', '%rd11']
    lines = HEAD.split('\n')
    stores = []
    for number in range(20, 20 + rng.randint(4, 14)):
        text = rng.choice(OPERATIONS)
        a, b, c, wide, other = *(rng.choice(words) for _ in range(3)), rng.choice(pairs), rng.choice(pairs)
        lines.append(text.format(a=a, b=b, c=c, A=wide, B=other, d=f'%r{number}', D=f'%rd{number}',
                                 n=rng.randint(0, 31), x=rng.choice([1, 255, 0x80000000, rng.getrandbits(32)])))
        words += [f'%r{number}'] * ('{d}' in text)
        pairs += [f'%rd{number}'] * ('{D}' in text)
        word = words[-1] if '{d}' in text else '%r5'
        if '{D}' in text:
            lines.append(f'shr.u64 %rd6, %rd{number}, 32; xor.b64 %rd6, %rd6, %rd{number}; cvt.u32.u64 %r5, %rd6;')
        lines.append(f'xor.b32 %r4, {word}, 0x5a5a5a5a;')  # a result, and no copy, which may be undefined
        lines.append(f'st.global.u32 [%rd3+{128 * len(stores)}], %r4;')
        stores.append(len(lines))
    return '\n'.join(lines + ['ret; }']), stores


def run(ptxi: Any, kernel: Any, words: Any, pairs: Any, undefined: int) -> Tuple[Any, Set[int]]:
    """Run the program with so many undefined bytes in elements of the last rows. Return results and reported lines."""
    with ptxi.checking('init', fail=False) as checks:
        buffers = ptxi.empty(words.size, words.dtype), ptxi.empty(pairs.size, pairs.dtype)
        for buffer, values, rows in zip(buffers, (words, pairs), DEFINED_ROWS):
            buffer[...] = values
            ptxi.annotate('initialized', buffer, nbytes=values.nbytes)
            for at in range(32 * rows * values.itemsize, values.nbytes, values.itemsize):
                ptxi.annotate('uninitialized', buffer, offset=at, nbytes=undefined)
        results = ptxi.zeros(32 * RESULTS, 'u4')
        kernel[1, 32](*buffers, results)
    return np.array(results).reshape(RESULTS, 32), {f.sites[0].ptx_line for f in checks.findings}


def change(rng: Any, values: Any, rows: int, undefined: int) -> Any:
    """Return the values with other undefined bytes, which are in elements after so many rows."""
    mask = values.dtype.type((1 << 8 * undefined) - 1)
    other = rng.integers(0, np.iinfo(values.dtype).max, values.size, values.dtype)
    return np.where(np.arange(values.size) < 32 * rows, values, (values & ~mask) | (other & mask))


@pytest.mark.parametrize('first', range(0, ROUNDS, 50))
def test_random_programs(ptxi, first):
    reported = needless = 0
    for seed in range(first, min(first + 50, ROUNDS)):
        text, stores = draw(seed)
        rng = np.random.default_rng(seed)
        undefined = int(rng.choice([1, 2, 4]))
        words = rng.integers(0, 2 ** 32, 32 * ROWS[0], 'u4') & (255 if rng.random() < 0.5 else 2 ** 32 - 1)
        pairs = rng.integers(0, 2 ** 63, 32 * ROWS[1], 'u8')
        kernel = ptxi.loads(text).k
        results, lines = run(ptxi, kernel, words, pairs, undefined)
        differ = np.zeros(RESULTS, bool)
        for _ in range(4):
            changed = [change(rng, values, rows, undefined) for values, rows in zip((words, pairs), DEFINED_ROWS)]
            others, _lines = run(ptxi, kernel, *changed, undefined)
            differ |= (results != others).any(1)
        depend = {line for line, differs in zip(stores, differ) if differs}
        assert depend <= lines, f'seed {seed}: not reported: {depend - lines}\n{text}'
        reported += len(lines)
        needless += len(lines - depend)
    # The checks do not follow correlations, and clz and the like have undefined results if a bit is.
    assert needless <= reported // 3
