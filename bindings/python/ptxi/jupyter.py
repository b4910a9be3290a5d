"""Magics for Jupyter and IPython: `%load_ext ptxi.jupyter`, then cells that begin with `%%cuda` or `%%ptx`.

    %%cuda -std=c++17 --name scale
    __global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }

compiles CUDA C++ with NVRTC, as `ptxi.compile` does, or loads PTX, as `ptxi.loads` does. The kernels become variables
of the notebook, and so does the module with `--name NAME`. What a kernel prints appears below the cell. The failure of
a launch and the messages of a compiler are shown as rich text: a table of the place and the memory, and the whole
report.
"""
import html
import shlex
from typing import Any, Dict, List, Optional, Tuple

from . import compiler, module
from .errors import Access, Diagnostic, LaunchError, ModuleError, Report, Severity


def report_html(report: Report) -> str:
    """Return a report of a failed launch as HTML."""
    rows: List[Tuple[str, str]] = [('kernel', report.kernel or '')]
    if report.source_file:
        rows.append(('source', f'{report.source_file}:{report.source_line}'))
    if report.ptx_line:
        rows.append(('PTX', f'{report.ptx_file}:{report.ptx_line}'))
    rows.append(('block, thread', f'{report.block}, {report.thread}'))
    if report.access_size:
        what = str(Access(report.access).name.lower())
        rows.append((what, f'{report.access_size} bytes at {report.address:#x}'))
    if report.nearest_size:
        rows.append(('nearest allocation', f'{report.nearest_size} bytes at {report.nearest_base:#x}'))
    cells = ''.join(f'<tr><th style="text-align:left">{html.escape(name)}</th><td><code>{html.escape(text)}</code></td>'
                    '</tr>' for name, text in rows if text)
    return (f'<div class="ptxi-report"><b style="color:#b00">{html.escape(str(report.result.name))}</b>'
            f'<table>{cells}</table><pre>{html.escape(report.text)}</pre></div>')


def diagnostics_html(diagnostics: List[Diagnostic]) -> str:
    """Return messages about a text as HTML."""
    parts = []
    for d in diagnostics:
        colour = '#b00' if d.severity == Severity.ERROR else '#960'
        parts.append(f'<div class="ptxi-message" style="border-left:3px solid {colour};padding-left:1em">'
                     f'<pre>{html.escape(d.text)}</pre></div>')
    return ''.join(parts)


def _show(shell: Any, markup: str, text: str) -> None:
    """Show rich text, with plain text for frontends that have no HTML."""
    shell.display_pub.publish({'text/html': markup, 'text/plain': text})


def _on_error(shell: Any, etype: Any, value: BaseException, tb: Any, tb_offset: Optional[int] = None) -> Any:
    """Show the exception in place of Python's traceback. Only its last line follows."""
    if isinstance(value, LaunchError):
        _show(shell, report_html(value.report), str(value))
    elif isinstance(value, ModuleError):
        _show(shell, diagnostics_html(value.diagnostics), str(value))
    lines = [f'{etype.__name__}: {str(value).splitlines()[0] if str(value) else ""}']
    shell._showtraceback(etype, value, lines)
    return lines


def _name_of(words: List[str]) -> Optional[str]:
    """Take `--name NAME` out of the words of a line, and return the name."""
    if '--name' not in words:
        return None
    k = words.index('--name')
    if k + 1 == len(words) or not words[k + 1].isidentifier():
        raise ValueError('--name needs the name of a variable')
    name = words[k + 1]
    del words[k:k + 2]
    return name


def _define(shell: Any, mod: module.Module, name: Optional[str]) -> None:
    """Make the kernels variables of the notebook, and show what there is."""
    kernels: Dict[str, Any] = {}
    for symbol, names in mod.device._core.run(mod._cpp_names_of_kernels).items():
        short = [n for n in names if n.isidentifier() and n not in kernels]
        kernels[short[-1] if short else symbol] = mod[symbol]
    shell.push(kernels)
    if name:
        shell.push({name: mod})
    if mod.diagnostics:
        _show(shell, diagnostics_html(mod.diagnostics), ''.join(d.text for d in mod.diagnostics))
    shell.display_pub.publish({'text/plain': 'kernels: ' + ', '.join(kernels) if kernels else 'no kernels'})


def load_ipython_extension(shell: Any) -> None:
    """Register the magics. IPython calls this for %load_ext."""

    def cuda(line: str, cell: str) -> None:
        """Compile CUDA C++: %%cuda [--name NAME] [OPTION of NVRTC]..."""
        words = shlex.split(line)
        name = _name_of(words)
        _define(shell, compiler.compile(cell, *words, name=f'<cell {shell.execution_count}>'), name)

    def ptx(line: str, cell: str) -> None:
        """Load PTX: %%ptx [--name NAME]"""
        words = shlex.split(line)
        name = _name_of(words)
        if words:
            raise ValueError(f'unexpected option {words[0]}')
        _define(shell, module.loads(cell, f'<cell {shell.execution_count}>'), name)

    shell.register_magic_function(cuda, 'cell', 'cuda')
    shell.register_magic_function(ptx, 'cell', 'ptx')
    shell.set_custom_exc((LaunchError, ModuleError), _on_error)
