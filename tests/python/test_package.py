"""Tests of the package: parsing of the header, installation, and the command."""
import ctypes
import doctest
import importlib
import inspect
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import zipfile

import pytest

import ptxi
from ptxi import _nvrtc
from ptxi._header import header, path

PACKAGE = pathlib.Path(ptxi.__file__).parents[1]


def c_says(tmp_path, expressions):
    """Return the values of C expressions that use the header, as the compiler evaluates them."""
    lines = ''.join(f'    printf("%llu\\n", (unsigned long long)({e}));\n' for e in expressions)
    source = tmp_path / 'says.c'
    source.write_text(f'#include <stdio.h>\n#include "{path()}"\nint main(void)\n{{\n{lines}    return 0;\n}}\n')
    compiler = shlex.split(os.environ.get('CC') or 'cc')
    subprocess.run([*compiler, '-std=c99', '-o', tmp_path / 'says', source], check=True)
    output = subprocess.run([tmp_path / 'says'], check=True, capture_output=True, text=True).stdout
    return [int(x) for x in output.split()]


def test_numbers_and_layouts_are_those_of_the_compiler(tmp_path):
    want = dict(header.constants)
    for name, struct in header.structs.items():
        want[f'sizeof({name})'] = ctypes.sizeof(struct)
        for field, _ in struct._fields_:
            want[f'(size_t)&(({name} *)0)->{field}'] = getattr(struct, field).offset
    assert len(header.constants) > 200 and len(header.structs) >= 5
    assert dict(zip(want, c_says(tmp_path, want))) == want


def test_every_function_has_a_prototype():
    declared = [line for line in path().read_text().splitlines() if line.startswith('PTXI_API ')]
    assert len(header.functions) == len(declared)
    library = ctypes.CDLL(os.environ['PTXI_LIBRARY'])
    assert all(hasattr(library, name) for name in header.functions)


def test_all_that_is_public_is_documented():
    def documented(name, thing):
        assert thing.__doc__ if isinstance(thing, type) else inspect.getdoc(thing), f'{name} has no docstring'
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith('_') and (inspect.isfunction(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f'{name}.{member} has no docstring'

    for name in ptxi.__all__:
        documented(name, getattr(ptxi, name))


@pytest.mark.parametrize('name', sorted(p.stem for p in (PACKAGE / 'ptxi').glob('*.py')
                                        if '>>> ' in p.read_text()))
def test_examples_in_docstrings(name):
    if name == 'compiler':
        try:
            _nvrtc.compiler()
        except ImportError as e:
            pytest.skip(str(e))
    result = doctest.testmod(importlib.import_module(f'ptxi.{name}'))
    assert result.attempted and not result.failed


TYPED = """# pyright: strict
import numpy as np
import ptxi

mod: ptxi.Module = ptxi.loads("")
kernel: ptxi.Kernel = mod.k
kernel[1, (4, 2)](np.zeros(4), 1)
kernel.launch(1, 4, [1], opens=[np.zeros(4)])
with ptxi.Stream() as stream, kernel.prepare(1, 4, (1,), stream=stream) as launch:
    launch()
with ptxi.zeros((2, 3), 'f4') as buffer:
    print(len(buffer), buffer.array.sum(), [p.bytes for p in kernel.parameters])
x: int = ptxi.loads("")
"""


def complaints(checker, program, *arguments):
    """Return the errors that a type checker reports about a program that uses the package."""
    pytest.importorskip(checker, reason=f'{checker} is not installed')
    program.write_text(TYPED)
    env = {**os.environ, 'PYTHONPATH': '', 'MYPYPATH': str(PACKAGE), 'PYRIGHT_PYTHON_IGNORE_WARNINGS': '1'}
    output = subprocess.run([sys.executable, '-m', checker, *arguments, str(program)], capture_output=True, text=True,
                            env=env, cwd=program.parent).stdout
    assert output
    return [line for line in output.splitlines() if ' error: ' in line]


def test_mypy_accepts_the_package_and_its_use(tmp_path):
    wrong = complaints('mypy', tmp_path / 'program.py', '--strict', '--cache-dir', str(tmp_path / 'cache'),
                       str(PACKAGE / 'ptxi'))
    assert len(wrong) == 1 and 'program.py:13' in wrong[0] and wrong[0].endswith('[assignment]'), wrong


def test_pyright_accepts_the_use_of_the_package(tmp_path):
    """tests/lint.sh checks the package itself, which takes half a minute."""
    if not shutil.which('node'):
        pytest.skip('node is not installed; pyright would download it')
    (tmp_path / 'pyrightconfig.json').write_text(json.dumps({'extraPaths': [str(PACKAGE)]}))
    wrong = complaints('pyright', tmp_path / 'program.py', '--pythonpath', sys.executable)
    assert len(wrong) == 1 and 'program.py:13' in wrong[0] and 'declared type "int"' in wrong[0], wrong


def test_the_library_is_needed_by_the_first_use_only():
    code = 'import ptxi\ntry: ptxi.profiles()\nexcept ImportError as e: print(e)'
    env = {**os.environ, 'PTXI_LIBRARY': '/nowhere/libptxi.so', 'PYTHONPATH': str(PACKAGE)}
    out = subprocess.run([sys.executable, '-c', code], env=env, check=True, capture_output=True, text=True).stdout
    assert 'set PTXI_LIBRARY' in out and '/nowhere/libptxi.so' in out


def test_pip_installs_it_without_a_network(tmp_path):
    subprocess.run([sys.executable, '-m', 'pip', 'wheel', '-q', '--no-index', '--no-deps', '--no-build-isolation',
                    '--disable-pip-version-check', '-w', tmp_path, PACKAGE], check=True)
    wheel, = tmp_path.glob('ptxi-*.whl')
    with zipfile.ZipFile(wheel) as z:
        z.extractall(tmp_path)
        names = set(z.namelist())
        entry_points, = (z.read(n).decode() for n in names if n.endswith('entry_points.txt'))
    assert {'ptxi/__init__.py', 'ptxi/py.typed', 'ptxi/ptxi.h', 'ptxi/bin/lib/libptxi.so.0', 'ptxi/bin/ptxi'} <= names
    assert {p.relative_to(PACKAGE).as_posix() for p in (PACKAGE / 'ptxi').rglob('*.py')} <= names
    triton = {f'ptxi_triton/{p.name}' for p in (PACKAGE / 'ptxi_triton').glob('*.py')}
    assert 'ptxi_triton/driver.py' in triton <= names and '[triton.backends]\nptxi = ptxi_triton\n' in entry_points
    env = {k: v for k, v in os.environ.items() if k != 'PTXI_LIBRARY'}
    env['PYTHONPATH'] = str(tmp_path)
    code = 'import ptxi, ptxi._library as l; ptxi.profiles(); print(ptxi.__version__, l.library().path)'
    out = subprocess.run([sys.executable, '-c', code], env=env, check=True, capture_output=True, text=True,
                         cwd=tmp_path).stdout
    assert out.split() == [ptxi.__version__, str(tmp_path / 'ptxi' / 'bin' / 'lib' / 'libptxi.so.0')]
    assert wheel.name.startswith(f'ptxi-{ptxi.__version__}-py3-none-linux')
    command_ = tmp_path / 'ptxi' / 'bin' / 'ptxi'
    command_.chmod(0o755)  # the archive has the mode, which extractall() does not set
    code = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0), 'libptxi.so' in open('/proc/self/maps').read())"
    out = subprocess.run([command_, 'exec', sys.executable, '-c', code], env=env, check=True, capture_output=True,
                         text=True, cwd=tmp_path).stdout
    assert out == '0 True\n'


def command(*arguments, **env):
    environment = {**os.environ, 'PYTHONPATH': str(PACKAGE), **env}
    return subprocess.run([sys.executable, '-m', 'ptxi', *arguments], env=environment, capture_output=True, text=True)


def test_the_command():
    kernels = str(pathlib.Path(__file__).with_name('kernels.ptx'))
    result = command('list', kernels, PTXI_COMMAND=os.environ['PTXI'])
    assert result.returncode == 0 and 'add(.u64 y, .u64 x, .f32 a)' in result.stdout
    assert command('check', '/nowhere.ptx', PTXI_COMMAND=os.environ['PTXI']).returncode == 1
    missing = command('list', PTXI_COMMAND='/nowhere/ptxi')
    assert missing.returncode == 127 and 'set PTXI_COMMAND' in missing.stderr


@pytest.mark.parametrize('name', sorted(p.name for p in (PACKAGE / 'examples').glob('*.py')))
def test_examples(name):
    result = subprocess.run([sys.executable, PACKAGE / 'examples' / name], capture_output=True, text=True,
                            env={**os.environ, 'PYTHONPATH': str(PACKAGE)})
    assert result.returncode == 0, result.stderr
    assert result.stdout == (PACKAGE / 'examples' / name).with_suffix('.expected').read_text()
