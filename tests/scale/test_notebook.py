"""Executes samples/notebook.ipynb with a real kernel of Jupyter, and reads its outputs."""
import pathlib

import pytest

nbclient = pytest.importorskip('nbclient')
nbformat = pytest.importorskip('nbformat')
pytest.importorskip('ipykernel')
NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / 'samples' / 'notebook.ipynb'


def has_nvrtc():
    """Whether %%cuda can work."""
    from ptxi import _nvrtc
    try:
        _nvrtc.compiler()
    except ImportError:
        return False
    return True


def outputs(cell, kind):
    """Return the outputs of a MIME type, joined."""
    return '\n'.join(o['data'][kind] for o in cell['outputs'] if kind in o.get('data', {}))


def test_notebook():
    notebook = nbformat.read(NOTEBOOK, 4)
    if not has_nvrtc():
        notebook['cells'] = [c for c in notebook['cells']
                             if '%%cuda' not in c['source'] and 'squares' not in c['source']]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3').execute()
    code = {c['source'].splitlines()[-1]: c for c in notebook['cells'] if c['cell_type'] == 'code'}
    assert outputs(code['x.tolist()'], 'text/plain') == '[0.0, 2.0, 4.0, 6.0]'
    failed = code['twice[1, 8](x)']
    report = outputs(failed, 'text/html')
    assert 'ERROR_ILLEGAL_ADDRESS' in report and 'read of 4 bytes' in report and '(4, 0, 0)' in report
    assert [o['ename'] for o in failed['outputs'] if o['output_type'] == 'error'] == ['LaunchError']
    bad = next(c for line, c in code.items() if 'add.f33' in line)
    assert 'add.f33' in outputs(bad, 'text/html')
    assert '<script' not in report
    if 'y.tolist()' in code:
        assert outputs(code['y.tolist()'], 'text/plain') == '[0.0, 1.0, 4.0, 9.0]'


def test_markup_is_escaped():
    """Names of the program cannot add markup."""
    from ptxi import jupyter
    from ptxi.errors import Diagnostic, Severity
    d = Diagnostic(Severity.ERROR, 'a', 1, 1, 1, 'm', '<script>x</script>')
    assert '<script' not in jupyter.diagnostics_html([d])
