"""Snapshots of devices: rollback, and restoring in another process."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ptxi

TEXT = '''
.version 8.0
.target sm_90
.address_size 64
.global .u64 total = 5;
.global .u64 where = generic(total);
.visible .entry add (.param .u64 data)
{
    .reg .b64 %p, %q, %v, %t;
    .reg .b32 %i;
    mov.u32 %i, %tid.x;
    ld.param.u64 %p, [data];
    mad.wide.u32 %p, %i, 8, %p;
    ld.global.u64 %q, [where];
    atom.add.u64 %t, [%q], 1;
    ld.global.u64 %v, [%p];
    ld.u64 %t, [%q];
    add.u64 %v, %v, %t;
    st.global.u64 [%p], %v;
    ret;
}
'''

CONTINUE = '''
import json, sys
import ptxi
text, path = sys.argv[1:]
with ptxi.Device('sm_90') as d:
    note = json.loads(d.restore(path))
    b = ptxi.Buffer.at(note['address'], 4, 'u8')
    ptxi.loads(text).add[1, 4](b)
    d.synchronize()
    print(b.array.tolist())
    try:
        ptxi.Buffer.at(note['address'] + 8, 4, 'u8')
    except ValueError as e:
        print(e)
'''


def test_rollback(tmp_path):
    with ptxi.Device('sm_90') as d:
        module = ptxi.loads(TEXT)
        b = ptxi.copy(np.arange(4, dtype='u8'))
        module.add[1, 4](b)
        d.save(tmp_path / 'a', note=b'first')
        first = b.array.tolist()
        later = ptxi.zeros(100)
        module.add[1, 4](b)
        second = b.array.tolist()
        d.save(tmp_path / 'b', tmp_path / 'a')
        assert d.restore(tmp_path / 'a') == b'first'
        assert b.array.tolist() == first == [9, 10, 11, 12]
        with pytest.raises(ValueError, match='freed'):
            later.array
        module.add[1, 4](b)
        assert b.array.tolist() == second
        assert d.restore(tmp_path / 'b') == b''
        assert b.array.tolist() == second


def test_another_process(tmp_path):
    with ptxi.Device('sm_90') as d:
        module = ptxi.loads(TEXT)
        b = ptxi.copy(np.arange(4, dtype='u8'))
        module.add[1, 4](b)
        d.save(tmp_path / 'a', note=json.dumps({'address': b.address}).encode())
        module.add[1, 4](b)
        d.synchronize()
        out = subprocess.run([sys.executable, '-c', CONTINUE, TEXT, tmp_path / 'a'], check=True, capture_output=True,
                             text=True).stdout.splitlines()
        assert out[0] == str(b.array.tolist())
        assert 'no allocation' in out[1]


def test_reasons(tmp_path):
    with ptxi.Device('sm_90') as d:
        with pytest.raises(ptxi.Error, match='cannot be read'):
            d.restore(tmp_path / 'none')
        (tmp_path / 'text').write_text('no snapshot')
        with pytest.raises(ptxi.Error, match='not a snapshot'):
            d.restore(tmp_path / 'text')
        d.save(tmp_path / 'a')
    with ptxi.Device('sm_80') as d:
        with pytest.raises(ptxi.Error, match='device sm_90'):
            d.restore(tmp_path / 'a')


COUNT = '''
.version 8.0
.target sm_90
.address_size 64
.visible .entry count (.param .u64 data, .param .u32 rounds)
{
    .reg .b64 %p;
    .reg .b32 %i, %n, %v;
    .reg .pred %more;
    ld.param.u64 %p, [data];
    mov.u32 %i, %ctaid.x;
    mad.wide.u32 %p, %i, 4, %p;
    ld.param.u32 %n, [rounds];
    ld.global.u32 %v, [%p];
loop:
    mad.lo.u32 %v, %v, 3, %i;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %more, %n, 0;
    @%more bra loop;
    st.global.u32 [%p], %v;
    ret;
}
'''

LAUNCH = '''
import os, sys
import numpy as np
import ptxi
text, path = sys.argv[1:]
blocks = 2000
with ptxi.Device('sm_90', workers=1) as d:
    resumed = os.path.exists(path)
    b = ptxi.Buffer.at(int(d.restore(path)), blocks, 'u4') if resumed else ptxi.copy(np.arange(blocks, dtype='u4'))
    kernel = ptxi.loads(text)['count']
    print('begins', flush=True)
    kernel.launch(blocks, 1, [b, 3000], checkpoint=path, every=0.01, note=str(b.address).encode())
    print(resumed, int(b.array.astype('u8').sum()))
'''


def test_a_killed_launch_continues(tmp_path):
    path = tmp_path / 'checkpoint'
    with ptxi.Device('sm_90') as d:
        b = ptxi.copy(np.arange(2000, dtype='u4'))
        ptxi.loads(COUNT)['count'][2000, 1](b, 3000)
        expected = int(b.array.astype('u8').sum())
    command = [sys.executable, '-c', LAUNCH, COUNT, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as p:
        while not path.exists() and p.poll() is None:
            time.sleep(0.001)
        p.kill()
    assert path.exists(), 'the launch ended before its first checkpoint'
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert out[-1] == f'True {expected}'
    assert not path.exists()


def test_launches_that_have_no_checkpoints(tmp_path):
    path = tmp_path / 'checkpoint'
    with ptxi.Device('sm_90') as d:
        count, b = ptxi.loads(COUNT)['count'], ptxi.zeros(4, 'u4')
        with pytest.raises(TypeError, match='use buffers'):
            count.launch(4, 1, [np.zeros(4, 'u4'), 1], checkpoint=path)
        with pytest.raises(ValueError, match='without a stream'):
            count.launch(4, 1, [b, 1], checkpoint=path, stream=ptxi.Stream(d))
        with pytest.raises(ptxi.LaunchError, match='depends on the order of the blocks'):
            ptxi.loads(TEXT)['add'].launch(4, 1, [b], checkpoint=path)
        with pytest.raises(ptxi.Error, match='INVALID_VALUE'):
            count.launch(4, 1, [b, 1], checkpoint=path, every=-1)
        assert not b.array.any()
        count.launch(4, 1, [b, 1], checkpoint=path, every=0)
        assert b.array.tolist() == [0, 1, 2, 3]
        assert not path.exists()


def test_an_interrupted_launch_continues(tmp_path):
    path, rounds = tmp_path / 'checkpoint', 60_000  # many more than there are before the first checkpoint
    with ptxi.Device('sm_90', workers=1) as d:
        count, b = ptxi.loads(COUNT)['count'], ptxi.copy(np.arange(2000, dtype='u4'))
        count[2000, 1](b, rounds)
        expected = b.array.tolist()
        b.array[:] = np.arange(2000)

        def interrupt():
            while not path.exists():
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            count.launch(2000, 1, [b, rounds], checkpoint=path, every=0.01)
        thread.join()
        d.restore(path)
        count.launch(2000, 1, [b, rounds], checkpoint=path)
        assert b.array.tolist() == expected
