"""Runs Python programs that compile and link at run time, with the libraries of libptxi in place of NVIDIA's.

NVIDIA's Python packages open the libraries of their wheels by path, unless a library of that name is loaded already.
Therefore the libraries of libptxi are preloaded.
"""
import importlib.util
import os
import subprocess
import sys

import pytest

CUDA_CORE = r"""
import warnings
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

warnings.simplefilter('ignore')
device = Device(0)
device.set_current()
stream = device.create_stream()
arch = 'sm_%d%d' % tuple(device.compute_capability)
KERNEL = 'extern "C" __global__ void k(int *p) { p[threadIdx.x] = triple(p[threadIdx.x]) + 1; }'
TRIPLE = 'extern "C" __device__ int triple(int x) { return 3 * x; }'
CALLER = 'extern "C" __device__ int triple(int);' + KERNEL

def check(code):
    x = np.arange(32, dtype=np.int32)
    p = device.memory_resource.allocate(x.nbytes, stream=stream)
    driver.cuMemcpyHtoD(int(p.handle), x.ctypes.data, x.nbytes)
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel('k'), int(p.handle))
    stream.sync()
    driver.cuMemcpyDtoH(x.ctypes.data, int(p.handle), x.nbytes)
    assert (x == 3 * np.arange(32) + 1).all()

def compiled(source, kind, **options):
    return Program(source, 'c++', ProgramOptions(std='c++17', arch=arch, **options)).compile(kind)

for kind in 'ptx', 'cubin':
    check(compiled(TRIPLE + KERNEL, kind))
for kind, lto in ('ptx', {}), ('ltoir', {'link_time_optimization': True}):
    parts = [compiled(source, kind, relocatable_device_code=True, **lto) for source in (CALLER, TRIPLE)]
    check(Linker(*parts, options=LinkerOptions(arch=arch, **lto)).link('cubin'))
"""

NUMBA_CUDA = r"""
import warnings
import numpy as np
from numba import cuda

warnings.simplefilter('ignore')

@cuda.jit(device=True)
def triple(x):
    return 3 * x

def k(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = triple(a[i]) + 1

for options in {}, {'lto': True}, {'lto': False}:
    a = cuda.to_device(np.arange(1000))
    cuda.jit(**options)(k)[8, 128](a)
    assert (a.copy_to_host() == 3 * np.arange(1000) + 1).all()
"""


@pytest.mark.parametrize('package, program', [('cuda.core', CUDA_CORE), ('numba_cuda', NUMBA_CUDA)],
                         ids=['cuda-core', 'numba-cuda'])
def test_compiles_and_links(package, program):
    if not importlib.util.find_spec(package.split('.')[0]) or not importlib.util.find_spec(package):
        pytest.skip(f'{package} is not installed')
    bindings = os.environ['PTXI_BINDINGS']
    preload = [f'{bindings}/nvrtc/.libs/libnvrtc.so.13', f'{bindings}/nvjitlink/.libs/libnvJitLink.so.13']
    environment = dict(os.environ, LD_LIBRARY_PATH=os.environ['PTXI_DRIVER'], LD_PRELOAD=':'.join(preload))
    done = subprocess.run([sys.executable, '-c', program], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
