"""Sanitizers: checks of kernels for data races, misused barriers and invalid accesses, and of failing calls."""
import contextlib
import ctypes
import dataclasses
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from . import device as _device
from . import errors
from ._header import header
from ._library import encoded, library, text
from .errors import Access
from .memory import pointer

Sanitizer: Any = header.enums['ptxiSanitizer']
FindingSeverity: Any = header.enums['ptxiFindingSeverity']
Annotation: Any = header.enums['ptxiAnnotation']
_Format: Any = header.enums['ptxiReportFormat']


@dataclasses.dataclass(frozen=True)
class FindingSite:
    """A thread at an instruction, or the function of a call that fails. A number that does not apply is 0, and such a
    string is None.

    `block`, `thread`           indices x, y, z of the first thread
    `threads`                   number of threads of its warp
    `value`                     what was read or written, or None
    `ptx_text`                  the line of the PTX text
    `ptx_line`, `source_line`   positions in the PTX text and in the source it was compiled from, counted from 1
    """
    function: Optional[str]
    block: Tuple[int, int, int]
    thread: Tuple[int, int, int]
    threads: int
    access: Any
    value: Optional[int]
    ptx_file: Optional[str]
    ptx_text: Optional[str]
    ptx_line: int
    ptx_column: int
    source_file: Optional[str]
    source_line: int


@dataclasses.dataclass(frozen=True)
class Finding:
    """A finding of a sanitizer. See ptxiFinding in ptxi.h.

    `kind`   such as 'write-after-write'
    `sites`  the threads and instructions; of a race, the later access first
    `count`  how often it was found at these instructions
    """
    tool: Any
    severity: Any
    kind: str
    message: str
    detail: Optional[str]
    count: int
    kernel: Optional[str]
    launch: int
    space: Optional[str]
    address: int
    bytes: int
    object_base: int
    object_size: int
    object_name: Optional[str]
    sites: Tuple[FindingSite, ...]


@dataclasses.dataclass(frozen=True)
class CheckSummary:
    """Counts of what was checked and found. See ptxiCheckSummary in ptxi.h."""
    launches: int
    accesses: int
    unchecked: int
    errors: int
    warnings: int
    benign: int
    suppressed: int
    not_listed: int


class CheckError(AssertionError):
    """A sanitizer has found an error, or something could not be checked. `findings` and `summary` say what."""

    def __init__(self, text: str, findings: List[Finding], summary: CheckSummary) -> None:
        super().__init__(text)
        self.findings = findings
        self.summary = summary


def _site(struct: Any) -> FindingSite:
    """Convert a structure ptxiFindingSite."""
    fields = errors.as_dict(struct)
    if not fields.pop('has_value'):
        fields['value'] = None
    fields['access'] = Access(struct.access)
    return FindingSite(**fields)


def _finding(struct: Any) -> Finding:
    """Convert a structure ptxiFinding."""
    fields = errors.as_dict(struct)
    count = fields.pop('site_count')
    fields.update(tool=Sanitizer(struct.tool), severity=FindingSeverity(struct.severity),
                  sites=tuple(_site(s) for s in struct.sites[:count]))
    return Finding(**fields)


class Checks:
    """The findings of a device. Each access waits for the device."""

    def __init__(self, device: '_device.Device') -> None:
        self._device = device

    @property
    def findings(self) -> List[Finding]:
        """The findings, in the order of discovery. Benign ones are included."""
        self._synchronize()
        core = self._device._core
        found: List[Finding] = []
        struct = header.structs['ptxiFinding']
        with core.pin():
            core.must_be_open()
            f = struct(size=ctypes.sizeof(struct))
            while library().CtxGetFinding(core.handle, len(found), ctypes.byref(f)) == 0:
                found.append(_finding(f))
        return found

    @property
    def summary(self) -> CheckSummary:
        """What was checked."""
        self._synchronize()
        struct = header.structs['ptxiCheckSummary']
        s = struct(size=ctypes.sizeof(struct))
        self._device._core.call('CtxGetCheckSummary', self._device._core.handle, ctypes.byref(s))
        return CheckSummary(**errors.as_dict(s))

    def report(self, format: str = 'text') -> str:
        """Return a report: 'text', 'compute_sanitizer', 'xml', 'json' (lines), 'sarif', 'junit' or 'rules'."""
        names = {member.name.lower(): member for member in _Format}
        if format not in names:
            raise ValueError(f'unknown format {format!r}; accepted: {", ".join(names)}')
        self._synchronize()
        core = self._device._core
        return str(core.run(text, 'CtxFormatFindings', core.handle, names[format]))

    def fail(self, launches: bool = False) -> None:
        """Raise CheckError if there is an error or a warning, or if something could not be checked.

        `launches`  raise it, too, if no launch was checked
        """
        __tracebackhide__ = True
        s = self.summary
        problems = s.errors or s.warnings
        if launches and not s.launches and not problems:
            raise CheckError('no kernel was launched on this device, so nothing was checked\n'
                             + self.report().rstrip('\n'), self.findings, s)
        if problems or s.unchecked:
            raise CheckError(self.report().rstrip('\n'), self.findings, s)

    def _synchronize(self) -> None:
        """Wait for the device. A failed launch is a finding here, or is raised by the next call that waits."""
        with contextlib.suppress(errors.LaunchError):
            self._device.synchronize()


def tools_of(names: Sequence[str]) -> int:
    """Return the bits of sanitizers. No names mean 'all', which is all but 'api'."""
    known = {member.name.lower(): int(member) for member in Sanitizer if member}
    bits = 0
    for name in names:
        if name not in known:
            raise ValueError(f'unknown sanitizer {name!r}; accepted: {", ".join(known)}')
        bits |= known[name]
    return bits or known['all']


def start(device: '_device.Device', names: Sequence[str], rules: Optional[str] = None) -> None:
    """Check later launches of a device."""
    bits = tools_of(names)
    if rules is not None:
        error = ctypes.c_void_p()
        result = library().CtxSetSanitizerRules(device._context, encoded(rules), ctypes.byref(error))
        if result:
            message = ctypes.string_at(error.value).decode(errors='replace') if error.value else ''
            library().Free(error)
            raise ValueError(message) if message else errors.error(result)
    device._core.call('CtxResetFindings', device._core.handle)
    device._core.call('CtxSetSanitizer', device._core.handle, bits, 0)


@contextlib.contextmanager
def checking(*tools: str, device: Optional['_device.Device'] = None, rules: Optional[str] = None,
             fail: bool = True) -> Iterator[Checks]:
    """Check the launches inside the `with` statement, and calls of CUDA's libraries with 'api'.

        with ptxi.checking('race', 'memory') as checks:
            kernel[1, 64](x)

    `tools`   'memory', 'race', 'init', 'sync', 'api', or 'all', which is the default and means all but 'api'; that one
              finds calls of libcuda.so.1 and libcudart that fail, also in other packages
    `device`  default: the current device
    `rules`   rules that select launches and suppress findings, a rule in each line; see doc/reference/checking.md
    `fail`    raise CheckError at the end if something was found, or if no launch or not everything was checked; 'api'
              alone needs no launch

    A failed launch that is a finding raises CheckError at the end, instead of LaunchError.
    """
    given = _device.given(device)
    start(given, tools, rules)
    checks = Checks(given)
    try:
        try:
            yield checks
        except errors.LaunchError:
            if not fail or not checks.summary.errors:
                raise
        if fail:
            checks.fail(launches=bool(tools_of(tools) & Sanitizer.ALL))
    finally:
        with contextlib.suppress(ValueError):  # the device may be closed
            given._core.call('CtxSetSanitizer', given._core.handle, 0, 0)


def annotate(what: str, memory: Any, offset: int = 0, nbytes: int = 1,
             device: Optional['_device.Device'] = None) -> None:
    """Tell the sanitizers about memory that kernels access. See ptxiCtxAnnotate in ptxi.h.

        pool = ptxi.empty(1 << 20, 'u1')
        ptxi.annotate('pool', pool, nbytes=1 << 20)
        ptxi.annotate('allocate', pool, offset=4096, nbytes=1024)

    `what`     'initialized', 'uninitialized', 'intended_race', 'no_race'; 'host_read', 'host_write' for accesses of the
               program at this moment; 'pool', 'allocate', 'resize', 'free', 'pool_reset' and 'pool_end' for memory that
               the program divides itself
    `memory`   a buffer, or another library's tensor in the memory of a device; or an address
    `offset`   of the first byte
    `nbytes`   number of bytes
    `device`   default: the current device
    """
    known = {member.name.lower(): member for member in Annotation}
    if what not in known:
        raise ValueError(f'unknown annotation {what!r}; accepted: {", ".join(known)}')
    held = pointer(memory)
    address = held.address if held else int(memory)
    core = _device.given(device)._core
    core.call('CtxAnnotate', core.handle, known[what], ctypes.c_uint64(address + offset), ctypes.c_size_t(nbytes))
