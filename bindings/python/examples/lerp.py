"""Loads lerp.ptx, which nvcc compiled from lerp.cu, runs it on NumPy arrays, and shows errors of invalid launches."""
import pathlib

import numpy as np

import ptxi

mod = ptxi.load(pathlib.Path(__file__).parents[3] / 'samples' / 'lerp.ptx')
x, y, z = np.arange(4, dtype='f4'), np.full(4, 8, 'f4'), np.empty(4, 'f4')
mod.cuk_lerp[1, 4](x, y, z, 0.25)
print(z)

try:
    mod.cuk_lerp[1, 5](x, y, z, 0.25)
except ptxi.LaunchError as e:
    print(e.report.fault.name, 'in', e.report.kernel, 'by thread', e.report.thread, 'at line', e.report.ptx_line)
try:
    mod.cuk_lerp[1, 4](x, y, z)
except ptxi.ArgumentError as e:
    print(e)
