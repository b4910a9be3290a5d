#!/usr/bin/env python3
"""Generates random CUDA C++ programs in typical styles. nvcc compiles them to PTX for `random run`; see differ.py.

    cuda.py source FIRST COUNT
        Prints a translation unit with kernels FIRST to FIRST + COUNT - 1.
    cuda.py compile OUT FIRST COUNT
        Writes OUT/NUMBER.ptx for every SIZE kernels. NUMBER is its first kernel and selects the nvcc options.
    cuda.py keep FILE OUT RESULTS NUMBER...
        Writes a compressed recorded file for `random check`. RESULTS/jit.gpu contains the GPU results from differ.py.
        Programs with different results in RESULTS/jit.ours are omitted.

A kernel reads a row of operands of all types, computes, and writes 64-bit words, like the programs of program.c.
Results do not depend on the order of threads. PTXI_SEED selects other programs."""

import concurrent.futures
import gzip
import os
import random
import re
import subprocess
import sys

SIZE = 8  # kernels per translation unit
OPTIONS = [
    '',
    '',
    '',
    '--use_fast_math',
    '',
    '-arch=sm_80',
    '-fmad=false',
    '-G',
    '',
    '--use_fast_math -arch=sm_80',
    '',
    '-prec-div=false -prec-sqrt=false',
]
ROWS, OUTPUTS, SUMS = 1024, 24, 28  # columns from SUMS on are atomic sums; earlier columns belong to one row

SIGNED, UNSIGNED = ['i8', 'i16', 'i32', 'i64'], ['u8', 'u16', 'u32', 'u64']
INTEGERS, FLOATS, HALVES, PAIRS = SIGNED + UNSIGNED, ['f32', 'f64'], ['f16', 'bf16'], ['f16x2', 'bf16x2']
TYPES = INTEGERS + FLOATS + HALVES + PAIRS
COLUMNS = {
    'i32': range(0, 3),
    'u32': range(0, 3),
    'f32': range(3, 7),
    'f64': range(7, 10),
    'i64': range(10, 12),
    'u64': range(10, 12),
    'f16x2': range(12, 15),
    'bf16x2': range(15, 18),
    'f16': range(18, 21),
    'bf16': range(21, 24),
    'i16': range(24, 26),
    'u16': range(24, 26),
    'i8': range(24, 26),
    'u8': range(24, 26),
}

HEAD = '''#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math_constants.h>
#include <mma.h>
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
typedef __half f16; typedef __nv_bfloat16 bf16; typedef __half2 f16x2; typedef __nv_bfloat162 bf16x2;
struct words { u64 w[8]; };
template <class T> __device__ __forceinline__ T as(u64 bits) { T t; memcpy(&t, &bits, sizeof t); return t; }
template <class T> __device__ __forceinline__ u64 bits(T t) { u64 b = 0; memcpy(&b, &t, sizeof t); return b; }
'''

# Functions: result type, name and operand types.
LIBRARY = '''
f32 sinf(f32) cosf(f32) tanf(f32) sinpif(f32) cospif(f32) asinf(f32) acosf(f32) atanf(f32) sinhf(f32) coshf(f32)
f32 tanhf(f32) asinhf(f32) acoshf(f32) atanhf(f32) expf(f32) exp2f(f32) exp10f(f32) expm1f(f32) logf(f32) log2f(f32)
f32 log10f(f32) log1pf(f32) cbrtf(f32) rcbrtf(f32) erff(f32) erfcf(f32) erfinvf(f32) normcdff(f32) tgammaf(f32)
f32 lgammaf(f32) powf(f32,f32) atan2f(f32,f32) fmodf(f32,f32) remainderf(f32,f32) erfcxf(f32) erfcinvf(f32)
f32 normcdfinvf(f32) cyl_bessel_i0f(f32) j0f(f32) y1f(f32) rhypotf(f32,f32) norm4df(f32,f32,f32,f32) hypotf(f32,f32)
f32 ldexpf(f32,i32) scalbnf(f32,i32) logbf(f32) nextafterf(f32,f32) norm3df(f32,f32,f32) rnorm3df(f32,f32,f32)
f64 sin(f64) cos(f64) tan(f64) asin(f64) acos(f64) atan(f64) sinh(f64) tanh(f64) exp(f64) exp2(f64) expm1(f64) log(f64)
f64 log2(f64) log1p(f64) log10(f64) exp10(f64) sinpi(f64) asinh(f64) acosh(f64) atanh(f64) lgamma(f64) erfcx(f64)
f64 normcdf(f64) rcbrt(f64) remainder(f64,f64) rhypot(f64,f64) norm3d(f64,f64,f64) nextafter(f64,f64) logb(f64) j1(f64)
f64 cbrt(f64) erf(f64) erfc(f64) pow(f64,f64) atan2(f64,f64) fmod(f64,f64) hypot(f64,f64) ldexp(f64,i32) cospi(f64)
f64 tgamma(f64)
f16 hsin(f16) hcos(f16) hexp(f16) hexp2(f16) hlog(f16) hlog2(f16) hlog10(f16) hsqrt(f16) hrsqrt(f16) hrcp(f16)
f16 htanh(f16) htanh_approx(f16)
bf16 hsin(bf16) hcos(bf16) hexp(bf16) hexp2(bf16) hlog(bf16) hlog2(bf16) hsqrt(bf16) hrsqrt(bf16) hrcp(bf16) htanh(bf16)
bf16 htanh_approx(bf16)
i32 ilogbf(f32) ilogb(f64)
i64 lroundf(f32) lrint(f64) llroundf(f32)
f16x2 h2rsqrt(f16x2) h2cos(f16x2) h2exp10(f16x2) h2log(f16x2) h2exp(f16x2) h2log2(f16x2) h2sqrt(f16x2) h2rcp(f16x2)
f16x2 h2tanh(f16x2) h2sin(f16x2)
bf16x2 h2exp(bf16x2) h2log2(bf16x2) h2sqrt(bf16x2) h2rcp(bf16x2) h2tanh(bf16x2)
'''
INTRINSICS = '''
f32 sqrtf(f32) rsqrtf(f32) fabsf(f32) floorf(f32) ceilf(f32) truncf(f32) rintf(f32) roundf(f32) fmaf(f32,f32,f32)
f32 fmaxf(f32,f32) fminf(f32,f32) fdimf(f32,f32) copysignf(f32,f32) __sinf(f32) __cosf(f32) __tanf(f32) __expf(f32)
f32 __exp10f(f32) __logf(f32) __log2f(f32) __log10f(f32) __powf(f32,f32) __fdividef(f32,f32) __saturatef(f32)
f32 __frcp_rn(f32) __frcp_rz(f32) __fsqrt_rn(f32) __fsqrt_ru(f32) __frsqrt_rn(f32) __fadd_rn(f32,f32) __fadd_rz(f32,f32)
f32 __fsub_rd(f32,f32) __fmul_rn(f32,f32) __fmul_ru(f32,f32) __fmaf_rn(f32,f32,f32) __fmaf_rd(f32,f32,f32)
f32 __fdiv_rn(f32,f32) __fdiv_ru(f32,f32) __int_as_float(i32) __uint_as_float(u32) __int2float_rd(i32)
f32 __uint2float_rz(u32) __ll2float_ru(i64) __ull2float_rn(u64) __double2float_rd(f64) __double2float_rn(f64)
f32 __half2float(f16) __bfloat162float(bf16) __low2float(f16x2) __high2float(f16x2)
f64 sqrt(f64) rsqrt(f64) fabs(f64) floor(f64) ceil(f64) trunc(f64) rint(f64) round(f64) fma(f64,f64,f64) fmax(f64,f64)
f64 fmin(f64,f64) copysign(f64,f64) fdim(f64,f64) __dadd_rn(f64,f64) __dadd_ru(f64,f64) __dsub_rz(f64,f64)
f64 __dmul_rn(f64,f64) __dmul_rd(f64,f64) __ddiv_rn(f64,f64) __ddiv_rz(f64,f64) __drcp_rn(f64) __drcp_ru(f64)
f64 __dsqrt_rn(f64) __dsqrt_rd(f64) __fma_rn(f64,f64,f64) __fma_rz(f64,f64,f64) __longlong_as_double(i64)
f64 __ll2double_rd(i64) __ull2double_ru(u64) __int2double_rn(i32) __hiloint2double(i32,i32)
f16 __hadd(f16,f16) __hsub(f16,f16) __hmul(f16,f16) __hfma(f16,f16,f16) __hdiv(f16,f16) __hadd_rn(f16,f16)
f16 __hmul_rn(f16,f16) __hadd_sat(f16,f16) __hmul_sat(f16,f16) __hfma_sat(f16,f16,f16) __hfma_relu(f16,f16,f16)
f16 __hneg(f16) __habs(f16) __hmax(f16,f16) __hmin(f16,f16) __hmax_nan(f16,f16) __hmin_nan(f16,f16) hfloor(f16)
f16 hceil(f16) htrunc(f16) hrint(f16) __float2half_rn(f32) __float2half_rz(f32) __float2half_ru(f32) __double2half(f64)
f16 __int2half_rd(i32) __uint2half_rn(u32) __ll2half_rn(i64) __short2half_rz(i16) __ushort_as_half(u16)
f16 __low2half(f16x2) __high2half(f16x2)
bf16 __hadd(bf16,bf16) __hsub(bf16,bf16) __hmul(bf16,bf16) __hfma(bf16,bf16,bf16) __hdiv(bf16,bf16) __hadd_rn(bf16,bf16)
bf16 __hmul_rn(bf16,bf16) __hadd_sat(bf16,bf16) __hmul_sat(bf16,bf16) __hfma_sat(bf16,bf16,bf16)
bf16 __hfma_relu(bf16,bf16,bf16) __hneg(bf16) __habs(bf16) __hmax(bf16,bf16) __hmin(bf16,bf16) __hmax_nan(bf16,bf16)
bf16 hfloor(bf16) hceil(bf16) htrunc(bf16) hrint(bf16) __float2bfloat16_rn(f32) __float2bfloat16_rz(f32)
bf16 __float2bfloat16_rd(f32) __double2bfloat16(f64) __int2bfloat16_rn(i32) __uint2bfloat16_ru(u32)
bf16 __ll2bfloat16_rn(i64) __ushort_as_bfloat16(u16) __low2bfloat16(bf16x2) __high2bfloat16(bf16x2)
f16x2 __hadd2(f16x2,f16x2) __hsub2(f16x2,f16x2) __hmul2(f16x2,f16x2) __hfma2(f16x2,f16x2,f16x2) __h2div(f16x2,f16x2)
f16x2 __hadd2_rn(f16x2,f16x2) __hmul2_rn(f16x2,f16x2) __hadd2_sat(f16x2,f16x2) __hfma2_sat(f16x2,f16x2,f16x2)
f16x2 __hfma2_relu(f16x2,f16x2,f16x2) __hneg2(f16x2) __habs2(f16x2) __hmax2(f16x2,f16x2) __hmin2_nan(f16x2,f16x2)
f16x2 __heq2(f16x2,f16x2) __hltu2(f16x2,f16x2) __halves2half2(f16,f16) __half2half2(f16) __floats2half2_rn(f32,f32)
f16x2 __lowhigh2highlow(f16x2) __lows2half2(f16x2,f16x2) __hcmadd(f16x2,f16x2,f16x2) h2floor(f16x2) h2rint(f16x2)
bf16x2 __hadd2(bf16x2,bf16x2) __hsub2(bf16x2,bf16x2) __hmul2(bf16x2,bf16x2) __hfma2(bf16x2,bf16x2,bf16x2)
bf16x2 __h2div(bf16x2,bf16x2) __hadd2_rn(bf16x2,bf16x2) __hmul2_sat(bf16x2,bf16x2) __hfma2_relu(bf16x2,bf16x2,bf16x2)
bf16x2 __hneg2(bf16x2) __habs2(bf16x2) __hmin2(bf16x2,bf16x2) __hmax2_nan(bf16x2,bf16x2) __hgeu2(bf16x2,bf16x2)
bf16x2 __hne2(bf16x2,bf16x2) __halves2bfloat162(bf16,bf16) __bfloat162bfloat162(bf16) __floats2bfloat162_rn(f32,f32)
bf16x2 __highs2bfloat162(bf16x2,bf16x2) h2ceil(bf16x2)
i32 __popc(u32) __popcll(u64) __clz(i32) __clzll(i64) __ffs(i32) __ffsll(i64) __mulhi(i32,i32) __mul24(i32,i32)
i32 __hadd(i32,i32) __rhadd(i32,i32) __dp4a(i32,i32,i32) min(i32,i32) max(i32,i32) abs(i32) __float_as_int(f32)
i32 __float2int_rn(f32) __float2int_rz(f32) __double2int_rd(f64) __double2hiint(f64) __double2loint(f64)
i32 __half2int_rn(f16) __bfloat162int_rz(bf16) __vimax3_s32(i32,i32,i32) __viaddmin_s32(i32,i32,i32)
u32 __brev(u32) __byte_perm(u32,u32,u32) __umulhi(u32,u32) __umul24(u32,u32) __uhadd(u32,u32) __urhadd(u32,u32)
u32 __sad(i32,i32,u32) __usad(u32,u32,u32) __funnelshift_l(u32,u32,u32) __funnelshift_r(u32,u32,u32)
u32 __funnelshift_lc(u32,u32,u32) __funnelshift_rc(u32,u32,u32) __dp4a(u32,u32,u32) min(u32,u32) max(u32,u32)
u32 __float_as_uint(f32) __float2uint_ru(f32) __double2uint_rz(f64) __half2uint_rd(f16) __vadd2(u32,u32)
u32 __vaddss4(u32,u32) __vsub4(u32,u32) __vabsdiffu4(u32,u32) __vavgu2(u32,u32) __vmaxs2(u32,u32) __vminu4(u32,u32)
u32 __vcmpgts2(u32,u32) __vseteq4(u32,u32) __vsadu4(u32,u32) __vneg2(u32) __vabs4(u32)
u32 __viaddmax_s16x2_relu(u32,u32,u32) __vimin3_u16x2(u32,u32,u32)
i64 __mul64hi(i64,i64) min(i64,i64) max(i64,i64) llabs(i64) __float2ll_rz(f32) __float2ll_rn(f32) __double2ll_rd(f64)
i64 __double_as_longlong(f64) __half2ll_rn(f16) llrintf(f32) llround(f64)
u64 __brevll(u64) __umul64hi(u64,u64) min(u64,u64) max(u64,u64) __float2ull_rd(f32) __double2ull_rz(f64)
u64 __bfloat162ull_rn(bf16)
i16 __half_as_short(f16) __half2short_rz(f16) __bfloat162short_rn(bf16)
u16 __half_as_ushort(f16) __half2ushort_rd(f16) __bfloat16_as_ushort(bf16)
u8 __half2uchar_rz(f16)
'''


def signatures(text):
    functions = {t: [] for t in TYPES}
    for line in text.split('\n'):
        result, *rest = line.split() or ['']
        for f in rest:
            name, operands = f[:-1].split('(')
            functions[result].append((name, operands.split(',')))
    return functions


LIBRARY, INTRINSICS = signatures(LIBRARY), signatures(INTRINSICS)
WIDTH = {t: int(t[1:]) for t in INTEGERS}
FLOAT_CONSTANTS = [
    '0.0',
    '-0.0',
    '1.0',
    '-1.0',
    '0.5',
    '2.0',
    '0.25',
    '-4.0',
    '3.0',
    '10.0',
    '0.1',
    '3.14159265',
    '1e-3',
    '1e5',
    '255.0',
    '65504.0',
    '1e-7',
]
HUGE = {'f32': ['1e-40f', '3e38f', 'CUDART_INF_F', '-CUDART_INF_F', 'CUDART_NAN_F', '16777216.0f'],
        'f64': ['1e-310', '1e308', 'CUDART_INF', '-CUDART_INF', 'CUDART_NAN', '4503599627370496.0', '1e-40']}


class Program:
    def __init__(self, number):
        self.number = number
        self.draw = random.Random('%s/%d' % (os.environ.get('PTXI_SEED', ''), number))
        self.heads, self.functions, self.structs, self.names, self.sums, self.kernel, self.matrices = (
            [],
            [],
            [],
            0,
            SUMS,
            False,
            False,
        )
        self.library = self.draw.choice([0, 0, 0.02, 0.06])  # probability of a math library call
        self.themes = self.draw.sample(TYPES, 3) + self.draw.sample(['f32', 'f64', 'i32', 'u32'], 2)

    def chance(self, p):
        return self.draw.random() < p

    def name(self, letter):
        self.names += 1
        return '%s%d' % (letter, self.names)

    def type(self):
        return self.draw.choice(self.themes if self.chance(0.7) else TYPES)

    # Expressions. `scope` lists readable values as (type, text).
    def constant(self, t):
        d = self.draw
        if t in INTEGERS:
            w = WIDTH[t]
            value = d.choice(
                [
                    0,
                    1,
                    2,
                    3,
                    5,
                    7,
                    8,
                    10,
                    31,
                    32,
                    100,
                    255,
                    1 << d.randrange(w),
                    (1 << d.randrange(w)) - 1,
                    d.getrandbits(w),
                    -1,
                    -d.randrange(100),
                ]
            )
            return '(%s)0x%xull' % (t, value & ((1 << w) - 1))
        if t in HUGE:
            if self.chance(0.1):
                return d.choice(HUGE[t])
            text = (
                d.choice(FLOAT_CONSTANTS)
                if self.chance(0.8)
                else '%.9g' % (d.uniform(-3, 3) * 10 ** d.randrange(-6, 6))
            )
            return (text if set(text) & set('.e') else text + '.0') + 'f' * (t == 'f32')
        return self.cast(self.constant('f32'), 'f32', t)

    def cast(self, e, a, b):
        """Converts a value, or one or both elements of a pair, to another type, in C++ or with header functions."""
        if a == b:
            return e
        if a in PAIRS:
            part = self.draw.choice(['__low2', '__high2']) + {'f16x2': 'half', 'bf16x2': 'bfloat16'}[a]
            return self.cast('%s(%s)' % (part, e), a[:-2], b)
        if b in PAIRS:
            return '%s(%s)' % ({'f16x2': '__half2half2', 'bf16x2': '__bfloat162bfloat162'}[b], self.cast(e, a, b[:-2]))
        if a in HALVES and b in HALVES + ['f64']:
            return '(%s)(f32)(%s)' % (b, e)
        if b in HALVES and a in ('i8', 'u8'):
            return '(%s)(i32)(%s)' % (b, e)
        return '(%s)(%s)' % (b, e)

    def condition(self, scope, depth):
        t = self.type()
        if t in PAIRS:
            return '%s(%s, %s)' % (
                self.draw.choice(['__hbeq2', '__hblt2', '__hbgeu2', '__hbne2']),
                self.value(t, scope, depth),
                self.value(t, scope, depth),
            )
        if self.chance(0.1):
            f = self.draw.choice(['isnan', 'isinf', 'signbit', 'isfinite'])
            return '%s(%s)' % (f, self.value(self.draw.choice(FLOATS), scope, depth))
        text = '(%s %s %s)' % (
            self.value(t, scope, depth),
            self.draw.choice(['<', '<=', '>', '>=', '==', '!=']),
            self.value(t, scope, depth),
        )
        if depth > 1 and self.chance(0.25):
            text = '(%s %s %s)' % (text, self.draw.choice(['&&', '||']), self.condition(scope, depth - 1))
        return '!' + text if self.chance(0.1) else text

    def call(self, table, t, scope, depth):
        name, operands = self.draw.choice(table[t])
        return '%s(%s)' % (name, ', '.join(self.value(o, scope, depth - 1) for o in operands))

    def narrow(self, scope, depth):
        """Converts to an 8-bit float and back."""
        kind = self.draw.choice(['__nv_fp8_e4m3', '__nv_fp8_e5m2'])
        t = self.draw.choice(['f32', 'f16', 'bf16', 'f64'])
        return '(f32)%s(%s)' % (kind, self.value(t, scope, depth - 1))

    def user_call(self, t, scope, depth):
        found = [f for f in self.functions if f[0] == t]
        if not found:
            return self.leaf(t, scope)
        result, name, operands = self.draw.choice(found)
        others = [f for f in found if f[2] == operands and f[1] != name]
        if others and self.chance(0.5):
            name = '(%s ? %s : %s)' % (self.condition(scope, 0), name, others[0][1])
        return '%s(%s)' % (name, ', '.join(self.value(o, scope, depth - 1) for o in operands))

    def operator(self, t, scope, depth):
        d = self.draw
        a, b = self.value(t, scope, depth - 1), self.value(t, scope, depth - 1)
        if t in INTEGERS:
            op = d.choice(['+', '-', '*', '+', '-', '*', '&', '|', '^', '<<', '>>', '/', '%'])
            if op in ('<<', '>>'):
                b = '(%s & %d)' % (b, WIDTH[t] - 1)
            if op in '/%': # division by zero is undefined
                b = '(%s | 1)' % b if self.chance(0.7) else self.constant(t).replace('0x0ull', '7')
            return '(%s)(%s %s %s)' % (t, a, op, b)
        op = d.choice('+-*+-*+-*/')
        if t in PAIRS and op == '/' and self.chance(0.7):
            op = '*'
        return '(%s %s %s)' % (a, op, b)

    def unary(self, t, scope, depth):
        a = self.value(t, scope, depth - 1)
        return '(%s)(%s(%s))' % (t, self.draw.choice('-~') if t in INTEGERS else '-', a)

    def leaf(self, t, scope):
        if self.chance(0.15):
            return self.constant(t)
        same = [e for s, e in scope if s == t]
        if same and self.chance(0.9):
            return self.draw.choice(same[-6:] if self.chance(0.6) else same)
        s, e = self.draw.choice(scope)
        return self.cast(e, s, t)

    def value(self, t, scope, depth):
        if depth <= 0 or self.chance(0.15):
            return self.leaf(t, scope)
        p = self.draw.random()
        if p < self.library and LIBRARY[t]:
            return self.call(LIBRARY, t, scope, 1)
        p = self.draw.random()
        if p < 0.5:
            return self.operator(t, scope, depth)
        if p < 0.56:
            return self.unary(t, scope, depth)
        if p < 0.66:
            return '(%s ? %s : %s)' % (
                self.condition(scope, depth - 1),
                self.value(t, scope, depth - 1),
                self.value(t, scope, depth - 1),
            )
        if p < 0.76:
            s = self.type()
            return self.cast(self.value(s, scope, depth - 1), s, t)
        if p < 0.8:
            return self.user_call(t, scope, depth)
        if p < 0.81:
            return self.cast(self.narrow(scope, depth), 'f32', t)
        if INTRINSICS[t]:
            return self.call(INTRINSICS, t, scope, depth)
        return self.operator(t, scope, depth)

    # Statements return lines. They add declarations to `scope`. `places` lists the variables they may change.
    def declare(self, scope, places):
        t, n = self.type(), self.name('v')
        lines = ['%s %s = %s;' % (t, n, self.value(t, scope, self.draw.randrange(1, 5)))]
        scope.append((t, n))
        places.append((t, n))
        return lines

    def assign(self, scope, places):
        t, n = self.draw.choice(places)
        if t in FLOATS + INTEGERS + HALVES and self.chance(0.3):
            return ['%s %s= %s;' % (n, self.draw.choice('+-*'), self.value(t, scope, 3))]
        return ['%s = %s;' % (n, self.value(t, scope, 3))]

    def block(self, scope, places, nesting, count):
        """Generates statements in braces with a new scope."""
        return (
            ['{'] + ['    ' + line for line in self.statements(list(scope), list(places), nesting + 1, count)] + ['}']
        )

    def branch(self, scope, places, nesting):
        lines = ['if (%s)' % self.condition(scope, 2)] + self.block(scope, places, nesting, self.draw.randrange(1, 4))
        if self.chance(0.5):
            lines += ['else'] + self.block(scope, places, nesting, self.draw.randrange(1, 4))
        return lines

    def loop(self, scope, places, nesting):
        i = self.name('i_')
        trips = self.draw.choice(
            [
                '%d' % self.draw.randrange(1, 6),
                '(int)(%s & 7)' % self.value(self.draw.choice(['u32', 'i32', 'u64']), scope, 2),
            ]
        )
        lines = ['for (int %s = 0; %s < %s; %s++)' % (i, i, trips, i)]
        body = self.block(scope + [('i32', i)], places, nesting, self.draw.randrange(1, 4))
        if self.chance(0.25):
            body.insert(-1, '    if (%s) %s;' % (self.condition(scope, 1), self.draw.choice(['break', 'continue'])))
        return lines + body

    def switch(self, scope, places, nesting):
        lines = ['switch (%s & 7) {' % self.value(self.draw.choice(['u32', 'i32']), scope, 2)]
        for k in self.draw.sample(range(8), self.draw.randrange(2, 7)):
            lines += ['case %d:' % k] + self.block(scope, places, nesting, 1) + (['break;'] if self.chance(0.8) else [])
        return lines + ['default:'] + self.block(scope, places, nesting, 1) + ['}']

    def array(self, scope, places):
        t, n, size = self.type(), self.name('a'), self.draw.choice([4, 8, 16])
        lines = ['%s %s[%d];' % (t, n, size), 'for (int k = 0; k < %d; k++)' % size,
                 '    %s[k] = %s;' % (n, self.value(t, scope + [('i32', 'k')] * 3, 2))]
        for _ in range(self.draw.randrange(1, 4)):
            lines.append('%s[%s & %d] = %s;' % (n, self.value('u32', scope, 2), size - 1, self.value(t, scope, 2)))
        for _ in range(2):
            scope.append((t, '%s[%s & %d]' % (n, self.value('u32', scope, 1), size - 1)))
        scope.append((t, '%s[%d]' % (n, self.draw.randrange(size))))
        return lines

    def structure(self, scope, places):
        if not self.structs or self.chance(0.3):
            kind, fields = self.name('S'), [(self.type(), 'm%d' % k) for k in range(self.draw.randrange(2, 6))]
            self.structs.append((kind, fields))
            self.heads += ['struct %s { %s };' % (kind, ' '.join('%s %s;' % f for f in fields)),
                           '__device__ __noinline__ %s change_%s(%s s, const %s &t)' % (kind, kind, kind, kind)]
            inner = [(t, 's.' + m) for t, m in fields] + [(t, 't.' + m) for t, m in fields]
            calls, self.functions = self.functions, []
            self.heads += (
                ['{']
                + ['    s.%s = %s;' % (m, self.value(t, inner, 2)) for t, m in fields[:3]]
                + ['    return s;', '}']
            )
            self.functions = calls
        kind, fields = self.draw.choice(self.structs)
        n, m = self.name('s'), self.name('s')
        lines = ['%s %s, %s;' % (kind, n, m)]
        for one in n, m:
            lines += ['%s.%s = %s;' % (one, f, self.value(t, scope, 2)) for t, f in fields]
        lines.append('%s = change_%s(%s, %s);' % (n, kind, n, m))
        if self.chance(0.3):
            lines.append('if (%s) %s = %s;' % (self.condition(scope, 1), m, n))
        for one in n, m:
            scope += [(t, '%s.%s' % (one, f)) for t, f in fields]
            places += [(t, '%s.%s' % (one, f)) for t, f in fields]
        return lines

    def atomic(self, scope, places):
        """Generates an atomic operation on memory of the row, so that the old value is deterministic."""
        t, n = self.draw.choice(['i32', 'u32', 'u64', 'f32', 'f64']), self.name('v')
        f = self.draw.choice(['Add'] if t in FLOATS else ['Add', 'Exch', 'Min', 'Max', 'And', 'Or', 'Xor', 'CAS'])
        operands = ', '.join(self.value(t, scope, 2) for _ in range(2 if f == 'CAS' else 1))
        column = self.draw.randrange(OUTPUTS, SUMS)
        if t in FLOATS:
            column = OUTPUTS + (t == 'f64')
        scope.append((t, n))
        return ['%s %s = atomic%s((%s *)&out[%d * %d + row], %s);' % (t, n, f, t, column, ROWS, operands)]

    def sum(self, scope, places):
        """Generates a typical loop: sum of products over rows, polynomial, or iteration until convergence."""
        d, n, k = self.draw, self.name('v'), self.name('k_')
        t = d.choice(FLOATS + FLOATS + HALVES + ['f16x2', 'i32', 'u64'])
        column = '%d * %d + ((row + %s) & %d)' % (d.choice(COLUMNS[t]), ROWS, k, ROWS - 1)
        near = self.kernel and self.chance(0.7)
        term = 'as<%s>(in[%s])' % (t, column) if near else self.value(t, scope, 1)
        step = d.choice(['%s = %s + %s * %s', '%s = %s + %s * %s', '%s = %s * %s + %s', '%s = %s - %s * %s'])
        step %= (n, n, term, self.value(t, scope + [(t, term)], 2))
        trips = d.choice([4, 8, 16, 3, '(int)(%s & 15)' % self.value('u32', scope, 1)])
        lines = ['%s %s = %s;' % (t, n, self.value(t, scope, 1))] + d.choice(
            [[], [], ['#pragma unroll 1'], ['#pragma unroll 4']]
        )
        if t in FLOATS and self.chance(0.3):
            lines = lines[:1] + [
                'for (int %s = 0; %s < 16 && !(%s * %s > %s); %s++)' % (k, k, n, n, self.constant(t), k),
                '    %s;' % step,
            ]
        else:
            lines += ['for (int %s = 0; %s < %s; %s++)' % (k, k, trips, k), '    %s;' % step]
        scope.append((t, n))
        places.append((t, n))
        return lines

    def two_results(self, scope, places):
        t, f = self.draw.choice(
            [(t, f) for t in FLOATS for f in ('sincos', 'sincospi', 'modf', 'frexp', 'remquo', '__sincosf')]
        )
        a, b, x = self.name('v'), self.name('v'), self.value(t, scope, 2)
        second = 'i32' if f in ('frexp', 'remquo') else t
        if f == '__sincosf':
            t = second = 'f32'
        elif t == 'f32':
            f += 'f'
        call = {
            's': '%s(%s, &%s, &%s)',
            'm': '%s(%s, &%s)',
            'f': '%s(%s, &%s)',
            'r': '%s(%s, %s, &%s)',
            '_': '%s(%s, &%s, &%s)',
        }[f[0]]
        call %= (f, x, a, b) if f[0] in 's_' else (f, x, self.value(t, scope, 1), b) if f[0] == 'r' else (f, x, b)
        scope += [(t, a), (second, b)]
        return ['%s %s; %s %s;' % (t, a, second, b), ('%s;' if f[0] in 's_' else a + ' = %s;') % call]

    def wide(self, scope, places):
        """Generates 128-bit integer arithmetic."""
        n, t = self.name('w'), self.draw.choice(['__int128', 'unsigned __int128'])
        a, b, c = (self.value(self.draw.choice(['i64', 'u64']), scope, 2) for _ in range(3))
        op = self.draw.choice(
            [
                '%s * %s + %s',
                '(%s << 64) - %s * %s',
                '%s + %s - %s',
                '(%s << (%s & 63)) ^ %s',
                '(%s << 70) / (%s | 1) + %s',
                '(%s << 65) %% (%s | 1) * %s',
            ]
        )
        scope += [('u64', '(u64)%s' % n), ('i64', '(i64)(%s >> 64)' % n), ('u32', '(u32)(%s >= 7)' % n)]
        return ['%s %s = %s;' % (t, n, op % tuple('(%s)%s' % (t, e) for e in (a, b, c)))]

    def table(self, scope, places):
        t, n = self.draw.choice(INTEGERS + FLOATS + FLOATS), self.name('table')
        where = self.draw.choice(['__constant__', '__device__', 'static __device__ const'])
        values = [c for c in (self.constant(t) for _ in range(12)) if 'CUDART' not in c][:8]
        self.heads.append('%s %s %s_%d[8] = { %s };' % (where, t, n, self.number, ', '.join(values)))
        scope += [
            (t, '%s_%d[%s & 7]' % (n, self.number, self.value('u32', scope, 1))),
            (t, '%s_%d[%d]' % (n, self.number, self.draw.randrange(8))),
        ]
        return []

    def fields(self, scope, places):
        """Generates bit-fields, or a union."""
        n, kind = self.name('s'), self.name('U')
        if self.chance(0.5):
            widths = [self.draw.randrange(1, 12) for _ in range(4)]
            ts = [self.draw.choice(['int', 'unsigned']) for _ in widths]
            self.heads.append(
                'struct %s { %s };'
                % (kind, ' '.join('%s m%d : %d;' % (t, k, w) for k, (t, w) in enumerate(zip(ts, widths))))
            )
            lines = ['%s %s;' % (kind, n)] + ['%s.m%d = %s;' % (n, k, self.value('i32', scope, 2)) for k in range(4)]
            scope += [('i32', '%s.m%d' % (n, k)) for k in range(4)]
            return lines
        self.heads.append('union %s { f64 d; u64 q; f32 f[2]; u32 w[2]; u16 h[4]; i8 c[8]; };' % kind)
        m, t = self.draw.choice([('d', 'f64'), ('q', 'u64')])
        lines = ['%s %s;' % (kind, n), '%s.%s = %s;' % (n, m, self.value(t, scope, 2))]
        m, t = self.draw.choice([('f[%s & 1]', 'f32'), ('w[%s & 1]', 'u32'), ('h[%s & 3]', 'u16'), ('c[%s & 7]', 'i8')])
        lines.append('%s.%s = %s;' % (n, m % self.value('u32', scope, 1), self.value(t, scope, 2)))
        scope += [('f64', n + '.d'), ('u64', n + '.q'), ('f32', n + '.f[1]'), ('u16', n + '.h[2]'), ('i8', n + '.c[5]')]
        return lines

    def vector(self, scope, places):
        t, kind, size = self.draw.choice(
            [
                ('f32', 'float', 4),
                ('f32', 'float', 2),
                ('f64', 'double', 2),
                ('i32', 'int', 4),
                ('u32', 'uint', 2),
                ('i16', 'short', 4),
                ('u8', 'uchar', 4),
                ('i64', 'longlong', 2),
            ]
        )
        n, kind = self.name('q'), '%s%d' % (kind, size)
        parts = ['%s.%s' % (n, m) for m in 'xyzw'[:size]]
        if self.kernel and self.chance(0.5):
            read = self.draw.choice(['%s', '%s', '__ldg(&%s)', '__ldcs(&%s)']) % (
                '((const %s *)in)[%s & 0xfff]' % (kind, self.value('u32', scope, 1))
            )
            lines = ['%s %s = %s;' % (kind, n, read)]
        else:
            lines = ['%s %s = make_%s(%s);' % (kind, n, kind, ', '.join(self.value(t, scope, 2) for _ in parts))]
        scope += [(t, part) for part in parts]
        places += [(t, part) for part in parts]
        return lines

    def objects(self, scope, places):
        """Generates virtual function calls."""
        t, kind, n = self.type(), self.name('B'), self.name('o')
        kinds = ['%s_%d' % (kind, k) for k in range(2)]
        calls, self.functions = self.functions, []
        self.heads.append('struct %s { %s m; __device__ virtual %s f(%s x) const = 0; };' % (kind, t, t, t))
        for one in kinds:
            inner = [(t, 'm'), (t, 'x')]
            self.heads.append(
                'struct %s : %s { __device__ %s f(%s x) const override { return %s; } };'
                % (one, kind, t, t, self.value(t, inner, 3))
            )
        self.functions = calls
        lines = ['%s %s_%d; %s_%d.m = %s;' % (one, n, k, n, k, self.value(t, scope, 2)) for k, one in enumerate(kinds)]
        lines.append(
            'const %s &%s = %s ? (const %s &)%s_0 : (const %s &)%s_1;'
            % (kind, n, self.condition(scope, 1), kind, n, kind, n)
        )
        v = self.name('v')
        lines.append('%s %s = %s.f(%s);' % (t, v, n, self.value(t, scope, 2)))
        scope.append((t, v))
        places.append((t, v))
        return lines

    def recursion(self, scope, places):
        """Generates recursion of uniform depth. With different depths, a GPU has read too early after a barrier."""
        t, f, v = self.type(), '%s_%d' % (self.name('r'), self.number), self.name('v')
        calls, self.functions = self.functions, []
        inner = [('i32', 'n'), (t, 'x'), (t, 'y'), (t, 'y')]
        self.heads += [
            '__device__ __noinline__ %s %s(int n, %s x)' % (t, f, t),
            '{',
            '    if (n <= 0) return %s;' % self.value(t, inner[:2], 2),
            '    %s y = %s(n - 1, %s);' % (t, f, self.value(t, inner[:2], 2)),
            '    return %s;' % self.value(t, inner, 3),
            '}',
        ]
        self.functions = calls
        lines = ['%s %s = %s(%d, %s);' % (t, v, f, self.draw.randrange(8), self.value(t, scope, 2))]
        scope.append((t, v))
        places.append((t, v))
        return lines

    # Statements executed by all threads of a block.
    def tree(self, scope, places):
        """Generates a reduction over a block."""
        t, n, v = (
            self.draw.choice([t for t in self.themes + ['f32', 'f64', 'i32'] if t not in ('i8', 'u8', 'i16', 'u16')]),
            self.name('shared'),
            self.name('v'),
        )
        a, b = '%s[threadIdx.x]' % n, '%s[threadIdx.x + o]' % n
        e = self.draw.choice(['%s + %s', '%s + %s', '%s * %s'] + ['max(%s, %s)'] * (t in INTEGERS + FLOATS)) % (a, b)
        lines = [
            '__shared__ %s %s[256];' % (t, n),
            '%s = %s;' % (a, self.value(t, scope, 2)),
            '__syncthreads();',
            'for (u32 o = 128; o; o >>= 1) {',
            '    if (threadIdx.x < o)',
            '        %s = %s;' % (a, e),
            '    __syncthreads();',
            '}',
            '%s %s = %s[threadIdx.x & 7];' % (t, v, n),
        ]
        scope.append((t, v))
        places.append((t, v))
        return lines

    def tile(self, scope, places):
        d, n, g = self.draw, self.name('v'), self.name('g')
        t = d.choice(['i32', 'u32', 'f32', 'u64', 'f64'])
        size, x = d.choice([4, 8, 16, 32]), self.value(t, scope, 2)
        calls = [
            '%s.shfl(%s, %d)' % (g, x, d.randrange(size)),
            '%s.shfl_xor(%s, %d)' % (g, x, d.randrange(1, size)),
            'cg::reduce(%s, %s, cg::%s<%s>())' % (g, x, d.choice(['plus', 'plus', 'less', 'greater']), t),
        ]
        scope += [(t, n), ('u32', g + '.thread_rank()')]
        return [
            'auto %s = cg::tiled_partition<%d>(cg::this_thread_block());' % (g, size),
            '%s %s = %s;' % (t, n, d.choice(calls)),
        ]

    def matrix(self, scope, places):
        """Generates a matrix product of a warp, at most once per program."""
        if self.matrices:
            return self.warp(scope, places)
        self.matrices = True
        kind, t, r, m, n, k = self.draw.choice(
            [
                ('__half', 'f16', 'f32', 16, 16, 16),
                ('__half', 'f16', 'f16', 16, 16, 16),
                ('__nv_bfloat16', 'bf16', 'f32', 16, 16, 16),
                ('__half', 'f16', 'f32', 32, 8, 16),
                ('signed char', 'i8', 'i32', 16, 16, 16),
                ('unsigned char', 'u8', 'i32', 8, 32, 16),
                ('wmma::precision::tf32', 'f32', 'f32', 16, 16, 8),
                ('double', 'f64', 'f64', 8, 8, 4),
            ]
        )
        v, lane = self.name('v'), 'threadIdx.x & 31'
        layouts = [self.draw.choice(['row_major', 'col_major']) for _ in range(2)]
        shape = '%d, %d, %d' % (m, n, k)
        wide = 'f64' if r == 'f64' else 'f32' if r != 'i32' else 'i32'
        lines = [
            '__shared__ __align__(32) %s ma[8][%d], mb[8][%d];' % (t, m * k, k * n),
            '__shared__ __align__(32) %s mc[8][%d];' % (r, m * n),
            'for (int k = %s; k < %d; k += 32) ma[threadIdx.x / 32][k] = %s;'
            % (lane, m * k, self.value(t, scope + [('i32', 'k')] * 2, 2)),
            'for (int k = %s; k < %d; k += 32) mb[threadIdx.x / 32][k] = %s;'
            % (lane, k * n, self.value(t, scope + [('i32', 'k')] * 2, 2)),
            '__syncwarp();',
            'wmma::fragment<wmma::matrix_a, %s, %s, wmma::%s> fa;' % (shape, kind, layouts[0]),
            'wmma::fragment<wmma::matrix_b, %s, %s, wmma::%s> fb;' % (shape, kind, layouts[1]),
            'wmma::fragment<wmma::accumulator, %s, %s> fc;'
            % (shape, {'f16': '__half', 'f32': 'float', 'i32': 'int', 'f64': 'double'}[r]),
            'wmma::fill_fragment(fc, %s);' % ('(%s)(%s)' % (r, self.constant(wide))),
            'wmma::load_matrix_sync(fa, ma[threadIdx.x / 32], %d);' % (k if layouts[0][0] == 'r' else m),
            'wmma::load_matrix_sync(fb, mb[threadIdx.x / 32], %d);' % (n if layouts[1][0] == 'r' else k),
        ]
        if t == 'f32':
            lines += [
                'for (int k = 0; k < f%s.num_elements; k++) f%s.x[k] = wmma::__float_to_tf32(f%s.x[k]);' % (f, f, f)
                for f in 'ab'
            ]
        lines += ['wmma::mma_sync(fc, fa, fb, fc);'] * self.draw.choice([1, 1, 3])
        if self.chance(0.4):
            lines.append(
                'for (int k = 0; k < fc.num_elements; k++) fc.x[k] = fc.x[k] * (%s)(%s);' % (r, self.constant(wide))
            )
        lines += [
            'wmma::store_matrix_sync(mc[threadIdx.x / 32], fc, %d, wmma::mem_row_major);' % n,
            '__syncwarp();',
            '%s %s = mc[threadIdx.x / 32][%s], %sb = mc[threadIdx.x / 32][(%s) + %d];'
            % (r, v, lane, v, lane, m * n - 32),
        ]
        scope += [(r, v), (r, v + 'b')]
        places += [(r, v), (r, v + 'b')]
        return lines

    def total(self, scope, places):
        if self.sums == 32:
            return self.atomic(scope, places)
        t = self.draw.choice(['i32', 'u32', 'u64'])
        f = self.draw.choice(['Add', 'Min', 'Max', 'And', 'Or', 'Xor'])
        line = 'atomic%s((%s *)&out[%d * %d + (%s & %d)], %s);' % (
            f,
            t,
            self.sums,
            ROWS,
            self.value('u32', scope, 1),
            ROWS - 1,
            self.value(t, scope, 2),
        )
        self.sums += 1
        return [line] if self.chance(0.5) else ['if (%s)' % self.condition(scope, 1), '    ' + line]

    def exchange(self, scope, places):
        t, n, v = self.type(), self.name('shared'), self.name('v')
        scope2 = scope + [('u32', 'threadIdx.x')] * 3
        lines = [
            '__shared__ %s %s[256];' % (t, n),
            '%s[threadIdx.x] = %s;' % (n, self.value(t, scope, 2)),
            '__syncthreads();',
            '%s %s = %s[(%s) & 255];' % (t, v, n, self.value('u32', scope2, 2)),
        ]
        scope.append((t, v))
        places.append((t, v))
        return lines

    def histogram(self, scope, places):
        t, n, v = self.draw.choice(['i32', 'u32', 'u64']), self.name('shared'), self.name('v')
        f = self.draw.choice(['Add', 'Min', 'Max', 'And', 'Or', 'Xor'])
        lines = [
            '__shared__ %s %s[16];' % (t, n),
            'if (threadIdx.x < 16) %s[threadIdx.x] = %s;' % (n, self.constant(t)),
            '__syncthreads();',
            'atomic%s(&%s[%s & 15], %s);' % (f, n, self.value('u32', scope, 2), self.value(t, scope, 2)),
            '__syncthreads();',
            '%s %s = %s[%s & 15];' % (t, v, n, self.value('u32', scope, 1)),
        ]
        scope.append((t, v))
        places.append((t, v))
        return lines

    def warp(self, scope, places):
        d, n = self.draw, self.name('v')
        kind = d.randrange(5)
        if kind < 2:
            t = self.draw.choice([t for t in self.themes + ['f32', 'i32'] if t not in ('i8', 'u8', 'i16', 'u16')])
            f, lane = d.choice(
                [
                    ('', self.value('i32', scope, 1)),
                    ('_up', d.randrange(1, 32)),
                    ('_down', d.randrange(1, 32)),
                    ('_xor', d.randrange(1, 32)),
                ]
            )
            e = '__shfl%s_sync(0xffffffff, %s, %s%s)' % (
                f,
                self.value(t, scope, 2),
                lane,
                d.choice(['', '', ', 16', ', 8']),
            )
            if self.chance(0.3):  # the standard reduction
                return [
                    '%s %s = %s;' % (t, n, self.value(t, scope, 2)),
                    'for (int o = 16; o; o >>= 1)',
                    '    %s = %s + __shfl_%s_sync(0xffffffff, %s, o);' % (n, n, d.choice(['xor', 'down']), n),
                ] + (scope.append((t, n)) or [])
        elif kind == 2:
            t, e = d.choice(
                [
                    ('u32', '__ballot_sync(0xffffffff, %s)'),
                    ('i32', '__any_sync(0xffffffff, %s)'),
                    ('i32', '__all_sync(0xffffffff, %s)'),
                ]
            )
            e %= self.condition(scope, 2)
        elif kind == 3:
            t, f = d.choice(
                [('u32', 'add'), ('i32', 'min'), ('u32', 'max'), ('i32', 'max'), ('u32', 'xor'), ('u32', 'and')]
            )
            e = '__reduce_%s_sync(0xffffffff, %s)' % (f, self.value(t, scope, 2))
        else:
            t, e = 'u32', '__match_any_sync(0xffffffff, %s)' % self.value(d.choice(['u32', 'u64']), scope, 2)
        scope.append((t, n))
        return ['%s %s = %s;' % (t, n, e)]

    def statements(self, scope, places, nesting, count):
        lines, uniform = [], nesting == 0
        local = [
            self.array,
            self.structure,
            self.sum,
            self.sum,
            self.two_results,
            self.wide,
            self.table,
            self.fields,
            self.vector,
            self.objects,
            self.recursion,
        ]
        for _ in range(count):
            p = self.draw.random()
            if p < 0.4:
                lines += self.declare(scope, places)
            elif p < 0.6:
                lines += self.assign(scope, places)
            elif p < 0.75 and nesting < 3:
                lines += self.draw.choice([self.branch, self.branch, self.loop, self.loop, self.switch])(
                    scope, places, nesting
                )
            elif p < 0.85:
                lines += self.draw.choice(local + [self.atomic] * self.kernel)(scope, places)
            elif uniform:
                lines += self.draw.choice(
                    [
                        self.total,
                        self.exchange,
                        self.histogram,
                        self.warp,
                        self.warp,
                        self.warp,
                        self.tree,
                        self.tile,
                        self.matrix,
                    ]
                )(scope, places)
            else:
                lines += self.declare(scope, places)
        return lines

    def function(self):
        result, name, operands = (
            self.type(),
            'f%d_%d' % (self.number, len(self.functions)),
            [self.type() for _ in range(self.draw.randrange(1, 4))],
        )
        if self.functions and self.chance(0.4):
            result, _, operands = self.functions[-1]
        scope = [(t, 'x%d' % k) for k, t in enumerate(operands)]
        places = list(scope)
        body = self.statements(scope, places, 1, self.draw.randrange(1, 6))
        how = self.draw.choice(['__noinline__', '__noinline__', '__forceinline__'])
        self.heads += [
            '__device__ %s %s %s(%s)'
            % (how, result, name, ', '.join('%s %s' % pair for pair in zip(operands, (x for _, x in places)))),
            '{',
        ]
        self.heads += ['    ' + line for line in body] + ['    return %s;' % self.value(result, scope, 2), '}']
        self.functions.append((result, name, operands))

    def source(self):
        for _ in range(self.draw.randrange(0, 4)):
            self.function()
        scope, lines, self.kernel = [], [], True
        for t in dict.fromkeys(self.themes + ['i32', 'f32', 'u32']):
            for column in COLUMNS[t]:
                n = self.name('x_')
                lines.append('%s %s = as<%s>(in[%d * %d + row]);' % (t, n, t, column, ROWS))
                scope.append((t, n))
        scope += [('u64', 'params.w[%d]' % k) for k in range(2)] + [('u32', 'row')]
        places = []
        lines += self.declare(scope, places) + self.declare(scope, places)
        lines += self.statements(scope, places, 0, self.draw.randrange(6, 30))
        outputs = places[-OUTPUTS:]
        lines += ['out[%d * %d + row] = bits(%s); // %s' % (k, ROWS, n, t) for k, (t, n) in enumerate(outputs)]
        text = (
            self.heads
            + [
                'extern "C" __global__ void p%d(const u64 *in, u64 *out, u64 *, words params)' % self.number,
                '{',
                '    u32 row = blockIdx.x * 256 + threadIdx.x;',
            ]
            + ['    ' + line for line in lines]
            + ['}', '']
        )
        return '\n'.join(text)


def source(first, count):
    return HEAD + '\n'.join(
        'namespace n%d {\nnamespace cg = cooperative_groups; using namespace nvcuda;\n%s}\n'
        % (n, Program(n).source())
        for n in range(first, first + count)
    )


def compile_unit(out, first, count):
    options = OPTIONS[first // SIZE % len(OPTIONS)].split()
    if not any(o.startswith('-arch') for o in options):
        options.append('-arch=sm_90')
    path = '%s/%06d' % (out, first)
    with open(path + '.cu', 'w') as f:
        f.write(source(first, count))
    p = subprocess.run(
        ['nvcc', '-ptx', '-w', *options, '-o', path + '.ptx', path + '.cu'], capture_output=True, text=True
    )
    return '%s: %s' % (path, p.stderr[:2000]) if p.returncode else None


def digests(path):
    with open(path) as f:
        return {int(line.split()[0]): line.split()[1] for line in f}


def without_debugging_data(text):
    """Removes debugging data, but keeps one section, required by the target."""
    text = re.sub(r'\n\t\.(loc|file)[ \t][^\n]*|\n\$L__func_(begin|end)\w*:|\n\t// (begin|end) inline asm', '', text)
    at = text.find('\t.section\t.debug_')
    return text if at < 0 else text[:at] + '.section .debug_info { .b8 0 }\n'


def keep(path, out, results, numbers):
    theirs, ours = digests(results + '/jit.gpu'), digests(results + '/jit.ours')
    modules = []
    for first in numbers:
        with open('%s/%06d.ptx' % (out, first)) as f:
            text = f.read()
        same = [n for n in range(first, first + SIZE) if n in theirs and ours.get(n) == theirs[n]]
        modules.append(
            without_debugging_data(text[text.index('.version') :])
            + ''.join('//= %d %s\n' % (n, theirs[n]) for n in same)
        )
    with open(path, 'wb') as f:
        f.write(gzip.compress('//== next module\n'.join(modules).encode(), 9, mtime=0))


def main():
    if len(sys.argv) > 5 and sys.argv[1] == 'keep':
        return keep(*sys.argv[2:5], [int(n) for n in sys.argv[5:]])
    if len(sys.argv) == 4 and sys.argv[1] == 'source':
        print(source(int(sys.argv[2]), int(sys.argv[3])))
        return 0
    if len(sys.argv) == 5 and sys.argv[1] == 'compile':
        first, count = int(sys.argv[3]), int(sys.argv[4])
        os.makedirs(sys.argv[2], exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [
                f
                for f in pool.map(lambda n: compile_unit(sys.argv[2], n, SIZE), range(first, first + count, SIZE))
                if f
            ]
        print('\n'.join(failures), file=sys.stderr)
        return bool(failures)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main())
