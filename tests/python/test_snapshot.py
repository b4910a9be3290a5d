"""Snapshots of devices: rollback, and restoring in another process."""
import json
import subprocess
import sys

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
