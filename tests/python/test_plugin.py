"""Tests of the pytest plugin, by the output of pytest."""
pytest_plugins = ['pytester']

OPTIONS = ['-p', 'ptxi.pytest_plugin', '-p', 'no:cacheprovider']
KERNEL = "'''.version 8.0\\n.target sm_75\\n.address_size 64\\n.entry k() { trap; }'''"


def test_a_failed_launch_is_the_tests_failure(pytester):
    pytester.makepyfile(f'''
        def test_waits(ptxi):
            ptxi.loads({KERNEL}).k[1, 1]()

        def test_does_not_wait(ptxi):
            mod = ptxi.loads({KERNEL})
            mod.k[1, 1, 0, ptxi.Stream()]()

        def test_bad_ptx(ptxi):
            ptxi.loads({KERNEL}.replace("trap", "tarp"))
    ''')
    result = pytester.runpytest(*OPTIONS)
    result.assert_outcomes(failed=3)
    out = ' '.join(result.stdout.str().split())
    assert out.count('E ptxi.errors.LaunchError: <ptx>:4:14: error: trap instruction') == 2
    assert out.count('E 4 | .entry k() { trap; }') == 2
    assert "E ptxi.errors.ModuleError: <ptx>:4:14: error: unknown instruction 'tarp'" in out
    assert 'module.py' not in out and 'device.py' not in out


def test_markers(pytester):
    pytester.makepyfile('''
        import pytest

        @pytest.mark.ptxi_device('sm_75', 'sm_90')
        @pytest.mark.ptxi_workers(1, 3)
        def test_both(ptxi):
            print('on', ptxi.current().profile, ptxi.current().workers)

        @pytest.mark.ptxi_workers(2)
        def test_one(ptxi):
            assert ptxi.current().workers == 2

        def test_none(ptxi):
            pass

        def test_without():
            pass
    ''')
    result = pytester.runpytest('-v', '-s', '--strict-markers', *OPTIONS)
    result.assert_outcomes(passed=7)
    out = result.stdout.str()
    for profile in ('sm_75', 'sm_90'):
        for workers in (1, 3):
            assert f'on {profile} {workers}' in out and f'test_both[{profile}-{workers}]' in out
