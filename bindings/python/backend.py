"""Build backend of the package for pip (PEP 517 and PEP 660). It needs only Python, and no network.

The wheel has the Python files and ptxi.h. If the library has been built, the wheel also has the library, the command
`ptxi`, and the libraries with names of NVIDIA's, which `ptxi exec` uses. The library is the one that
PTXI_LIBRARY names, in a build directory or an installation, else the one in the directory `build` of the source tree.
A wheel without the library uses the installed library.
"""
import base64
import hashlib
import os
import pathlib
import re
import sysconfig
import zipfile
from typing import Any, Dict, Optional

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


def metadata() -> str:
    """Return the text of the file METADATA."""
    return (f'Metadata-Version: 2.1\nName: ptxi\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: MIT\n'
            'Requires-Python: >=3.9\nRequires-Dist: numpy>=1.23\n')


class Wheel:
    """A wheel that is being written. `tag` is its compatibility tag, such as 'py3-none-any'."""

    def __init__(self, directory: str, tag: str) -> None:
        self.name = f'ptxi-{version()}-{tag}.whl'
        self.info = f'ptxi-{version()}.dist-info'
        self.zip = zipfile.ZipFile(pathlib.Path(directory) / self.name, 'w', zipfile.ZIP_DEFLATED)
        self.record = ''
        self.add(f'{self.info}/METADATA', metadata().encode())
        description = f'Wheel-Version: 1.0\nGenerator: libptxi\nRoot-Is-Purelib: false\nTag: {tag}\n'
        self.add(f'{self.info}/WHEEL', description.encode())
        self.add(f'{self.info}/entry_points.txt', ENTRY_POINTS.encode())

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
    compiled = built()
    platform = re.sub(r'[-.]', '_', sysconfig.get_platform()) if compiled else 'any'
    wheel = Wheel(wheel_directory, f'py3-none-{platform}')
    for package in 'ptxi', 'ptxi/scale', 'ptxi_triton':
        for p in sorted((HERE / package).iterdir()):
            if p.suffix == '.py' or p.name == 'py.typed':
                wheel.add(f'{package}/{p.name}', p.read_bytes())
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
