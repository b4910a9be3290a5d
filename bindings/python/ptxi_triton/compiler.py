"""Compiles Triton kernels to PTX: Triton's own compiler for NVIDIA GPUs without its last stage, ptxas.

Triton imports this module to find the class in it. It must not import ptxi, which most programs with Triton do not
need, and must not define or import by name a second class of backends.
"""
import dataclasses
import functools
import os
import re
import types
from typing import Any, Dict

from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia

NAME = 'ptxi'
BINARY = 'ptxi'              # extension of the last stage: the PTX with the options of ptxas
NO_FMA = b'\n// fmad=false'  # the end of a binary that must not be contracted

_OLDEST = 3, 8               # the version of Triton whose interfaces this package uses
_PTX_VERSION = 94            # of the newest PTX that libptxi reads, for installations of Triton without ptxas
_replaced: Dict[str, Any] = {}


def requested() -> bool:
    """Return whether the environment asks for this backend."""
    return os.environ.get('TRITON_DEFAULT_BACKEND') == NAME


def in_use() -> bool:
    """Return whether this backend compiles for NVIDIA GPUs."""
    return bool(_replaced)


def _require_version() -> None:
    """Raise ImportError if Triton is too old."""
    import triton
    if tuple(int(n) for n in triton.__version__.split('.')[:2]) < _OLDEST:
        raise ImportError('ptxi_triton needs Triton {}.{} or newer; this is Triton {}'.format(
            *_OLDEST, triton.__version__))


def use(wanted: bool) -> None:
    """Let this backend, or Triton's own backends, compile for NVIDIA GPUs.

    Triton accepts one backend for a target. Torch finds a backend for the CPU by its name in the table.
    """
    from triton.backends import Backend, backends
    if wanted and not _replaced:
        _require_version()
        from . import driver
        ours = backends.get(NAME) or Backend(PtxiBackend, driver.PtxiDriver)
        for name, backend in list(backends.items()):
            if backend is not ours and backend.compiler.supports_target(GPUTarget('cuda', 90, 32)):
                _replaced[name] = backend
                backends[name] = dataclasses.replace(backend, compiler=_without('cuda', backend.compiler))
        if NAME not in backends:
            _replaced[NAME], backends[NAME] = None, ours
        if 'cpu' not in backends:
            _replaced['cpu'], backends['cpu'] = None, dataclasses.replace(ours, compiler=_without('', PtxiBackend))
        _accept_arrays()
        _unload_without_driver()
    elif not wanted:
        for name, backend in _replaced.items():
            if backend is None:
                backends.pop(name, None)
            else:
                backends[name] = backend
        _replaced.clear()


def _without(target: str, compiler: Any) -> Any:
    """Return a class of backends that leaves a target to others. An empty string means all targets."""
    class Other(compiler):  # type: ignore[misc]
        @staticmethod
        def supports_target(target_: Any) -> bool:
            return bool(target) and target_.backend != target and bool(compiler.supports_target(target_))
    return Other


@functools.lru_cache(maxsize=None)
def _accept_arrays() -> None:
    """Let the functions that Triton generates for the arguments of a kernel accept arrays, if this backend is used."""
    from triton.runtime import jit
    create = jit.create_function_from_signature

    def create_function_from_signature(signature: Any, parameters: Any, backend: Any) -> Any:
        function = create(signature, parameters, backend)
        if not isinstance(backend, PtxiBackend):
            return function
        from .memory import specialize
        slower = types.FunctionType(function.__code__, {**function.__globals__, 'specialize_impl': specialize},
                                    function.__name__, function.__defaults__)
        slower.__kwdefaults__ = function.__kwdefaults__

        chosen = function

        def bind(*arguments: Any, **options: Any) -> Any:
            nonlocal chosen
            try:
                return chosen(*arguments, **options)
            except TypeError:
                if chosen is slower:
                    raise
            result = slower(*arguments, **options)  # an argument is an array
            chosen = slower
            return result
        return bind

    jit.create_function_from_signature = create_function_from_signature


@functools.lru_cache(maxsize=None)
def _unload_without_driver() -> None:
    """Let kernels of this backend be collected while another driver, or none, is active."""
    from triton import knobs
    from triton.compiler import CompiledKernel
    delete = CompiledKernel.__del__

    def __del__(self: Any) -> None:
        if type(self.__dict__.get('module')).__module__.startswith(f'{NAME}.'):
            hook = knobs.runtime.kernel_unload_hook
            if hook is not None:
                hook(self.module, self.function, self.name, self.metadata_group, self.hash)
            self.module = None
        delete(self)

    CompiledKernel.__del__ = __del__


class PtxiBackend(nvidia.CUDABackend):  # type: ignore[misc]
    """Triton's compiler for NVIDIA GPUs, up to PTX.

    The target of kernels is that of a GPU, 'cuda' and its compute capability, so that kernels which ask for it behave
    as on the GPU. The target 'cpu', which torch uses for tensors of the CPU, means the GPU of the current device.
    """

    @staticmethod
    def supports_target(target: Any) -> bool:
        if target.backend == 'cpu':
            from triton.backends import backends
            return 'cpu' in _replaced or (requested() and 'cpu' not in backends)
        return target.backend == 'cuda' and in_use()

    def __init__(self, target: Any) -> None:
        use(True)
        if target.backend == 'cpu':
            from .driver import current_target
            target = current_target()
        super().__init__(target)
        self.binary_ext = BINARY

    def parse_options(self, options: Dict[str, Any]) -> Any:
        if not _has_ptxas(self.target.arch):
            options = {'ptx_version': _PTX_VERSION, **options}
        return super().parse_options(options)

    def add_stages(self, stages: Dict[str, Any], options: Any, language: Any) -> None:
        super().add_stages(stages, options, language)
        del stages['cubin']
        end = b'' if options.enable_fp_fusion else NO_FMA
        stages[BINARY] = lambda ptx, metadata: _with_source_lines(ptx).encode() + end

    def hash(self) -> str:
        version = nvidia.get_ptxas_version(self.target.arch) if _has_ptxas(self.target.arch) else _PTX_VERSION
        return f'{NAME}-{version}-{self.target.arch}'


def _with_source_lines(ptx: str) -> str:
    """Return PTX with one line of the source for each block of inline assembly, in which Triton writes accesses.

    LLVM begins with the right line and adds one for each line of the assembly.
    """
    def keep_first(block: 're.Match[str]') -> str:
        first, *rest = re.split(r'^(?=\s*\.loc\s)', block.group(), flags=re.MULTILINE)
        return first + ''.join(rest[:1] + ['//' + part for part in rest[1:]])

    return re.sub(r'// begin inline asm\n.*?// end inline asm', keep_first, ptx, flags=re.DOTALL)


@functools.lru_cache(maxsize=None)
def _has_ptxas(arch: int) -> bool:
    """Return whether Triton has ptxas. Its version is that of the PTX which Triton writes."""
    try:
        return bool(nvidia.get_ptxas(arch).version)
    except (OSError, RuntimeError):
        return False
