"""Inline assembly as functions: on a number, on a warp, and on an array, with the bits that a GPU would give."""
import numpy as np

import ptxi

cube = ptxi.asm('''{
    .reg .u32 t1;
    mul.lo.u32 t1, %1, %1;
    mul.lo.u32 %0, t1, %1;
}''', '=r', 'r')
print(cube(3), cube(np.arange(5, dtype='u4')))

butterfly = ptxi.asm('shfl.sync.bfly.b32 %0, %1, %2, 31, -1;', '=r', 'r', 'n')
print(butterfly(np.arange(32, dtype='u4'), 1)[:8])

x = np.array([0.1, 1, 2, 1e30], 'f4')
print([f'{b:08x}' for b in ptxi.asm('ex2.approx.ftz.f32 %0, %1;', '=f', 'f')(-x).view('u4')])

try:
    ptxi.asm('mov.u32 %0, %1;\ncvt.f32.s64 %0, %2;', '=r', 'r')(1)
except ptxi.ModuleError as e:
    print(e)
