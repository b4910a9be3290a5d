"""Tests of sanitizers."""
import json
import pathlib
import xml.etree.ElementTree

import numpy as np
import pytest

import ptxi

KERNELS = pathlib.Path(__file__).parent / 'checks.ptx'


def test_race(ptxi):
    x = np.zeros(64, 'u4')
    with pytest.raises(ptxi.CheckError) as e:
        with ptxi.checking('race'):
            ptxi.load(KERNELS).same_word[1, 64](x)
    f, = e.value.findings
    assert (f.tool, f.severity, f.kind) == (ptxi.Sanitizer.RACE, ptxi.FindingSeverity.ERROR, 'write-after-write')
    assert [s.access for s in f.sites] == [ptxi.Access.WRITE] * 2
    assert {s.ptx_line for s in f.sites} == {10} and f.sites[0].ptx_text == 'st.global.u32 [%rd1], %r1;'
    assert f.sites[0].thread != f.sites[1].thread and f.kernel == 'same_word'
    assert 'checks.ptx:10: error: data race: write after write' in str(e.value)


def test_no_race(ptxi):
    x = np.zeros(64, 'u4')
    with ptxi.checking('race', 'memory') as checks:
        ptxi.load(KERNELS).own_word[1, 64](x)
    assert checks.findings == []
    assert checks.summary.launches == 1 and checks.summary.accesses == 2
    assert (x == np.arange(64)).all()


def test_invalid_access(ptxi):
    with pytest.raises(ptxi.CheckError) as e:
        with ptxi.checking('memory'):
            ptxi.load(KERNELS).own_word[1, 64](ptxi.zeros(16, 'u4'))
    f, = e.value.findings
    assert (f.kind, f.space, f.bytes, f.object_size, f.sites[0].thread[0]) == ('out-of-bounds', 'global', 4, 64, 16)


def kinds(checks):
    return {f.kind for f in checks.findings}


def test_intended_race(ptxi):
    x, y = ptxi.zeros(64, 'u4'), ptxi.zeros(64, 'u4')
    ptxi.annotate('intended_race', x, nbytes=4)
    with ptxi.checking('race', fail=False) as checks:
        ptxi.load(KERNELS).same_word[1, 64](x)
        assert kinds(checks) == set()
        ptxi.load(KERNELS).same_word[1, 64](y)
        assert kinds(checks) == {'write-after-write'}


def test_host_access(ptxi):
    x, stream = ptxi.zeros(64, 'u4'), ptxi.Stream()
    with ptxi.checking('race', fail=False) as checks:
        ptxi.load(KERNELS).own_word[1, 64, 0, stream](x)
        ptxi.annotate('host_read', x, nbytes=256)
        stream.synchronize()
        found = kinds(checks)
        assert found in ({'read-after-write'}, {'write-after-read'})  # the launch begins before or after it
        ptxi.annotate('host_write', x, nbytes=256)
        assert kinds(checks) == found


def test_pool(ptxi):
    pool = ptxi.zeros(1024, 'u1')
    ptxi.annotate('pool', pool, nbytes=1024)
    ptxi.annotate('allocate', pool, offset=0, nbytes=256)
    with ptxi.checking('memory'):
        ptxi.load(KERNELS).own_word[1, 64](pool)
    ptxi.annotate('resize', pool, nbytes=128)
    with pytest.raises(ptxi.CheckError, match='memory.out-of-bounds'):
        with ptxi.checking('memory'):
            ptxi.load(KERNELS).own_word[1, 64](pool)
    ptxi.annotate('pool_end', pool)
    ptxi.load(KERNELS).own_word[1, 64](pool)
    with pytest.raises(ValueError, match='unknown annotation'):
        ptxi.annotate('pond', pool)
    with pytest.raises(ptxi.Error):
        ptxi.annotate('free', pool)


def test_nothing_checked(ptxi):
    with pytest.raises(ptxi.CheckError, match='no kernel was launched on this device.*\nchecked 0 launches'):
        with ptxi.checking('race'):
            pass


def test_rules(ptxi):
    x = np.zeros(64, 'u4')
    with ptxi.checking('race', fail=False) as checks:
        ptxi.load(KERNELS).same_word[1, 64](x)
    rules = checks.report('rules')
    with ptxi.checking('race', rules=rules) as checks:
        ptxi.load(KERNELS).same_word[1, 64](x)
    assert checks.findings == [] and checks.summary.suppressed > 0
    with pytest.raises(ValueError, match="line 2: unknown tool or kind 'noise'"):
        with ptxi.checking('race', rules='# comment\nsuppress noise'):
            pass


def test_reports(ptxi):
    with ptxi.checking('race', fail=False) as checks:
        ptxi.load(KERNELS).same_word[1, 64](np.zeros(64, 'u4'))
    finding, summary = map(json.loads, checks.report('json').splitlines())
    assert finding['kind'] == 'write-after-write' and len(finding['sites']) == 2 and summary['error'] == 1
    result, = json.loads(checks.report('sarif'))['runs'][0]['results']
    assert result['ruleId'] == 'race.write-after-write' and result['relatedLocations']
    places = xml.etree.ElementTree.fromstring(checks.report('xml').encode()).findall('record/what/*/where')
    assert [place.find('func').text for place in places] == ['same_word', 'same_word']
    assert xml.etree.ElementTree.fromstring(checks.report('junit').encode()).find('.//failure') is not None
    assert 'Race reported between Write access' in checks.report('compute_sanitizer')
    with pytest.raises(ValueError, match='unknown format'):
        checks.report('yaml')


def report_call(error):
    ptxi._library.library().ReportCall(b'cudaMalloc', error, b'cudaErrorMemoryAllocation', b'out of memory')


def test_calls_that_fail(ptxi):
    with pytest.raises(ptxi.CheckError) as e:
        with ptxi.checking('all', 'api') as checks:
            report_call(2)
            report_call(2)
    f, = e.value.findings
    assert (f.tool, f.severity, f.kind, f.count) == (ptxi.Sanitizer.API, ptxi.FindingSeverity.ERROR, 'error', 2)
    assert f.sites[0].function == 'cudaMalloc'
    assert str(e.value).startswith('error: a call fails: cudaMalloc returns cudaErrorMemoryAllocation (error 2)')
    assert 'API call to cudaMalloc.' in checks.report('compute_sanitizer')


def test_calls_need_no_launch(ptxi):
    with ptxi.checking('api') as checks:
        report_call(600)  # not ready
    assert checks.findings == []
    with pytest.raises(ptxi.CheckError, match='no kernel was launched'):
        with ptxi.checking():
            report_call(2)
    with ptxi.checking('api', rules='suppress api.error function=Malloc') as checks:
        report_call(2)
    assert checks.findings == [] and checks.summary.suppressed == 1


@pytest.mark.ptxi_check('api')
@pytest.mark.xfail(strict=True, raises=ptxi.CheckError)
def test_marker_for_calls(ptxi):
    report_call(2)


def test_unknown_tool(ptxi):
    with pytest.raises(ValueError, match='unknown sanitizer'):
        with ptxi.checking('races'):
            pass


@pytest.mark.ptxi_check('race')
@pytest.mark.xfail(strict=True, raises=ptxi.CheckError)
def test_marker(ptxi):
    ptxi.load(KERNELS).same_word[1, 64](np.zeros(64, 'u4'))


@pytest.mark.ptxi_check('race')
def test_marker_without_findings(ptxi):
    ptxi.load(KERNELS).own_word[1, 64](np.zeros(64, 'u4'))
