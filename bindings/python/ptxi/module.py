"""Modules and kernels."""
import ctypes
import difflib
import functools
import math
import os
import re
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import errors, host
from ._header import header
from ._library import call, encoded, library, number, text
from ._lifetime import Entry, Handle, NotCopied, Queue
from ._ranges import Span, Use, as_array, give_back, range_error
from ._types import Array
from .arguments import Packer, Parameter, describe, listed, opened, spans
from .device import Device, DeviceAttribute, Dialect, given
from .memory import Pointer, in_place
from .stream import Stream

FunctionAttribute: Any = header.enums['ptxiFunctionAttribute']
JitOption: Any = header.enums['ptxiJitOption']
JitInputType: Any = header.enums['ptxiJitInputType']
LaunchAttribute: Any = header.enums['ptxiLaunchAttributeID']

Dim = Union[int, Sequence[int]]
Arguments = Union[Tuple[Any, ...], List[Any]]
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

    >>> import numpy as np, ptxi
    >>> mod = ptxi.loads('''
    ...     .version 8.0
    ...     .target sm_80
    ...     .address_size 64
    ...     .visible .entry count(.param .u64 out) {
    ...         .reg .u64 %a; .reg .u32 %i;
    ...         ld.param.u64 %a, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %a, %i, 4, %a; st.global.u32 [%a], %i; ret;
    ...     }''')
    >>> mod
    <ptxi.Module <ptx>: count>
    >>> mod.count
    <ptxi.Kernel count(.u64 out)>
    >>> x = np.empty(4, 'u4')
    >>> mod.count[1, 4](x)
    >>> x
    array([0, 1, 2, 3], dtype=uint32)

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
        try:
            self.text, self.name = ptx.encode() if isinstance(ptx, str) else bytes(memoryview(ptx)), name
        except TypeError:
            raise TypeError(f'{name}: PTX is str or bytes, not {type(ptx).__name__}; ptxi.load reads a file') from None
        if b'\0' in self.text:
            raise ValueError(f'{name}: the PTX text contains a zero byte')


class _Options:
    """The options of a load. `arguments` are the three arguments that the library takes: count, options and values."""

    def __init__(self, name: str, fma: bool, strict: bool, dialect: Any) -> None:
        self.given = {'name': name, 'fma': fma, 'strict': strict, 'dialect': int(dialect)}  # as loads() takes them
        self._name = ctypes.c_char_p(encoded(name))
        chosen = {JitOption.FILE_NAME: ctypes.cast(self._name, ctypes.c_void_p).value, JitOption.FMA: int(fma),
                  JitOption.STRICT_TARGET: int(strict), JitOption.DIALECT: int(dialect)}
        n = len(chosen)
        self.arguments = n, (ctypes.c_int * n)(*chosen), (ctypes.c_void_p * n)(*chosen.values())


def _function_name(handle: int) -> str:
    """Return the name of a kernel in the PTX."""
    name = ctypes.c_char_p()
    call('FuncGetName', ctypes.byref(name), ctypes.c_void_p(handle))
    return (name.value or b'').decode()


def _source_name(handle: int) -> str:
    """Return the name of a kernel in C++."""
    return text('FuncGetSourceName', ctypes.c_void_p(handle))


def _described(handle: int) -> str:
    """Return the names of a kernel in C++ and in the PTX."""
    return f'{_source_name(handle)} ({_function_name(handle)})'


def _short_names(name: str) -> List[str]:
    """Return a name of C++ without the type of its result and its parameters, with its namespaces and without."""
    found = re.search(r'((?:\w+::)*)(\w+(?:<.*>)?)\(', name)
    return [found[1] + found[2], found[2]] if found else [name]


class Module(NotCopied):
    """A loaded module.

    `module.k` is the kernel k. `module['k']` also accepts names that are not identifiers of Python. A kernel of C++ is
    found by its C++ name, too, such as `module.scale` or `module['space::scale<float>']`. Namespaces, arguments of
    templates and types of parameters may be omitted. An unknown kernel raises AttributeError or KeyError, and so does a
    name that several kernels have. `for name in module`, `name in module` and `len(module)` are about the kernels.

    `kernels`      tuple of the names in the PTX
    `diagnostics`  list of the warnings of the load
    `cpp_names`    maps C++ expressions to the names in the PTX of the kernels and variables that they mean
    """

    def __init__(self, image: _Image, options: _Options, device: Device) -> None:
        __tracebackhide__ = True
        self.device, self.name = device, image.name
        self._source = image.text, options.given
        self.cpp_names: Dict[str, str] = {}
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
        return tuple(_function_name(handle) for handle in self._handles())

    def _handles(self) -> List[int]:
        """Return the handles of all kernels."""
        count = ctypes.c_uint()
        call('ModuleGetFunctionCount', ctypes.byref(count), self._handle)
        handles = (ctypes.c_void_p * count.value)()
        call('ModuleEnumerateFunctions', handles, count, self._handle)
        return [int(h) for h in handles if h]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.kernels]

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(self[name])
        except KeyError:
            return False

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
        if name not in self._kernels:
            symbol = self._symbol(name)
            made = self._kernels.get(symbol) or Kernel(self.device, self._handle, symbol, self._source)
            self._kernels[name] = self._kernels[symbol] = made
        return self._kernels[name]

    def _symbol(self, name: str) -> str:
        """Return the name in the PTX of a kernel. Raises KeyError if there is none, or more than one."""
        __tracebackhide__ = True
        if name in self.kernels:
            return name
        if self.cpp_names.get(name) in self.kernels:
            return self.cpp_names[name]
        return str(self.device._core.run(self._symbol_of_cpp, name))

    def _symbol_of_cpp(self, name: str) -> str:
        """Return the name in the PTX of the kernel that a name of C++ means, inside Core.run."""
        __tracebackhide__ = True
        found = self._find(name)
        if len(found) > 1:
            raise KeyError(f"the name '{name}' of {self.name} is ambiguous; it has "
                           f"{', '.join(_described(handle) for handle in found)}")
        if not found:
            short = [n for handle in self._handles() for n in _short_names(_source_name(handle))]
            known = [*short, *self.kernels, *self.cpp_names]
            close = difflib.get_close_matches(name, dict.fromkeys(known), 3) or self.kernels[:10]
            raise KeyError(f"{self.name} has no kernel '{name}'; it has {', '.join(close) or 'none'}")
        return _function_name(found[0])

    def _cpp_names_of_kernels(self) -> Dict[str, List[str]]:
        """Return the names in C++ of each kernel, by its name in the PTX, inside Core.run."""
        return {_function_name(handle): list(_short_names(_source_name(handle))) for handle in self._handles()}

    def _find(self, name: str) -> List[int]:
        """Return the handles of the kernels that a name of C++ means."""
        count = ctypes.c_uint(len(self.kernels))
        handles = (ctypes.c_void_p * len(self.kernels))()
        if '\0' in name or not name or not self.kernels:
            return []
        call('ModuleFindFunctions', handles, ctypes.byref(count), self._handle, encoded(name))
        return [int(h) for h in handles[:count.value] if h]

    def variable(self, name: str, dtype: Any = np.uint8) -> Array:
        """Return a .global or .const variable of the module as an array, in place.

        `name` is the name in the PTX, or an expression in `cpp_names`. Raises KeyError if the module does not have
        the variable.
        """
        address, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        symbol = encoded(self.cpp_names.get(name, name))
        result = self.device._core.result('ModuleGetGlobal', ctypes.byref(address), ctypes.byref(size), self._handle,
                                          symbol)
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
    if type(x) is int and 1 <= x < 1 << 32:
        return x, 1, 1
    d = tuple(x) if np.iterable(x) else (x,)
    if not 1 <= len(d) <= 3 or not all(isinstance(n, (int, np.integer)) and 1 <= n < 1 << 32 for n in d):
        raise ValueError(f'invalid {what} {x!r}; use one to three integers from 1 to {(1 << 32) - 1}')
    x3 = [int(n) for n in d] + [1, 1]
    return x3[0], x3[1], x3[2]


def _shared(x: Any) -> int:
    """Return a number of bytes of shared memory."""
    __tracebackhide__ = True
    try:
        return number(x, ctypes.c_uint)
    except TypeError:
        raise TypeError(f'invalid shared memory: {describe(x)}; use a number of bytes, as in '
                        'kernel[grid, block, shared, stream] and kernel.launch(grid, block, (a, b), shared)') from None


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

    def __init__(self, device: Device, module: Handle, name: str, source: Tuple[bytes, Dict[str, Any]]) -> None:
        self.device, self.name = device, name
        self.source = source  # the module's text and the options of loads()
        self._module = module
        self._handle = ctypes.c_void_p()
        device._core.run(self._find)

    def _find(self) -> None:
        """Look up the kernel inside Core.run."""
        call('ModuleGetFunction', ctypes.byref(self._handle), self._module, encoded(self.name))
        self.signature = text('FuncGetSignature', self._handle)
        self.parameters = self._parameters()
        self._packer = Packer(self.signature, self.parameters)
        self._shapes: Dict[Tuple[Any, ...], _Configuration] = {}  # by the shape, and _ANY_STREAM

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

    @property
    def cluster(self) -> Optional[Tuple[int, int, int]]:
        """The size of its clusters that the kernel declares, or None."""
        sides = ('WIDTH', 'HEIGHT', 'DEPTH')
        x, y, z = (self.attribute(FunctionAttribute[f'REQUIRED_CLUSTER_{side}']) for side in sides)
        return (x, y, z) if x else None

    def __getitem__(self, shape: Tuple[Any, ...]) -> '_Shaped':
        __tracebackhide__ = True
        try:
            return _Shaped(self._start, self._shapes[shape])
        except (KeyError, TypeError):  # TypeError: a list cannot be a key
            return self._shaped(shape)

    def _shaped(self, shape: Tuple[Any, ...]) -> '_Shaped':
        """Return the kernel with a configuration that is new, or for launches into streams."""
        __tracebackhide__ = True
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise TypeError(f'invalid launch configuration; use {self.name}[grid, block] or '
                            f'{self.name}[grid, block, shared, stream]')
        if len(shape) < 4 or shape[3] is None:
            return _Shaped(self._start, self._shape(shape[:3]))
        stream = self._own(shape[3])
        return _Shaped(self._start_in, self._shape((*shape[:3], _ANY_STREAM)), stream)

    def _shape(self, key: Tuple[Any, ...]) -> '_Configuration':
        """Return a configuration. It is kept if its key is of integers, as 1.0 would have the same key as 1."""
        __tracebackhide__ = True
        try:
            return self._shapes[key]
        except (KeyError, TypeError):
            how = _Configuration(self, *key[:3])
        if all(type(m) is int for n in key[:3] for m in (n if type(n) is tuple else (n,))):
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[key] = how
        return how

    def _own(self, stream: Stream) -> Stream:
        """Return the stream. Raises ValueError if it belongs to another device."""
        __tracebackhide__ = True
        if not isinstance(stream, Stream):
            raise TypeError(f'{stream!r} is not a ptxi.Stream')
        if stream.device is not self.device:
            raise ValueError('the stream belongs to another device; use a stream of the device of the module')
        return stream

    def __call__(self, *arguments: Any) -> None:
        raise TypeError(f'the launch has no grid and block; use {self.name}[grid, block](...)')

    def _start(self, how: '_Configuration', *arguments: Any) -> None:
        """Launch the kernel. The frequent kinds of arguments take a shorter way than `_launch`."""
        __tracebackhide__ = True
        call_ = how.call()
        held = how.fill(call_.buffer, arguments)  # keeps the memory in place while the kernel runs
        if held is None:
            self._launch(how, arguments)
            return
        result = how.core.launch_and_wait(call_.reference)
        if result:
            raise how.failure(result, call_)
        how.spare.append(call_)

    def _start_in(self, how: '_Configuration', stream: Stream, *arguments: Any) -> None:
        """Launch the kernel into a stream, as `_start` does."""
        __tracebackhide__ = True
        core, call_ = how.core, how.call()
        held = None if core.captures else how.fill(call_.buffer, arguments)  # a graph has its memory open for longer
        if held is None:
            self._launch(how, arguments, stream)
            return
        result = core.launch_into(stream.queue, call_, (self._module, held))
        if result:
            raise how.rejection(result)
        how.spare.append(call_)

    def launch(self, grid: Dim, block: Dim, arguments: Arguments, shared: int = 0, stream: Optional[Stream] = None,
               cooperative: bool = False, cluster: Optional[Dim] = None, attributes: Optional[Dict[Any, int]] = None,
               opens: Sequence[Any] = (), window: Optional[Tuple[int, int]] = None, checkpoint: Any = None,
               every: float = 10, note: bytes = b'') -> None:
        """Launch the kernel, as `kernel[grid, block, shared, stream](*arguments)` does, with more options.

        `cooperative`  True: all blocks run at the same time, so that they may wait for each other
        `cluster`      blocks in a cluster, as one to three integers; the grid must be a multiple of it
        `attributes`   other launch attributes and their values, such as {LaunchAttribute.PRIORITY: 1}
        `opens`        arrays that the kernel uses besides its arguments: it finds their addresses in memory, in a
                       structure, or in a tensor map
        `window`       the number of the first cluster and the number of clusters to run; without clusters: of blocks.
                       Kernels whose blocks may depend on each other are refused
        `checkpoint`   a file: wait for the kernel, and write the state of the device to the file meanwhile, every
                       `every` seconds. After `Device.restore` with the file, which returns `note`, the same launch
                       continues. See ptxiLaunchCheckpointed in ptxi.h
        """
        __tracebackhide__ = True
        listed(arguments, f'{self.name}.launch(grid, block, arguments)')
        how = self._configure(grid, block, shared, cooperative, cluster, attributes, window)
        if checkpoint is not None:
            if stream is not None:
                raise ValueError('a launch with checkpoints waits for the kernel; launch it without a stream')
            self._launch_checkpointed(how, arguments, opens, _checkpoint(checkpoint, every, note))
            return
        self._launch(how, arguments, None if stream is None else self._own(stream), opens)

    def prepare(self, grid: Dim, block: Dim, arguments: Arguments, shared: int = 0,
                stream: Optional[Stream] = None, cooperative: bool = False, cluster: Optional[Dim] = None,
                attributes: Optional[Dict[Any, int]] = None, opens: Sequence[Any] = ()) -> 'Launch':
        """Return a launch that can be run again and again at less cost. The parameters are those of `launch`.

            add = mod.add.prepare(8, 256, (x, y, n))
            for _ in range(100):
                add()
        """
        __tracebackhide__ = True
        listed(arguments, f'{self.name}.prepare(grid, block, arguments)')
        how = self._configure(grid, block, shared, cooperative, cluster, attributes)
        return Launch(self, how, arguments, None if stream is None else self._own(stream), opens)

    def _configure(self, grid: Dim, block: Dim, shared: int, cooperative: bool, cluster: Optional[Dim],
                   attributes: Optional[Dict[Any, int]], window: Optional[Tuple[int, int]] = None) -> '_Configuration':
        """Return how to launch the kernel. The parameters are those of `launch`."""
        __tracebackhide__ = True
        values = dict(attributes or {})
        if cooperative:
            values[LaunchAttribute.COOPERATIVE] = 1
        return _Configuration(self, grid, block, shared, _attributes(values, cluster, window))

    def _pack(self, arguments: Sequence[Any], opens: Sequence[Any]) -> Tuple[bytearray, List[Pointer]]:
        """Return the parameter buffer and all memory that a launch uses."""
        __tracebackhide__ = True
        buffer, pointers = self._packer.pack(arguments)
        return buffer, pointers + [opened(x) for x in listed(opens, 'opens=')]

    def _launch(self, how: '_Configuration', arguments: Sequence[Any], stream: Optional[Stream] = None,
                opens: Sequence[Any] = ()) -> None:
        """Launch the kernel. Without a stream, wait for it."""
        __tracebackhide__ = True
        buffer, pointers = self._pack(arguments, opens)
        if stream is None:
            how.run(_Call(how, buffer, as_array(spans(pointers))))
            return
        core, queue, use = self.device._core, stream.queue, Use([p.owner for p in pointers])
        entry = Entry(use, (self._module, pointers))
        try:
            core.run(self._run, queue, entry, spans(pointers), how, buffer)
        finally:
            if not entry.queued:
                use.end()
            core.reap()

    def _launch_checkpointed(self, how: '_Configuration', arguments: Sequence[Any], opens: Sequence[Any],
                             checkpoint: Any) -> None:
        """Launch the kernel, and save the device meanwhile. `checkpoint` is a structure."""
        __tracebackhide__ = True
        buffer, pointers = self._pack(arguments, opens)
        if spans(pointers):
            raise errors.ArgumentError('checkpoints do not have the arrays of the program; use buffers, such as '
                                       'ptxi.copy(x)')
        self.device.synchronize()
        self.device._core.run(how.run_checkpointed, _Values(self.parameters, buffer), checkpoint)

    def _run(self, queue: Queue, entry: Entry, to_open: List[Span], how: '_Configuration', buffer: bytearray) -> None:
        """Open the memory of the arguments and queue the launch, inside Core.run."""
        __tracebackhide__ = True
        if entry.use is not None:
            entry.use.open(to_open)
        how.submit(queue, entry, _Values(self.parameters, buffer))


_MOST_SHAPES = 256  # shapes of a kernel that are kept
_ANY_STREAM = object()  # in the key of a configuration for launches into streams


class _Values:
    """The values of a kernel's parameters, and their addresses. The library copies the values in the call."""

    def __init__(self, parameters: Sequence[Parameter], buffer: bytearray) -> None:
        self._buffer = ctypes.c_char.from_buffer(buffer if buffer else bytearray(1))
        start = ctypes.addressof(self._buffer)
        self.addresses = (ctypes.c_void_p * max(len(parameters), 1))(*(start + p.offset for p in parameters))


class _Call:
    """A launch as ptxiLaunchWatched and ptxiLaunchAsync take it.

    `buffer`     the parameters, in a ctypes array
    `config`     the configuration, a structure
    `structure`  the structure that the functions take
    `reference`  the reference to it
    """

    def __init__(self, how: '_Configuration', buffer: Any, ranges: Any) -> None:
        self.buffer = (ctypes.c_ubyte * max(len(buffer), 1))(*buffer)
        self._ranges = ranges
        self.config = how.config
        struct = header.structs['ptxiDirectLaunch']
        self.structure = struct(
            size=ctypes.sizeof(struct), ctx=how.core.handle.value, config=ctypes.addressof(how.config),
            f=how.function.value, params=ctypes.addressof(self.buffer), paramBytes=how.packer.size,
            ranges=ctypes.addressof(ranges) if ranges else None, rangeCount=len(ranges))
        self.reference = ctypes.byref(self.structure)

    @classmethod
    def with_room(cls, how: '_Configuration') -> '_Call':
        """Return a launch whose parameters and ranges `Packer.fill` writes to its buffer."""
        packer, struct = how.packer, header.structs['ptxiRange']
        call_ = cls(how, bytes(packer.range_offset + packer.ranges * ctypes.sizeof(struct)), ())
        call_.structure.ranges = ctypes.addressof(call_.buffer) + packer.range_offset
        call_.structure.rangeCount = packer.ranges
        return call_

    @property
    def launched(self) -> bool:
        """Whether the library has accepted the launch, so that its result is that of the kernel."""
        return bool(self.structure.launched)


class _Configuration:
    """How a kernel is launched: everything except the arguments.

    It does not refer to the kernel, which keeps it. A launch into a stream writes the stream to the configuration while
    it holds Core.lock. A launch that waits has another configuration, which no stream is written to.

    `spare`  launches without arguments, which can be used again
    """

    def __init__(self, kernel: Kernel, grid: Dim, block: Dim, shared: int = 0, attributes: Any = ()) -> None:
        __tracebackhide__ = True
        self._shape = (*_dim('grid', grid), *_dim('block', block), _shared(shared))
        self.core, self.function, self.packer = kernel.device._core, kernel._handle, kernel._packer
        self.fill, self._signature = kernel._packer.fill, kernel.signature
        self.spare: List[_Call] = []
        self._attributes = attributes
        self.config = header.structs['ptxiLaunchConfig'](
            *self._shape, None, ctypes.addressof(attributes) if attributes else None,
            len(attributes))
        self.structure = ctypes.byref(self.config)

    def __str__(self) -> str:
        clusters = (a.value.clusterDim for a in self._attributes or () if a.id == LaunchAttribute.CLUSTER_DIMENSION)
        cluster = ''.join(f', cluster {c.x, c.y, c.z}' for c in clusters)
        return f'grid {self._shape[:3]}, block {self._shape[3:6]}{cluster}, {self._shape[6]} bytes of shared memory'

    def _limits(self) -> List[str]:
        """Return the limits that the grid, the block and the shared memory exceed, in words."""
        def limit(function: str, which: Any, *of: Any) -> int:
            value = ctypes.c_int()
            self.core.call(function, ctypes.byref(value), which, *of)
            return value.value

        grid, block, shared = self._shape[:3], self._shape[3:6], self._shape[6]
        found = []
        for what, sides in ('grid', grid), ('block', block):
            most = tuple(limit('DeviceGetAttribute', DeviceAttribute[f'MAX_{what.upper()}_DIM_{side}'], 0)
                         for side in 'XYZ')
            if any(n > m for n, m in zip(sides, most)):
                found.append(f'the {what} can be {most} at most')
        threads, bytes_ = (limit('FuncGetAttribute', FunctionAttribute[name], self.function)
                           for name in ('MAX_THREADS_PER_BLOCK', 'MAX_DYNAMIC_SHARED_SIZE_BYTES'))
        if math.prod(block) > threads:
            found.append(f'a block of the kernel can have {threads} threads at most, and this one has '
                         f'{math.prod(block)}')
        if shared > bytes_:
            found.append(f'the kernel can have {bytes_} bytes of dynamic shared memory at most, unless its attribute '
                         'MAX_DYNAMIC_SHARED_SIZE_BYTES is set')
        return found or ['the kernel may require a block of another shape (.reqntid)']

    def call(self) -> _Call:
        """Return a launch without arguments. The caller adds it to `spare` when it was made."""
        try:
            return self.spare.pop()
        except IndexError:
            return _Call.with_room(self)

    def submit(self, queue: Queue, entry: Entry, values: '_Values') -> None:
        """Queue the launch, inside Core.run. Raises Error if the library rejects it."""
        __tracebackhide__ = True
        def launch() -> int:
            self.config.hStream = queue.handle and queue.handle.value
            result: int = library().LaunchKernelEx(self.structure, self.function, values.addresses, None)
            return result

        result = queue.enqueue(entry, launch)
        if result:
            raise self.rejection(result)

    def rejection(self, result: int) -> Exception:
        """Return the exception for a launch that the library does not accept."""
        if result == errors.Result.ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
            return errors.launch_error(self.core.handle, result)
        if result == errors.Result.ERROR_NOT_SUPPORTED:
            refused = errors.launch_error(self.core.handle, result)
            if isinstance(refused, errors.LaunchError):
                return refused
        if result == errors.Result.ERROR_HOST_MEMORY_ALREADY_REGISTERED:
            return range_error(result)
        limits = self._limits() if result == errors.Result.ERROR_INVALID_VALUE else []
        return errors.error(result, f' ({"; ".join(limits + [str(self)])}: {self._signature})')

    def run(self, call_: _Call) -> None:
        """Launch the kernel, and wait for it."""
        __tracebackhide__ = True
        result = self.core.launch_and_wait(call_.reference)
        if result:
            raise self.failure(result, call_)

    def run_checkpointed(self, values: '_Values', checkpoint: Any) -> None:
        """Launch the kernel, wait for it, and save the device meanwhile, inside Core.run."""
        __tracebackhide__ = True
        result = self.core.waited('LaunchCheckpointed', self.structure, self.function, values.addresses, None,
                                  ctypes.byref(checkpoint))
        if result:
            raise errors.launch_error(self.core.handle, result)

    def failure(self, result: int, call_: _Call) -> Exception:
        """Return the exception for a launch that failed."""
        return errors.launch_error(self.core.handle, result) if call_.launched else self.rejection(result)


def _attributes(numbers: Dict[Any, int], cluster: Optional[Dim], window: Optional[Tuple[int, int]] = None) -> Any:
    """Return launch attributes as an array of the library's structures."""
    struct = header.structs['ptxiLaunchAttribute']
    made = [struct(id=key) for key in numbers]
    for attribute, value in zip(made, numbers.values()):
        attribute.value.priority = number(value, ctypes.c_int)  # every numeric attribute is an int of the union
    if cluster is not None:
        made.append(struct(id=LaunchAttribute.CLUSTER_DIMENSION))
        d = made[-1].value.clusterDim
        d.x, d.y, d.z = _dim('cluster', cluster)
    if window is not None:
        made.append(struct(id=LaunchAttribute.CLUSTER_WINDOW))
        w = made[-1].value.clusterWindow
        w.first, w.count = (number(n, ctypes.c_uint64) for n in window)
    return (struct * len(made))(*made)


def _checkpoint(path: Any, seconds: float, note: bytes) -> Any:
    """Return a structure of the library. It keeps what it refers to."""
    struct = header.structs['ptxiCheckpoint']
    made = struct(size=ctypes.sizeof(struct), seconds=seconds, noteBytes=len(note))
    made.kept = name, text = ctypes.create_string_buffer(os.fsencode(path)), ctypes.create_string_buffer(bytes(note))
    made.path, made.note = ctypes.addressof(name), ctypes.addressof(text)
    return made


class Launch(NotCopied):
    """A kernel with its configuration and its arguments, from `Kernel.prepare`. A call runs it.

    Arrays are used in place. They stay open for kernels, alive and in place until `close()` or the end of this object,
    and until all runs have ended. Numbers are those of the preparation.

    Without a stream a call returns when the kernel has ended, and raises LaunchError if it failed. With a stream a call
    returns at once.
    """

    def __init__(self, kernel: Kernel, how: '_Configuration', arguments: Sequence[Any],
                 stream: Optional[Stream] = None, opens: Sequence[Any] = ()) -> None:
        __tracebackhide__ = True
        self._kernel, self._how, self._stream, self._core = kernel, how, stream, kernel.device._core
        buffer, pointers = kernel._pack(arguments, opens)
        self._call = _Call(how, buffer, ())
        self._held: Any = Use([p.owner for p in pointers]), kernel._module, pointers
        self._core.run(self._held[0].open, spans(pointers))

    def __repr__(self) -> str:
        return f'<ptxi.Launch {self._kernel.name}: {self._how}>'

    def __call__(self) -> None:
        __tracebackhide__ = True
        held, call_, stream = self._held, self._call, self._stream
        if held is None:  # this reference to it keeps the memory open while the kernel runs
            raise ValueError('the launch is closed')
        if stream is None:
            result = self._core.launch_and_wait(call_.reference)
            if result:
                raise self._how.failure(result, call_)
        else:
            result = self._core.launch_into(stream.queue, call_, held)
            if result:
                raise self._how.rejection(result)

    def __enter__(self) -> 'Launch':
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the work of the device, and close the memory of the arguments."""
        __tracebackhide__ = True
        try:
            self._kernel.device.synchronize()
        finally:
            self._held = None
            give_back()


class _Shaped(functools.partial):  # type: ignore[type-arg]
    """A kernel with the configuration of a launch: Kernel._start with its first argument."""

    __slots__ = ()

    def __repr__(self) -> str:
        kernel: Kernel = getattr(self.func, '__self__')
        return f'<ptxi.Kernel {kernel.name}: {self.args[0]}>'
