"""Builds the package, with nothing but Python: `pip install ./bindings/python`, also without a network.

The wheel holds the Python files and ptxi.h. Where the library has been built it holds that as well, and the command:
PTXI_LIBRARY names the library, else it is taken from the source tree's directory build. Without one, the installed
library is found when the package is used."""
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
SUMMARY = "Run NVIDIA PTX on the CPU, with NumPy arrays and a GPU's bits"


def version() -> str:
    text = (TOP / 'include' / 'ptxi.h').read_text()
    return '.'.join(re.findall(r'^#define PTXI_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)', text, re.M))


def built() -> Dict[str, pathlib.Path]:
    """What was compiled, by its name in the package."""
    library = pathlib.Path(os.environ.get('PTXI_LIBRARY') or TOP / 'build' / '.libs' / 'libptxi.so.0').resolve()
    command = library.parents[1] / 'ptxi'
    found = {'ptxi/libptxi.so.0': library, 'ptxi/bin/ptxi': command}
    return {name: p for name, p in found.items() if library.exists() and p.is_file()}


def metadata() -> str:
    return (f'Metadata-Version: 2.1\nName: ptxi\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: MIT\n'
            'Requires-Python: >=3.9\nRequires-Dist: numpy>=1.23\n')


class Wheel:
    def __init__(self, directory: str, tag: str) -> None:
        self.name = f'ptxi-{version()}-{tag}.whl'
        self.info = f'ptxi-{version()}.dist-info'
        self.zip = zipfile.ZipFile(pathlib.Path(directory) / self.name, 'w', zipfile.ZIP_DEFLATED)
        self.record = ''
        self.add(f'{self.info}/METADATA', metadata().encode())
        self.add(f'{self.info}/WHEEL', f'Wheel-Version: 1.0\nGenerator: libptxi\nRoot-Is-Purelib: false\nTag: {tag}\n'.encode())
        self.add(f'{self.info}/entry_points.txt', b'[pytest11]\nptxi = ptxi.pytest_plugin\n')

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self.zip.writestr(entry, data, compresslevel=1 if executable else 9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        self.record += f'{name},sha256={digest},{len(data)}\n'

    def close(self) -> str:
        self.zip.writestr(f'{self.info}/RECORD', self.record + f'{self.info}/RECORD,,\n')
        self.zip.close()
        return self.name


def build_wheel(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    compiled = built()
    platform = re.sub(r'[-.]', '_', sysconfig.get_platform()) if compiled else 'any'
    wheel = Wheel(wheel_directory, f'py3-none-{platform}')
    for p in sorted((HERE / 'ptxi').iterdir()):
        if p.suffix == '.py' or p.name == 'py.typed':
            wheel.add(f'ptxi/{p.name}', p.read_bytes())
    wheel.add('ptxi/ptxi.h', (TOP / 'include' / 'ptxi.h').read_bytes())
    for name, p in compiled.items():
        wheel.add(name, p.read_bytes(), executable=True)
    return wheel.close()


def build_editable(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                   metadata_directory: Optional[str] = None) -> str:
    """For `pip install -e`: the source tree itself, with the library as the tree finds it."""
    wheel = Wheel(wheel_directory, 'py3-none-any')
    wheel.add('ptxi.pth', f'{HERE}\n'.encode())
    return wheel.close()
