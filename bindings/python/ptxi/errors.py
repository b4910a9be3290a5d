"""What goes wrong, as exceptions that carry all that the library knows."""
import ctypes
import dataclasses
from typing import Any, Dict, List, Optional, Tuple

from ._header import header
from ._library import library

Result: Any = header.enums['ptxiResult']
Fault: Any = header.enums['ptxiFault']
Access: Any = header.enums['ptxiAccess']
Severity: Any = header.enums['ptxiSeverity']


class Error(Exception):
    """A call of the library failed; `result` says how. `str()` is a text for a reader."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class ArgumentError(TypeError):
    """The arguments of a launch do not fit the kernel: nothing was launched."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message about a text. Lines and columns count from 1; line 0 is about all of it."""
    severity: Any
    file: str
    line: int
    column: int
    length: int
    message: str
    text: str


class ModuleError(Error):
    """PTX that cannot be loaded; `diagnostics` has the messages one by one."""

    def __init__(self, message: str, result: Any, diagnostics: List[Diagnostic]) -> None:
        super().__init__(message, result)
        self.diagnostics = diagnostics


@dataclasses.dataclass(frozen=True)
class Report:
    """What is known of a failed launch; numbers are 0 and strings None where they do not apply."""
    result: Any
    fault: Any
    text: str
    kernel: Optional[str]
    function: Optional[str]
    block: Tuple[int, int, int]
    thread: Tuple[int, int, int]
    threads: int
    access: Any
    access_size: int
    address: int
    nearest_base: int
    nearest_size: int
    ptx_file: Optional[str]
    ptx_line: int
    ptx_column: int
    source_file: Optional[str]
    source_line: int
    source_column: int


class LaunchError(Error):
    """A kernel failed. `str()` is the whole report, `report` its parts."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.text.rstrip('\n'), report.result)
        self.report = report


def _value(v: Any) -> Any:
    if isinstance(v, bytes):
        return v.decode(errors='replace')
    return tuple(v) if isinstance(v, ctypes.Array) else v


def _snake(name: str) -> str:
    return ''.join('_' + c.lower() if c.isupper() else c for c in name)


def as_dict(struct: Any) -> Dict[str, Any]:
    """A structure of the library as a dictionary, with names as Python spells them, less its size."""
    return {_snake(name): _value(getattr(struct, name)) for name, _ in struct._fields_ if name != 'size'}


def error(result: int) -> Error:
    """The exception for a result that has no more to say than its name."""
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    library().GetErrorName(result, ctypes.byref(name))
    library().GetErrorString(result, ctypes.byref(text))
    label = (name.value or b'%d' % result).decode()
    return Error(f'{label}: {(text.value or b"an unknown error").decode()}', Result(result) if name.value else result)


def last_diagnostics() -> List[Diagnostic]:
    """What the calling thread's last load had to say."""
    found: List[Diagnostic] = []
    struct = header.structs['ptxiDiagnostic']
    d = struct(size=ctypes.sizeof(struct))
    while library().GetLastDiagnostic(len(found), ctypes.byref(d)) == 0:
        fields = as_dict(d)
        fields['severity'] = Severity(d.severity)
        found.append(Diagnostic(**fields))
    return found


def module_error(result: int) -> Error:
    """The exception for a text that was not accepted."""
    diagnostics = last_diagnostics()
    if not any(d.severity == Severity.ERROR for d in diagnostics):
        return error(result)
    return ModuleError(''.join(d.text for d in diagnostics).rstrip('\n'), Result(result), diagnostics)


def launch_error(context: Any, result: int) -> Error:
    """The exception for a failure that a waiting call returned."""
    struct = header.structs['ptxiReport']
    r = struct(size=ctypes.sizeof(struct))
    if library().GetLastReport(context, ctypes.byref(r)) or r.result != result:
        return error(result)
    fields = as_dict(r)
    fields.update(result=Result(r.result), fault=Fault(r.fault), access=Access(r.access), text=fields['text'] or '')
    return LaunchError(Report(**fields))
