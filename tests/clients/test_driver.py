"""Runs programs for the CUDA driver with the libcuda.so.1 of libptxi.

Each program runs in its own process, because the loader searches for the library when a process starts.
"""
import importlib.util
import os
import subprocess
import sys

import pytest

TWICE = r"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 p, .param .u32 n) {
    .reg .pred %off; .reg .u32 %i, %b, %t, %v; .reg .u64 %a, %o;
    ld.param.u64 %a, [p]; ld.param.u32 %v, [n];
    mov.u32 %i, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %b, %t;
    setp.ge.u32 %off, %i, %v; @%off ret;
    mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; ld.global.u32 %v, [%a]; add.u32 %v, %v, %v; st.global.u32 [%a], %v;
    ret;
}
"""

CUDA_PYTHON = """
import ctypes, numpy as np
from cuda.bindings import driver

def call(name, *arguments):
    error, *results = getattr(driver, name)(*arguments)
    assert error == driver.CUresult.CUDA_SUCCESS, (name, error)
    return results[0] if len(results) == 1 else results

call('cuInit', 0)
device = call('cuDeviceGet', 0)
assert call('cuDeviceGetName', 64, device).startswith(b'libptxi')
context = call('cuDevicePrimaryCtxRetain', device)
call('cuCtxSetCurrent', context)
stream, start, end = call('cuStreamCreate', 0), call('cuEventCreate', 0), call('cuEventCreate', 0)
kernel = call('cuModuleGetFunction', call('cuModuleLoadData', TWICE.encode() + b'\\0'), b'twice')
x = np.arange(1000, dtype=np.uint32)
p = call('cuMemAlloc', x.nbytes)
call('cuMemcpyHtoDAsync', p, x.ctypes.data, x.nbytes, stream)
call('cuEventRecord', start, stream)
call('cuLaunchKernel', kernel, 8, 1, 1, 128, 1, 1, 0, stream, ((p, 1000), (None, ctypes.c_uint32)), 0)
call('cuEventRecord', end, stream)
call('cuMemcpyDtoHAsync', x.ctypes.data, p, x.nbytes, stream)
call('cuStreamSynchronize', stream)
assert (x == 2 * np.arange(1000)).all()
assert call('cuEventElapsedTime', start, end) >= 0
assert driver.cuModuleLoadData(b'not PTX\\0')[0] == driver.CUresult.CUDA_ERROR_INVALID_IMAGE
assert driver.cuGetErrorName(driver.CUresult.CUDA_ERROR_INVALID_PTX)[1] == b'CUDA_ERROR_INVALID_PTX'

def captured(n):
    call('cuStreamBeginCapture', stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
    status, _, graph, after, *_ = call('cuStreamGetCaptureInfo', stream)
    assert status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE and not after
    call('cuMemsetD32Async', p, 3, 1000, stream)
    call('cuLaunchKernel', kernel, 8, 1, 1, 128, 1, 1, 0, stream, ((p, n), (None, ctypes.c_uint32)), 0)
    call('cuMemcpyDtoHAsync', x.ctypes.data, p, x.nbytes, stream)
    return call('cuStreamEndCapture', stream)

exec_ = call('cuGraphInstantiate', captured(1000), 0)
for n in 1000, 10:
    call('cuGraphLaunch', exec_, stream)
    call('cuStreamSynchronize', stream)
    assert (x[:n] == 6).all() and (x[n:] == 3).all()
    info = call('cuGraphExecUpdate', exec_, captured(10))
    assert info.result == driver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
call('cuMemFree', p)
"""

PYCUDA = """
import numpy as np
import pycuda.driver as cuda

cuda.init()
context = cuda.Device(0).make_context()
twice = cuda.module_from_buffer(TWICE.encode() + b'\\0').get_function('twice')
x = np.arange(1000, dtype=np.uint32)
twice(cuda.InOut(x), np.uint32(500), grid=(8, 1), block=(128, 1, 1))
assert (x[:500] == 2 * np.arange(500)).all() and (x[500:] == np.arange(500, 1000)).all()
p, stream = cuda.to_device(x), cuda.Stream()
twice(p, np.uint32(1000), grid=(8, 1), block=(128, 1, 1), stream=stream)
stream.synchronize()
assert (cuda.from_device_like(p, x) == 2 * x).all()
p.free()
context.pop()
context.detach()
"""


@pytest.mark.parametrize('package, program', [('cuda.bindings', CUDA_PYTHON), ('pycuda', PYCUDA)],
                         ids=['cuda-python', 'pycuda'])
def test_runs_a_kernel(package, program):
    if not importlib.util.find_spec(package.split('.')[0]) or not importlib.util.find_spec(package):
        pytest.skip(f'{package} is not installed')
    environment = dict(os.environ, LD_LIBRARY_PATH=os.environ['PTXI_DRIVER'])
    command = [sys.executable, '-c', f'TWICE = {TWICE!r}\n{program}']
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
