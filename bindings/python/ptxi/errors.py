"""Exceptions of the package, and the structures of the library from which they are built."""
import ctypes
import dataclasses
from typing import Any, Dict, List, Optional, Tuple

from ._header import header
from ._library import library
from ._result import Error as Error, Result as Result, result_error

Fault: Any = header.enums['ptxiFault']
Access: Any = header.enums['ptxiAccess']
Severity: Any = header.enums['ptxiSeverity']


class ArgumentError(TypeError):
    """The arguments of a call do not match the parameters of the kernel or the operands of the template.

    Nothing was run.
    """


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the library about a PTX text.

    `line`, `column`  the position, counted from 1; line 0 means the text as a whole
    `length`          number of characters that the caret line marks
    `message`         the message only
    `text`            the message with its position, the source line and the notes
    """
    severity: Any
    file: str
    line: int
    column: int
    length: int
    message: str
    text: str


class ModuleError(Error):
    """The PTX text cannot be loaded. `diagnostics` is the list of messages, and `str()` is all of them."""

    def __init__(self, message: str, result: Any, diagnostics: List[Diagnostic]) -> None:
        super().__init__(message, result)
        self.diagnostics = diagnostics


@dataclasses.dataclass(frozen=True)
class Report:
    """The library's report of a failed launch. A number that does not apply is 0, and such a string is None.

    `text`                          the whole report, as `str()` of the exception
    `block`, `thread`               indices x, y, z of the thread that failed
    `threads`                       number of threads that failed at the same instruction
    `address`, `access_size`        the bytes of the failed access
    `nearest_base`, `nearest_size`  the allocation that is nearest to `address`
    `ptx_line`, `source_line`       positions in the PTX text and in the source it was compiled from, counted from 1
    """
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
    """A kernel failed. `report` is the library's report, and `str()` is its text."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.text.rstrip('\n'), report.result)
        self.report = report


def _value(v: Any) -> Any:
    """Convert the value of a structure member: text to str, an array to a tuple."""
    if isinstance(v, bytes):
        return v.decode(errors='replace')
    return tuple(v) if isinstance(v, ctypes.Array) else v


def _snake(name: str) -> str:
    """Convert a name such as 'ptxLine' to 'ptx_line'."""
    return ''.join('_' + c.lower() if c.isupper() else c for c in name)


def as_dict(struct: Any) -> Dict[str, Any]:
    """Return the members of a library structure by their Python names, such as 'ptx_line'.

    The result does not have the member `size`.
    """
    return {_snake(name): _value(getattr(struct, name)) for name, _ in struct._fields_ if name != 'size'}


def error(result: int, details: str = '') -> Error:
    """Return the exception for a result code that has no diagnostics and no report. `details` ends its message."""
    return result_error(library(), result, details)


def last_diagnostics() -> List[Diagnostic]:
    """Return the diagnostics of the calling thread's last load, in their order."""
    found: List[Diagnostic] = []
    struct = header.structs['ptxiDiagnostic']
    d = struct(size=ctypes.sizeof(struct))
    while library().GetLastDiagnostic(len(found), ctypes.byref(d)) == 0:
        fields = as_dict(d)
        fields['severity'] = Severity(d.severity)
        found.append(Diagnostic(**fields))
    return found


def module_error(result: int) -> Error:
    """Return the exception for a failed load: a ModuleError if a diagnostic is an error, else an Error."""
    diagnostics = last_diagnostics()
    if not any(d.severity == Severity.ERROR for d in diagnostics):
        return error(result)
    return ModuleError(''.join(d.text for d in diagnostics).rstrip('\n'), Result(result), diagnostics)


def launch_error(context: Any, result: int) -> Error:
    """Return the exception for a failure that a waiting call returned.

    It is a LaunchError if the context's last report is about this result, else an Error.
    """
    struct = header.structs['ptxiReport']
    r = struct(size=ctypes.sizeof(struct))
    if library().GetLastReport(context, ctypes.byref(r)) or r.result != result:
        return error(result)
    fields = as_dict(r)
    fields.update(result=Result(r.result), fault=Fault(r.fault), access=Access(r.access),
                  text=fields['text'] or '')
    return LaunchError(Report(**fields))
