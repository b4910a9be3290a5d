"""Launches kernels that Triton compiled."""
import ctypes
import operator
import struct
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from triton.backends.driver import decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl
from triton.backends.nvidia import driver as nvidia
from triton.runtime import _allocation

import ptxi
from ptxi import FunctionAttribute, LaunchAttribute
from ptxi._ranges import READ
from ptxi.module import _Call

from . import memory, tensormap
from .compiler import NO_FMA

_STATIC_LIMIT = 48 << 10  # bytes of shared memory that a kernel may use without asking for more
_DESCRIPTOR = 'nvTmaDesc'
_MOST_CONFIGURATIONS = 64  # of a kernel, that are kept


class Function:
    """A kernel of a loaded binary. `configurations` has how to launch it, by the grids that were used so far."""

    def __init__(self, kernel: ptxi.Kernel, module: ptxi.Module) -> None:
        self.kernel, self.module = kernel, module
        self.packer: Optional[Packer] = None
        self.configurations: Dict[Tuple[Any, ...], Any] = {}

    def configure(self, grid: Any, warps: int, blocks: int, shared: int, cooperative: bool = False,
                  dependent: bool = False) -> Any:
        """Return how to launch the kernel. `blocks` is the size of a cluster, of which a program consists."""
        attributes = {}
        if dependent:
            attributes[LaunchAttribute.PROGRAMMATIC_STREAM_SERIALIZATION] = 1
        if blocks == 16:
            self.kernel.set_attribute(FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
        x, y, z = map(operator.index, grid)
        return self.kernel._configure((x * blocks, y, z), 32 * warps, shared, cooperative,
                                      cluster=blocks if blocks > 1 else None, attributes=attributes)


def load(name: str, binary: bytes, shared: int, device: Any) -> Tuple[Any, Function, int, int, int]:
    """Load a binary. Return its module, its kernel, and numbers of registers, spilled words and threads."""
    module = ptxi.loads(binary, name=f'{name}.ptx', fma=not binary.endswith(NO_FMA), device=device)
    kernel = module[name]
    if shared > _STATIC_LIMIT:
        kernel.set_attribute(FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
    registers, local, threads = (kernel.attribute(a) for a in (
        FunctionAttribute.NUM_REGS, FunctionAttribute.LOCAL_SIZE_BYTES, FunctionAttribute.MAX_THREADS_PER_BLOCK))
    return module, Function(kernel, module), registers, local // 4, threads


def max_active_clusters(function: Function, shared: int, blocks: int) -> int:
    """Return how many clusters of a kernel run at the same time, as cuOccupancyMaxActiveClusters does."""
    how = function.configure((1, 1, 1), 1, blocks, shared)
    count = ctypes.c_int()
    core = function.kernel.device._core
    core.call('OccupancyMaxActiveClusters', ctypes.byref(count), function.kernel._handle, how.structure)
    return count.value


class TensorMap:
    """A tensor map as an argument. `base` is the tensor that it describes."""

    def __init__(self, data: bytes, base: Any) -> None:
        self.data, self.base = data, base


def _descriptor(argument: Any, metadata: Any, _: Any) -> List[Any]:
    """Return the arguments that a kernel receives for a tensor descriptor."""
    if metadata is None:
        return decompose_descriptor(argument)  # type: ignore[no-any-return]
    made = nvidia.make_tensordesc_arg(argument, metadata, _)
    made[0] = TensorMap(made[0], argument.base)
    return list(made)


def _flat(signature: Any) -> Iterator[str]:
    """Yield the types of the kernel's arguments."""
    for type_ in signature:
        if isinstance(type_, tuple):
            yield from _flat(type_)
        elif type_ != 'constexpr':
            yield type_


def _values(signature: Any, arguments: Any) -> Iterator[Any]:
    """Yield the kernel's arguments."""
    for type_, argument in zip(signature, arguments):
        if isinstance(type_, tuple):
            yield from _values(type_, argument)
        elif type_ != 'constexpr':
            yield argument


def _bfloat(x: Any) -> int:
    """Return the bits of a number as bf16, truncated as Triton's own launcher does."""
    return int.from_bytes(_single(x)[2:], 'little')


def _single(x: Any) -> bytes:
    """Return the bytes of a number as a float of 32 bits. A number that is too large is infinite, as in C."""
    return bytes(ctypes.c_float(x))


# How a number is written: its format in `struct`, and the conversion of an argument, or None
_FLOATS: Dict[str, Tuple[str, Optional[Callable[[Any], Any]]]] = {
    'fp16': ('e', None), 'bf16': ('H', _bfloat), 'fp32': ('4s', _single), 'f32': ('4s', _single), 'fp64': ('d', None),
}
_RANGE = 'QQI4x'  # ptxiRange
_NO_RANGE = (0, 0, READ)
_INTEGERS = {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}


class Packer:
    """Writes the arguments of a kernel and the ranges of their memory into the buffer of a launch.

    `size`          bytes of the parameters
    `range_offset`  offset of the ranges
    `ranges`        number of ranges
    """

    def __init__(self, signature: Any, kernel: Any) -> None:
        types = [*_flat(signature), '*i8', '*i8']
        if len(types) != len(kernel.parameters):
            raise TypeError(f'Triton has {len(types)} arguments for {len(kernel.parameters)} parameters: '
                            f'{kernel.signature}')
        self._pointers: List[int] = []
        self._maps: List[int] = []
        self._masks: List[Tuple[int, int]] = []
        self._conversions: List[Tuple[int, Callable[[Any], Any]]] = []
        layout, self.size = '<', 0
        for i, (type_, p) in enumerate(zip(types, kernel.parameters)):
            layout += f'{p.offset - self.size}x' + self._add(i, type_, p.bytes)
            self.size = p.offset + p.bytes
        self.range_offset = -(-self.size // 8) * 8
        self.ranges = len(self._pointers) + len(self._maps)
        self._pack_into = struct.Struct(layout + f'{self.range_offset - self.size}x' + _RANGE * self.ranges).pack_into

    def _add(self, i: int, type_: str, size: int) -> str:
        """Add an argument. Return its format."""
        if type_[0] == '*':
            self._pointers.append(i)
            return 'Q'
        if type_ == _DESCRIPTOR:
            self._maps.append(i)
            return f'{size}s'
        if type_ in _FLOATS:
            format_, conversion = _FLOATS[type_]
            if conversion is not None:
                self._conversions.append((i, conversion))
            return format_
        self._masks.append((i, (1 << 8 * size) - 1))
        return _INTEGERS[size]

    def pack_into(self, buffer: Any, values: List[Any]) -> List[Any]:
        """Write the values to a buffer. Return the objects that keep the memory alive. Changes `values`."""
        held: List[Any] = []
        ranges: List[int] = []
        readers = memory.readers
        for i in self._pointers:
            x = values[i]
            if x is None or type(x) is int:
                values[i] = x or 0
                ranges += _NO_RANGE
            else:
                reader = readers.get(type(x)) or memory.reader(x)
                values[i], start, size, flags, owner = reader(x)
                ranges += (start, size, flags)
                held.append(owner)
        for i in self._maps:
            _, start, size, flags, owner = memory.of(values[i].base)
            values[i] = values[i].data
            ranges += (start, size, flags)
            held.append(owner)
        for i, mask in self._masks:
            values[i] &= mask
        for i, convert in self._conversions:
            values[i] = convert(values[i])
        self._pack_into(buffer, 0, *values, *ranges)
        return held


class Launcher:
    """Launches one kernel. Triton makes it once for each compiled kernel, and calls it for each launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        maps = getattr(metadata, 'tensordesc_meta', None)
        signature = dict(source.signature.items())
        self._signature = expand_signature(signature.values(), maps, _DESCRIPTOR)
        self._kept = None if any(isinstance(t, tuple) for t in self._signature) else [
            i for i, t in enumerate(self._signature) if t != 'constexpr']
        self._launch = wrap_handle_tensordesc_impl(self._run, signature, maps, _descriptor)
        self._blocks = getattr(metadata, 'num_ctas', 1)
        self._cooperative = bool(metadata.launch_cooperative_grid)
        self._dependent = bool(metadata.launch_pdl)
        self._scratch = metadata.global_scratch_size, metadata.global_scratch_align
        self._profile = metadata.profile_scratch_size, metadata.profile_scratch_align
        self._needs_scratch = bool(self._scratch[0] or self._profile[0])

    def __call__(self, x: Any, y: Any, z: Any, stream: Any, function: Function, packed: Any, metadata: Any,
                 enter: Any, leave: Any, *arguments: Any) -> None:
        __tracebackhide__ = True
        if enter is not None:
            enter(metadata)
        if x * y * z > 0:
            self._launch(x, y, z, stream, function, packed, arguments)
        if leave is not None:
            leave(metadata)

    def _run(self, x: Any, y: Any, z: Any, stream: Any, function: Function, packed: Any, arguments: Any) -> None:
        """Launch the kernel and wait for it. Tensor descriptors in `arguments` have been replaced."""
        __tracebackhide__ = True
        packer = function.packer
        if packer is None:
            packer = function.packer = Packer(self._signature, function.kernel)
        if self._kept is None:
            values = list(_values(self._signature, arguments))
        else:
            values = [arguments[i] for i in self._kept]
        if self._needs_scratch:
            blocks = x * y * z * self._blocks
            values.append(self._allocate(blocks, stream, *self._scratch, _allocation._allocator))
            values.append(self._allocate(blocks, stream, *self._profile, None))
        else:
            values += (None, None)
        how = function.configurations.get((x, y, z))
        if how is None:
            how = self._configure(x, y, z, function, packed)
        try:
            call = how.spare.pop()
        except IndexError:
            call = _Call.with_room(how)
        held = packer.pack_into(call.buffer, values)
        how.run(call)
        del held  # until the kernel has ended
        how.spare.append(call)

    def _configure(self, x: Any, y: Any, z: Any, function: Function, packed: Any) -> Any:
        """Return how to launch the kernel in a grid. It is kept for the next launch."""
        if len(function.configurations) >= _MOST_CONFIGURATIONS:
            function.configurations.clear()
        how = function.configure((x, y, z), packed[0], self._blocks, packed[2], self._cooperative, self._dependent)
        how.packer = function.packer
        function.configurations[x, y, z] = how
        return how

    @staticmethod
    def _allocate(blocks: int, stream: Any, size: int, alignment: int, allocator: Any) -> Any:
        """Return scratch memory for the blocks, or None if the kernel needs none.

        The allocators of programs expect the aligned memory of a GPU. Scratch memory has no contents before a
        kernel, so it may be replaced.
        """
        if not size:
            return None
        if allocator is None:
            if not _allocation.has_profile_allocator():
                return memory.scratch(blocks * size, max(alignment, 128))
            allocator = _allocation._profile_allocator
        made = allocator.get()(blocks * size, alignment, stream)
        if made is not None and made.data_ptr() % max(alignment, 128) == 0:
            return made
        return memory.scratch(blocks * size, max(alignment, 128))
