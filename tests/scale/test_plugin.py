"""The options of the pytest plugin for snapshots, schedules and shards, also with xdist."""
import subprocess
import sys

TESTS = '''
import numpy as np
import pytest

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v)
{
    .reg .b32 %t, %v; .reg .b64 %p;
    mov.u32 %t, %tid.x; ld.param.u64 %p, [p]; ld.param.u32 %v, [v];
    add.u32 %v, %v, %t; mad.wide.u32 %p, %t, 4, %p; st.global.u32 [%p], %v; ret;
}
"""

@pytest.mark.parametrize('k', range(6))
def test_fill(ptxi, ptxi_snapshot, k):
    x = np.zeros(8, 'u4')
    ptxi.loads(PTX).fill[1, 8](x, k + OFFSET)
    ptxi_snapshot(x)
    ptxi_snapshot(x * 2, name='twice')
'''


def run(directory, offset, *options):
    """Run the tests. Return the exit status and the output."""
    (directory / 'test_it.py').write_text(TESTS.replace('OFFSET', str(offset)))
    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'ptxi.pytest_plugin', '-p', 'no:cacheprovider',
                           *options], cwd=directory, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def test_snapshots_schedules_and_shards(tmp_path):
    status, out = run(tmp_path, 0)
    assert status == 1 and '--ptxi-update makes it' in out
    status, out = run(tmp_path, 0, '--ptxi-update', '-n', '2')
    assert status == 0, out
    assert len(list((tmp_path / 'snapshots').iterdir())) == 12
    for options in ((), ('-n', '2'), ('--ptxi-schedules', '3'), ('--ptxi-schedules', '2', '-n', '2')):
        status, out = run(tmp_path, 0, *options)
        assert status == 0, out
        runs = 6 * (1 + (int(options[1]) if '--ptxi-schedules' in options else 0))
        assert f'{runs} passed' in out
    status, out = run(tmp_path, 1)
    assert status == 1 and '8 of 8 elements differ' in out and '6 failed' in out
    counts = []
    for k in (1, 2, 3):
        status, out = run(tmp_path, 0, '--ptxi-shard', f'{k}/3')
        assert status in (0, 5), out
        counts.append(int(out.split(' passed')[0].split()[-1]) if ' passed' in out else 0)
    assert sum(counts) == 6
    assert run(tmp_path, 0, '--ptxi-shard', '4/3')[0] == 4
