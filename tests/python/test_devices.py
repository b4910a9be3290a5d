"""Several devices, and invalid memory accesses. PTXI_DEVICE is read once, so each test runs a process."""
import os
import pathlib
import subprocess
import sys

import pytest

import ptxi

PACKAGE = pathlib.Path(ptxi.__file__).parents[1]
KERNEL = '''
import sys
import numpy as np, ptxi
TEXT = """.version 8.0
.target sm_80
.address_size 64
.entry copy(.param .u64 to, .param .u64 from) {
    .reg .b64 %t, %f, %o; .reg .b32 %x, %i;
    ld.param.u64 %t, [to]; ld.param.u64 %f, [from]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4;
    add.s64 %t, %t, %o; add.s64 %f, %f, %o;
    ld.global.u32 %x, [%f]; st.global.u32 [%t], %x; ret;
}"""
'''


def run(code, **env):
    """Run code in a process of its own, and return its output."""
    environment = {**os.environ, 'PYTHONPATH': str(PACKAGE), **env}
    result = subprocess.run([sys.executable, '-c', KERNEL + code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result


def test_devices_of_the_environment():
    code = '''
assert ptxi.device_count() == 2
zero, one = ptxi.Device(0), ptxi.Device(1, workers=1)
assert (zero.profile, one.profile, zero.ordinal, one.ordinal) == ('sm_90', 'sm_80', 0, 1)
assert one.name != zero.name and one.attribute(ptxi.DeviceAttribute.COMPUTE_CAPABILITY_MAJOR) == 8
assert ptxi.Device().profile == 'sm_90' and ptxi.Device('sm_75').ordinal == 0
for number in (2, -1):
    try:
        ptxi.Device(number)
    except ValueError as e:
        assert 'PTXI_DEVICE lists 2' in str(e)
    else:
        sys.exit('there is a device ' + str(number))
'''
    run(code, PTXI_DEVICE='sm_90,sm_80')


def test_peer_access():
    code = '''
zero, one = ptxi.Device(0), ptxi.Device(1)
with one:
    there = ptxi.copy(np.arange(4, dtype='u4'))
with zero:
    here, kernel = ptxi.zeros(4, 'u4'), ptxi.loads(TEXT).copy
    try:
        kernel[1, 4](here, there)
        zero.synchronize()
    except ptxi.LaunchError as e:
        assert e.report.fault == ptxi.Fault.PEER_ACCESS
    else:
        sys.exit('access without permission')
    zero.enable_peer_access(one)
    kernel[1, 4](here, there)
    zero.synchronize()
    assert np.asarray(here).tolist() == [0, 1, 2, 3]
    zero.disable_peer_access(one)
    try:
        zero.enable_peer_access(zero)
    except ptxi.Error as e:
        assert e.result == ptxi.Result.ERROR_PEER_ACCESS_UNSUPPORTED
    else:
        sys.exit('access to itself')
'''
    run(code, PTXI_DEVICE='sm_80,sm_80')


def test_on_fault(ptxi):
    device = ptxi.Device()
    assert device.on_fault == 'fail'
    device.on_fault = 'report'
    assert device.on_fault == 'report'
    with pytest.raises(ValueError, match='accepted: fail, report'):
        device.on_fault = 'ignore'
    code = '''
y = ptxi.zeros(4, 'u4')
ptxi.loads(TEXT).copy[1, 8](y, ptxi.copy(np.arange(2, dtype='u4')))
ptxi.current().synchronize()
print(np.asarray(y).tolist())
'''
    result = run(code, PTXI_ON_FAULT='report')
    assert result.stdout == '[0, 1, 0, 0]\n'
    assert result.stderr.count('warning: read of 4 bytes') == result.stderr.count('warning: write of 4 bytes') == 1
    assert '10 invalid accesses so far' in result.stderr
