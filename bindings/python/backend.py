"""Build backend of the package for pip (PEP 517 and PEP 660). It needs only Python, and no network.

The wheel has the Python files and ptxi.h. If the library has been built, the wheel also has the library, the command
`ptxi`, and the libraries with names of NVIDIA's, which `ptxi exec` uses. The library is the one that
PTXI_LIBRARY names, in a build directory or an installation, else the one in the directory `build` of the source tree.
A wheel without the library uses the installed library.

The source distribution is the whole source tree with `configure`. A wheel that is built from it contains the library,
which is compiled for it: that needs a C compiler, make, libffi and uthash.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sysconfig
import tarfile
import zipfile
from typing import Any, Dict, List, Optional

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
ENTRY_POINTS = """[console_scripts]
ptxi = ptxi.__main__:run

[pytest11]
ptxi = ptxi.pytest_plugin

[triton.backends]
ptxi = ptxi_triton
"""
SUMMARY = "Run NVIDIA PTX on the CPU, with NumPy arrays and a GPU's bits"


def version() -> str:
    """Return the version in ptxi.h, as 'major.minor.patch'."""
    text = (TOP / 'include' / 'ptxi.h').read_text()
    return '.'.join(re.findall(r'^#define PTXI_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)', text, re.M))


def compile_library() -> None:
    """Build the library of a source distribution in its directory `build`."""
    if not (TOP / 'PKG-INFO').exists() or (TOP / 'build' / '.libs').exists():
        return
    (TOP / 'build').mkdir(exist_ok=True)
    run('../configure', '-q', '--disable-static', cwd=TOP / 'build')
    run('make', '-s', f'-j{os.cpu_count() or 1}', cwd=TOP / 'build')


def run(*command: str, cwd: pathlib.Path) -> str:
    """Run a command, and return its output. Its messages go to stderr."""
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE).stdout.decode()


def built() -> Dict[str, pathlib.Path]:
    """Return the paths of the library, the command and the libraries of `ptxi exec`, by their names in the wheel.

    The command finds the libraries in `lib/ptxi` beside it, and they find libptxi in `lib`.
    """
    library = pathlib.Path(os.environ.get('PTXI_LIBRARY') or TOP / 'build' / '.libs' / 'libptxi.so.0').resolve()
    if not library.exists():
        return {}
    prefix = library.parents[1]
    in_build = library.parent.name == '.libs'
    libraries = prefix / 'lib' / 'ptxi' if in_build else library.parent / 'ptxi'
    found = {'ptxi/bin/lib/libptxi.so.0': library, 'ptxi/bin/ptxi': prefix / ('ptxi' if in_build else 'bin/ptxi')}
    for p in sorted(libraries.glob('lib*.so.*')):
        if re.fullmatch(r'lib\w+\.so\.\d+', p.name):
            found[f'ptxi/bin/lib/ptxi/{p.name}'] = p
    found.update({f'ptxi/bin/lib/ptxi/bin/{p.name}': p for p in (libraries / 'bin').iterdir()})
    return {name: p for name, p in found.items() if p.is_file()}


CLASSIFIERS = (
    'Development Status :: 4 - Beta', 'Environment :: GPU :: NVIDIA CUDA', 'Intended Audience :: Developers',
    'Operating System :: POSIX :: Linux', 'Programming Language :: C', 'Programming Language :: Python :: 3',
    'Topic :: Software Development :: Debuggers', 'Topic :: Software Development :: Testing',
    'Topic :: System :: Emulators', 'Typing :: Typed',
)


def metadata() -> str:
    """Return the text of the file METADATA, or PKG-INFO."""
    head = [('Metadata-Version', '2.1'), ('Name', 'ptxi'), ('Version', version()), ('Summary', SUMMARY),
            ('License', 'MIT'), *(('Classifier', c) for c in CLASSIFIERS), ('Requires-Python', '>=3.9'),
            ('Requires-Dist', 'numpy>=1.23'), ('Description-Content-Type', 'text/markdown')]
    return ''.join(f'{key}: {value}\n' for key, value in head) + '\n' + (TOP / 'README.md').read_text()


def information(tag: str) -> Dict[str, str]:
    """Return the files of the directory .dist-info, except RECORD."""
    return {'METADATA': metadata(), 'entry_points.txt': ENTRY_POINTS, 'LICENSE': (TOP / 'LICENSE').read_text(),
            'WHEEL': f'Wheel-Version: 1.0\nGenerator: libptxi\nRoot-Is-Purelib: false\nTag: {tag}\n'}


def wheel_tag() -> str:
    """Return the compatibility tag of the wheel."""
    platform = re.sub(r'[-.]', '_', sysconfig.get_platform())
    return f'py3-none-{platform if built() or (TOP / "PKG-INFO").exists() else "any"}'


class Wheel:
    """A wheel that is being written. `tag` is its compatibility tag, such as 'py3-none-any'."""

    def __init__(self, directory: str, tag: str) -> None:
        self.name = f'ptxi-{version()}-{tag}.whl'
        self.info = f'ptxi-{version()}.dist-info'
        self.zip = zipfile.ZipFile(pathlib.Path(directory) / self.name, 'w', zipfile.ZIP_DEFLATED)
        self.record = ''
        for name, text in information(tag).items():
            self.add(f'{self.info}/{name}', text.encode())

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        """Add a file and its line in RECORD."""
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self.zip.writestr(entry, data, compresslevel=1 if executable else 9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        self.record += f'{name},sha256={digest},{len(data)}\n'

    def close(self) -> str:
        """Write RECORD and close the file. Return the name of the wheel."""
        self.zip.writestr(f'{self.info}/RECORD', self.record + f'{self.info}/RECORD,,\n')
        self.zip.close()
        return self.name


def build_wheel(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    """Build a wheel (PEP 517). Return its name."""
    compile_library()
    compiled = built()
    wheel = Wheel(wheel_directory, wheel_tag())
    for package in 'ptxi', 'ptxi_triton':
        for p in sorted((HERE / package).rglob('*')):
            if p.suffix == '.py' or p.name == 'py.typed':
                wheel.add(p.relative_to(HERE).as_posix(), p.read_bytes())
    wheel.add('ptxi/ptxi.h', (TOP / 'include' / 'ptxi.h').read_bytes())
    for name, p in compiled.items():
        wheel.add(name, p.read_bytes(), executable=True)
    return wheel.close()


def build_editable(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                   metadata_directory: Optional[str] = None) -> str:
    """Build a wheel for `pip install -e` (PEP 660), which refers to the source tree. Return its name."""
    wheel = Wheel(wheel_directory, 'py3-none-any')
    wheel.add('ptxi.pth', f'{HERE}\n'.encode())
    return wheel.close()


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """Write the directory .dist-info without building a wheel (PEP 517). Return its name."""
    directory = pathlib.Path(metadata_directory) / f'ptxi-{version()}.dist-info'
    directory.mkdir()
    for name, text in information(wheel_tag()).items():
        (directory / name).write_text(text)
    return directory.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def sources() -> List[str]:
    """Return the names of all files of the source tree, with those that autoreconf generates."""
    if not (TOP / '.git').exists():
        return sorted(str(p.relative_to(TOP)) for p in TOP.rglob('*')
                      if p.is_file() and not re.match('build|autom4te|__pycache__', str(p.relative_to(TOP))))
    if not (TOP / 'configure').exists():
        run('autoreconf', '-i', cwd=TOP)
    generated = ['aclocal.m4', 'configure', 'Makefile.in']
    for directory in 'build-aux', 'm4':
        generated += [f'{directory}/{p.name}' for p in (TOP / directory).iterdir() if p.suffix != '.gitignore']
    return sorted({*run('git', 'ls-files', cwd=TOP).splitlines(), *generated})


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """Build a source distribution (PEP 517). Return its name. The same files give the same archive."""
    name = f'ptxi-{version()}'
    when = int(os.environ.get('SOURCE_DATE_EPOCH', '315532800'))
    contents = {f: (TOP / f).read_bytes() for f in sources() if (TOP / f).is_file() and f != 'PKG-INFO'}
    contents['PKG-INFO'] = metadata().encode()
    with open(pathlib.Path(sdist_directory) / f'{name}.tar.gz', 'wb') as out, \
            gzip.GzipFile('', 'wb', fileobj=out, mtime=when) as packed, \
            tarfile.open(fileobj=packed, mode='w', format=tarfile.PAX_FORMAT) as tar:
        for file, data in sorted(contents.items()):
            entry = tarfile.TarInfo(f'{name}/{file}')
            entry.size, entry.mtime = len(data), when
            entry.mode = 0o755 if os.access(TOP / file, os.X_OK) else 0o644
            tar.addfile(entry, io.BytesIO(data))
    return f'{name}.tar.gz'
