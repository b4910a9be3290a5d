"""libptxi for Python: runs PTX on the CPU with the results of a GPU, bit for bit. Kernels use NumPy arrays in place.

    import numpy as np, ptxi

    mod = ptxi.load('lerp.ptx')
    x, y, z = np.arange(4, dtype='f4'), np.full(4, 8, 'f4'), np.empty(4, 'f4')
    mod.cuk_lerp[1, 4](x, y, z, 0.25)

A kernel that fails raises LaunchError, with a report of the kernel, block, thread and line. Invalid PTX raises
ModuleError. `ptxi.testing` compares arrays bit by bit. The pytest plugin has a fixture `ptxi`. `python -m ptxi` runs
the command ptxi.
"""
from . import testing
from ._header import header as _header
from .arguments import Parameter
from .checks import (CheckError, Checks, CheckSummary, Finding, FindingSeverity, FindingSite, Sanitizer, annotate,
                     checking)
from .compiler import compile
from .device import Counters, Device, DeviceAttribute, Dialect, Limit, current, device_count, profiles
from .errors import Access, ArgumentError, Diagnostic, Error, Fault, LaunchError, ModuleError, Report, Result, Severity
from .host import HostThread, host_thread
from .inline import Asm, asm
from .memory import Buffer, copy, empty, zeros
from .module import FunctionAttribute, JitOption, Kernel, Launch, LaunchAttribute, Module, link, links, load, loads
from .stream import Event, Graph, Stream

__version__ = '.'.join(str(_header.constants['PTXI_VERSION_' + part]) for part in ('MAJOR', 'MINOR', 'PATCH'))

__all__ = [
    'Access', 'ArgumentError', 'Asm', 'Buffer', 'CheckError', 'CheckSummary', 'Checks', 'Counters', 'Device',
    'DeviceAttribute', 'Diagnostic', 'Dialect', 'Error', 'Event', 'Fault', 'Finding', 'FindingSeverity', 'FindingSite',
    'FunctionAttribute', 'Graph', 'HostThread', 'JitOption', 'Kernel', 'Launch', 'LaunchAttribute', 'LaunchError',
    'Limit', 'Module', 'ModuleError', 'Parameter', 'Report', 'Result', 'Sanitizer', 'Severity', 'Stream', 'annotate',
    'asm', 'checking', 'compile', 'copy', 'current', 'device_count', 'empty', 'host_thread', 'link', 'links', 'load',
    'loads', 'profiles', 'testing', 'zeros',
]
