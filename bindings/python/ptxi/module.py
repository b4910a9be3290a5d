"""Modules and kernels."""
import ctypes
import difflib
import os
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import errors, host
from ._header import header
from ._library import call, encoded, library, number, text
from ._lifetime import Entry, Handle, NotCopied, Queue
from ._ranges import Span, Use, opened
from ._types import Array
from .arguments import Parameter, pack
from .device import Device, Dialect, given
from .memory import in_place
from .stream import Stream

FunctionAttribute: Any = header.enums['ptxiFunctionAttribute']
JitOption: Any = header.enums['ptxiJitOption']
JitInputType: Any = header.enums['ptxiJitInputType']
LaunchAttribute: Any = header.enums['ptxiLaunchAttributeID']

Dim = Union[int, Sequence[int]]
File = Union[str, 'os.PathLike[str]']


def load(file: File, **options: Any) -> 'Module':
    """Load a PTX file. The options are those of `loads`."""
    __tracebackhide__ = True
    name = os.fspath(file)  # rejects an integer, which open() would take for a file descriptor
    with open(name, 'rb') as f:
        return loads(f.read(), name=name, **options)


def loads(ptx: Union[str, bytes], name: str = '<ptx>', fma: bool = True, strict: bool = False,
          dialect: Any = Dialect.NONE, device: Optional[Device] = None) -> 'Module':
    """Load a PTX text, and return the module.

    `name`     name of the text in messages
    `fma`      True: fuse an unrounded mul with an add, as ptxas does; False: never fuse them
    `strict`   True: reject a module whose target the device does not support; False: run it under its own target
    `dialect`  extensions of the PTX ISA that the text may use in addition to those of the device: a sum of members of
               `ptxi.Dialect`
    `device`   default: the current device

    Raises ModuleError if the text is invalid, with positions, source lines and the accepted forms. Raises ValueError
    if the text contains a zero byte.
    """
    __tracebackhide__ = True
    return Module(_Image(ptx, name), _Options(name, fma, strict, dialect), given(device))


def link(files: Iterable[File], **options: Any) -> 'Module':
    """Link several PTX files into one module. The options are those of `links`."""
    __tracebackhide__ = True
    names = [os.fspath(f) for f in files]
    texts = []
    for name in names:
        with open(name, 'rb') as f:
            texts.append(f.read())
    return links(texts, names, **options)


def links(texts: Iterable[Union[str, bytes]], names: Optional[Sequence[str]] = None, fma: bool = True,
          strict: bool = False, dialect: Any = Dialect.NONE, device: Optional[Device] = None) -> 'Module':
    """Link several PTX texts into one module.

    A function or variable that one text declares .extern is defined by another. `names` are the names of the texts in
    messages. The other options are those of `loads`. Raises ModuleError if a text is invalid or the definitions do not
    match.
    """
    __tracebackhide__ = True
    images = [_Image(t, names[i] if names else f'<ptx {i}>') for i, t in enumerate(texts)]
    options = _Options('<link>', fma, strict, dialect)
    to = given(device)
    return Module(to._core.run(_linked, images, options), options, to)


def _linked(images: List['_Image'], options: '_Options') -> '_Image':
    """Link the texts inside Core.run. Return the linked text."""
    __tracebackhide__ = True
    state, linked, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    call('LinkCreate', *options.arguments, ctypes.byref(state))
    try:
        for i in images:
            _accept(library().LinkAddData(state, JitInputType.PTX, i.text, len(i.text) + 1, encoded(i.name),
                                          0, None, None))
        _accept(library().LinkComplete(state, ctypes.byref(linked), ctypes.byref(size)))
        return _Image(ctypes.string_at(linked, size.value), ' + '.join(i.name for i in images))
    finally:
        library().LinkDestroy(state)


def _accept(result: int) -> None:
    """Raise the exception for the result of a load, unless it succeeded."""
    __tracebackhide__ = True
    if result:
        raise errors.module_error(result)


class _Image:
    """A PTX text and its name."""

    def __init__(self, ptx: Union[str, bytes], name: str) -> None:
        self.text, self.name = ptx.encode() if isinstance(ptx, str) else bytes(memoryview(ptx)), name
        if b'\0' in self.text:
            raise ValueError(f'{name}: the PTX text contains a zero byte')


class _Options:
    """The options of a load. `arguments` are the three arguments that the library takes: count, options and values."""

    def __init__(self, name: str, fma: bool, strict: bool, dialect: Any) -> None:
        self._name = ctypes.c_char_p(encoded(name))
        chosen = {JitOption.FILE_NAME: ctypes.cast(self._name, ctypes.c_void_p).value, JitOption.FMA: int(fma),
                  JitOption.STRICT_TARGET: int(strict), JitOption.DIALECT: int(dialect)}
        n = len(chosen)
        self.arguments = n, (ctypes.c_int * n)(*chosen), (ctypes.c_void_p * n)(*chosen.values())


class Module(NotCopied):
    """A loaded module.

    `module.k` is the kernel k. `module['k']` also accepts names that are not identifiers of Python. `kernels` is a
    tuple of the names, and `diagnostics` a list of the warnings of the load. An unknown kernel raises AttributeError
    or KeyError.
    """

    def __init__(self, image: _Image, options: _Options, device: Device) -> None:
        __tracebackhide__ = True
        self.device, self.name = device, image.name
        self._kernels: Dict[str, Kernel] = {}
        self._bound: Dict[str, Tuple[Any, ...]] = {}  # host functions that kernels may call; the handle refers to it
        self._binding = threading.RLock()
        self._binds = False  # whether the thread that holds the lock is in bind()
        device._core.reap()
        self.kernels = device._core.run(self._load, image, options)

    def _load(self, image: _Image, options: _Options) -> Tuple[str, ...]:
        """Load the text inside Core.run. Return the names of the kernels."""
        __tracebackhide__ = True
        handle = ctypes.c_void_p()
        _accept(library().ModuleLoadDataEx(ctypes.byref(handle), ctypes.c_char_p(image.text), *options.arguments))
        self._handle = Handle(self.device._core, handle.value, 'ModuleUnload', keep=self._bound)
        self.diagnostics = errors.last_diagnostics()
        return self._names()

    def __repr__(self) -> str:
        return f'<ptxi.Module {self.name}: {", ".join(self.kernels)}>'

    def _names(self) -> Tuple[str, ...]:
        """Return the names of the kernels."""
        count = ctypes.c_uint()
        call('ModuleGetFunctionCount', ctypes.byref(count), self._handle)
        handles = (ctypes.c_void_p * count.value)()
        call('ModuleEnumerateFunctions', handles, count, self._handle)
        names = []
        for handle in handles:
            name = ctypes.c_char_p()
            call('FuncGetName', ctypes.byref(name), handle)
            names.append((name.value or b'').decode())
        return tuple(names)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.kernels]

    def __getattr__(self, name: str) -> 'Kernel':
        __tracebackhide__ = True
        if name.startswith('__') or 'kernels' not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(e.args[0]) from None

    def __getitem__(self, name: str) -> 'Kernel':
        __tracebackhide__ = True
        if name not in self.kernels:
            close = difflib.get_close_matches(name, self.kernels, 3) or self.kernels[:10]
            raise KeyError(f"{self.name} has no kernel '{name}'; it has {', '.join(close) or 'none'}")
        if name not in self._kernels:
            self._kernels[name] = Kernel(self.device, self._handle, name)
        return self._kernels[name]

    def variable(self, name: str, dtype: Any = np.uint8) -> Array:
        """Return a .global or .const variable of the module as an array, in place.

        Raises KeyError if the module does not have the variable.
        """
        address, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        result = self.device._core.result('ModuleGetGlobal', ctypes.byref(address), ctypes.byref(size), self._handle,
                                          encoded(name))
        if result == errors.Result.ERROR_NOT_FOUND:
            raise KeyError(f"{self.name} has no variable '{name}'")
        if result:
            raise errors.error(result)
        return in_place(self._handle, size.value, address.value).view(dtype)

    def bind(self, name: str, function: Optional[Callable[..., Any]], returns: Any = None, *arguments: Any) -> None:
        """Bind a Python function to an external function: kernels call it where PTX calls `name`, an .extern .func.

        `function`   the function, or None to remove the binding
        `returns`    ctypes type of the result, or None if there is no result
        `arguments`  ctypes types of the arguments, such as c_int, c_float, POINTER(...), c_void_p, or a structure

            mod.bind('scale', lambda x, k: int(x * k), ctypes.c_int, ctypes.c_int, ctypes.c_float)

        Numbers are passed as Python numbers, and structures as ctypes structures. The function is called once for each
        thread, and `ptxi.host_thread()` returns that thread. An exception in the function fails the launch: it raises
        LaunchError with the traceback in the report.

        Raises KeyError if the module does not declare the function, ModuleError if the types do not match the
        declaration, and TypeError if a type is not supported.
        """
        __tracebackhide__ = True
        signature = host.signature(returns, arguments)
        callback = host.callback(function, returns, arguments) if function else None
        with self._binding:
            if self._binds:
                raise RuntimeError('a signal handler called bind() while it interrupted bind() of the same module')
            self._binds = True
            try:
                self.device._core.run(self._bind, name, callback, signature.encode())
            finally:
                self._binds = False

    def _bind(self, name: str, callback: Any, signature: bytes) -> None:
        """Bind the callback inside Core.run.

        The previous callback is kept until the work that is queued now has ended, because kernels may call it until
        then. If the call does not return normally, both callbacks are kept, because either of them may be bound.
        """
        __tracebackhide__ = True
        core, before = self.device._core, self._bound.get(name, ())
        self._bound[name] = (*before, callback)
        try:
            result = core.waited('ModuleBindHostCallback', self._handle, encoded(name), callback, None, signature)
            if result == errors.Result.ERROR_NOT_FOUND:
                raise KeyError(f"{self.name} declares no external function '{name}'; declare it with .extern .func")
            if result:
                raise errors.module_error(result)
        except (KeyError, errors.Error):
            core.hold(callback)
            self._bound[name] = before
            raise
        core.hold(before)
        self._bound[name] = (callback,)

    @property
    def unsupported(self) -> str:
        """A line for each valid instruction that this version cannot execute. Empty if there is none."""
        return str(self.device._core.run(text, 'ModuleGetUnsupported', self._handle))

    def dump(self, function: Optional[str] = None) -> str:
        """Return the bytecode of one function, or of all functions, as text."""
        return str(self.device._core.run(text, 'ModuleDump', self._handle, encoded(function) if function else None))


def _dim(what: str, x: Dim) -> Tuple[int, int, int]:
    """Return the dimensions x, y, z of a grid, block or cluster. `what` is its name in messages."""
    d = tuple(x) if np.iterable(x) else (x,)
    if not 1 <= len(d) <= 3 or not all(isinstance(n, (int, np.integer)) and 1 <= n < 1 << 32 for n in d):
        raise ValueError(f'invalid {what} {x!r}; use one to three integers from 1 to {(1 << 32) - 1}')
    x3 = [int(n) for n in d] + [1, 1]
    return x3[0], x3[1], x3[2]


class Kernel(NotCopied):
    """A kernel. `kernel[grid, block](arguments...)` launches it.

    `kernel[grid, block, shared, stream](arguments...)` is the form with all parameters:

    `grid`    blocks in the grid, as one to three integers
    `block`   threads in a block, as one to three integers
    `shared`  bytes of dynamic shared memory for each block
    `stream`  a stream of the same device

    Arrays are used in place. Numbers are converted to the types of the parameters. NumPy records and ctypes structures
    are passed to structures by value.

    Without a stream the call returns when the kernel has ended, and raises LaunchError if it failed. With a stream the
    call returns at once. Raises ArgumentError if the arguments do not match the parameters.
    """

    def __init__(self, device: Device, module: Handle, name: str) -> None:
        self.device, self.name = device, name
        self._module = module
        self._handle = ctypes.c_void_p()
        device._core.run(self._find)

    def _find(self) -> None:
        """Look up the kernel inside Core.run."""
        call('ModuleGetFunction', ctypes.byref(self._handle), self._module, encoded(self.name))
        self.signature = text('FuncGetSignature', self._handle)
        self.parameters = self._parameters()

    def __repr__(self) -> str:
        return f'<ptxi.Kernel {self.signature}>'

    def _parameters(self) -> Tuple[Parameter, ...]:
        """Return the parameters of the kernel."""
        struct = header.structs['ptxiParam']
        p = struct(size=ctypes.sizeof(struct))
        found: List[Parameter] = []
        while library().FuncGetParam(self._handle, len(found), ctypes.byref(p)) == 0:
            found.append(Parameter(**errors.as_dict(p)))
        return tuple(found)

    def attribute(self, which: Any) -> int:
        """Return an attribute of the kernel, such as `attribute(FunctionAttribute.NUM_REGS)`."""
        value = ctypes.c_int()
        self.device._core.call('FuncGetAttribute', ctypes.byref(value), which, self._handle)
        return value.value

    def set_attribute(self, which: Any, value: int) -> None:
        """Set an attribute, such as `set_attribute(FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10)`."""
        self.device._core.call('FuncSetAttribute', self._handle, which, number(value, ctypes.c_int))

    def __getitem__(self, shape: Tuple[Any, ...]) -> '_Shaped':
        __tracebackhide__ = True
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise TypeError(f'invalid launch configuration; use {self.name}[grid, block] or '
                            f'{self.name}[grid, block, shared, stream]')
        return _Shaped(self, *shape)

    def __call__(self, *arguments: Any) -> None:
        raise TypeError(f'the launch has no grid and block; use {self.name}[grid, block](...)')

    def launch(self, grid: Dim, block: Dim, arguments: Sequence[Any], shared: int = 0, stream: Optional[Stream] = None,
               cooperative: bool = False, cluster: Optional[Dim] = None,
               attributes: Optional[Dict[Any, int]] = None) -> None:
        """Launch the kernel, as `kernel[grid, block, shared, stream](*arguments)` does, with more options.

        `cooperative`  True: all blocks run at the same time, so that they may wait for each other
        `cluster`      blocks in a cluster, as one to three integers; the grid must be a multiple of it
        `attributes`   other launch attributes and their values, such as {LaunchAttribute.PRIORITY: 1}
        """
        __tracebackhide__ = True
        shape = (*_dim('grid', grid), *_dim('block', block), number(shared, ctypes.c_uint))
        if stream is not None and stream.device is not self.device:
            raise ValueError('the stream belongs to another device; use a stream of the device of the module')
        values = dict(attributes or {})
        if cooperative:
            values[LaunchAttribute.COOPERATIVE] = 1
        chosen = _attributes(values, cluster)
        core = self.device._core
        queue = stream.queue if stream else core.default
        buffer, pointers = pack(self.signature, self.parameters, arguments)
        use = Use([p.owner for p in pointers])
        entry = Entry(use, (self._module, pointers))
        try:
            core.run(self._run, queue, entry, [p.span for p in pointers if p.span], shape, buffer, chosen)
        finally:
            if not entry.queued:
                use.end()
            core.reap()

    def _run(self, queue: Queue, entry: Entry, spans: List[Span], *how: Any) -> None:
        """Open the memory of the arguments and queue the launch, inside Core.run. Without a stream, wait for it."""
        __tracebackhide__ = True
        if entry.use is not None:
            opened.acquire(entry.use, spans)
        self._enqueue(queue, entry, *how)
        if queue.handle is None:
            queue.synchronize()

    def _enqueue(self, queue: Queue, entry: Entry, shape: Tuple[int, ...], buffer: bytes, attributes: Any) -> None:
        """Queue the launch. Raises Error if the library rejects it."""
        __tracebackhide__ = True
        values = ctypes.create_string_buffer(buffer, len(buffer))
        addresses = (ctypes.c_void_p * max(len(self.parameters), 1))(
            *(ctypes.addressof(values) + p.offset for p in self.parameters))
        config = header.structs['ptxiLaunchConfig'](*shape, queue.handle and queue.handle.value,
                                                    ctypes.addressof(attributes), len(attributes))
        result = queue.enqueue(
            entry, lambda: library().LaunchKernelEx(ctypes.byref(config), self._handle, addresses, None))
        if result == errors.Result.ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
            raise errors.launch_error(None, result)
        if result:
            raise errors.error(result, f' (grid {shape[:3]}, block {shape[3:6]}, {shape[6]} bytes of shared memory: '
                                       f'{self.signature})')


def _attributes(numbers: Dict[Any, int], cluster: Optional[Dim]) -> Any:
    """Return launch attributes as an array of the library's structures."""
    struct = header.structs['ptxiLaunchAttribute']
    made = [struct(id=key) for key in numbers]
    for attribute, value in zip(made, numbers.values()):
        attribute.value.priority = number(value, ctypes.c_int)  # every numeric attribute is an int of the union
    if cluster is not None:
        made.append(struct(id=LaunchAttribute.CLUSTER_DIMENSION))
        d = made[-1].value.clusterDim
        d.x, d.y, d.z = _dim('cluster', cluster)
    return (struct * len(made))(*made)


class _Shaped:
    """A kernel with the configuration of a launch."""

    def __init__(self, kernel: Kernel, grid: Dim, block: Dim, shared: int = 0, stream: Optional[Stream] = None) -> None:
        self._kernel, self._grid, self._block, self._shared, self._stream = kernel, grid, block, shared, stream

    def __call__(self, *arguments: Any) -> None:
        __tracebackhide__ = True
        self._kernel.launch(self._grid, self._block, arguments, self._shared, self._stream)
