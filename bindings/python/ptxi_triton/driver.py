"""The driver of the backend: devices of ptxi as Triton's devices.

Triton imports this module to find the class in it. It imports ptxi only when the driver is used.
"""
import itertools
import os
import time
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from triton.backends import driver as triton_driver
from triton.backends.compiler import GPUTarget

from . import compiler

_numbers = itertools.count(1 << 16)  # numbers of devices for Triton, which caches kernels by them; no GPU has them
_devices: 'weakref.WeakValueDictionary[int, Any]' = weakref.WeakValueDictionary()


def activate() -> Any:
    """Make the driver Triton's active driver. Return the driver that was active, or None."""
    from triton.runtime import driver
    before = driver._active
    compiler.use(True)
    if not isinstance(before, PtxiDriver):
        driver.set_active(PtxiDriver())
    return before


def deactivate(before: Any = None) -> None:
    """Make another driver Triton's active driver. None lets Triton select one when it needs it."""
    from triton.runtime import driver
    if not isinstance(before, PtxiDriver):
        compiler.use(False)
    driver._active = before


def _current() -> Any:
    """Return the current device of ptxi. After the first call this is the function of ptxi."""
    global _current
    from ptxi import current as _current
    return _current()


def current_number() -> int:
    """Return the number of the current device of ptxi."""
    device = _current()
    number: Optional[int] = device.__dict__.get('_triton_number')
    if number is None:
        number = device.__dict__.setdefault('_triton_number', next(_numbers))
        _devices[number] = device
        _advance_together(device)
    return number


def _advance_together(device: Any) -> None:
    """Select the order 'fair' for the device, unless the program or the environment has selected one.

    All warps of a program load a scalar, and one of them stores it. Triton has no barrier between a load and a store of
    the same address, because the warps of a GPU advance together.
    """
    if device.schedule == 'run' and not {'PTXI_SCHED', 'PTXI_SCHED_SEED'} & set(os.environ):
        device.schedule = 'fair'


def device_of(number: int) -> Any:
    """Return the device of ptxi that has a number."""
    device = _devices.get(number)
    if device is None:
        raise ValueError(f'there is no device {number} of ptxi')
    return device


def current_target() -> Any:
    """Return the target of the current device."""
    major, minor = Utils.get_device_capability(current_number())
    return GPUTarget('cuda', major * 10 + minor, 32)


class Utils:
    """Functions that Triton calls with the number of a device, a module or a kernel."""

    @staticmethod
    def get_device_capability(number: int) -> Tuple[int, int]:
        """Return the compute capability of a device."""
        from ptxi import DeviceAttribute
        device = device_of(number)
        return (device.attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR),
                device.attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR))

    @staticmethod
    def get_device_properties(number: int) -> Dict[str, int]:
        """Return the properties of a device that Triton knows."""
        from ptxi import DeviceAttribute
        names = {
            'max_shared_mem': 'MAX_SHARED_MEMORY_PER_BLOCK_OPTIN',
            'max_num_regs': 'MAX_REGISTERS_PER_BLOCK',
            'multiprocessor_count': 'MULTIPROCESSOR_COUNT',
            'warpSize': 'WARP_SIZE',
            'sm_clock_rate': 'CLOCK_RATE',
            'mem_clock_rate': 'MEMORY_CLOCK_RATE',
            'mem_bus_width': 'GLOBAL_MEMORY_BUS_WIDTH',
        }
        device = device_of(number)
        return {name: device.attribute(DeviceAttribute[member]) for name, member in names.items()}

    @staticmethod
    def load_binary(name: str, binary: bytes, shared: int, number: int) -> Tuple[Any, Any, int, int, int]:
        """Load a binary. Return its module, its kernel, and numbers of registers, spilled words and threads."""
        from .launcher import load
        return load(name, binary, shared, device_of(number))

    @staticmethod
    def unload_module(module: Any) -> None:
        """Do nothing: the module is unloaded after its last reference."""

    @staticmethod
    def get_current_device() -> int:
        """Return the number of the current device."""
        return current_number()

    @staticmethod
    def set_current_device(number: int) -> None:
        """Accept the number of the current device. Other devices are made current by `with device:`."""
        if number != current_number():
            raise ValueError(f'cannot make device {number} current; use `with device:`')

    @staticmethod
    def get_default_stream(number: int) -> int:
        """Return the default stream."""
        return 0

    @staticmethod
    def is_stream_capturing(stream: int) -> bool:
        """Return whether the work of a stream is being recorded."""
        return False

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """Set a limit that has no effect, because the text of kernels has no limit."""
        import ptxi
        ptxi.current().set_limit(ptxi.Limit.PRINTF_FIFO_SIZE, size)

    @staticmethod
    def cuOccupancyMaxActiveClusters(kernel: Any, shared: int, blocks: int) -> int:
        """Return how many clusters of a kernel run at the same time."""
        from .launcher import max_active_clusters
        return max_active_clusters(kernel, shared, blocks)

    @staticmethod
    def fill_tma_descriptor_tiled(*arguments: Any) -> Any:
        """Return a tensor map for tiles."""
        from .tensormap import tiled
        return tiled(*arguments)

    @staticmethod
    def fill_tma_descriptor_im2col(*arguments: Any) -> Any:
        """Return a tensor map for im2col."""
        from .tensormap import im2col
        return im2col(*arguments)


class Event:
    """A point in time, as torch.cuda.Event. Launches have ended when they return."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        """Set the event to the current time."""
        self._time = time.perf_counter()

    def elapsed_time(self, end: 'Event') -> float:
        """Return the milliseconds from this event to another one. It is never 0."""
        return max((end._time - self._time) * 1e3, 1e-6)

    def synchronize(self) -> None:
        """Do nothing: launches have ended when they return."""

    def query(self) -> bool:
        """Return True: launches have ended when they return."""
        return True


class DeviceInterface:
    """The part of torch.cuda that Triton's benchmarks use."""

    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Wait for the current device."""
        import ptxi
        ptxi.current().synchronize()

    @staticmethod
    def current_device() -> int:
        """Return the number of the current device."""
        return current_number()


def count_instructions(call: Callable[[], Any], quantiles: Optional[Sequence[float]] = None, **_: Any) -> Any:
    """Benchmark for autotuning: the warp instructions of one call, in millions.

    So the choice of a configuration, and with it the result, is the same on every host and in every run.
    """
    import ptxi
    with ptxi.current().counting() as counters:
        call()
        cost = counters().warp_instructions / 1e6
    return cost if quantiles is None else [cost] * len(quantiles)


class PtxiDriver(triton_driver.DriverBase):  # type: ignore[misc]
    """Runs kernels on the current device of ptxi."""

    def __init__(self) -> None:
        super().__init__()
        from .launcher import Launcher
        self.utils = Utils()
        self.launcher_cls = Launcher
        self.get_current_device: Callable[[], int] = current_number
        compiler.use(True)

    @classmethod
    def is_active(cls) -> bool:
        return compiler.requested() or compiler.in_use()

    def get_current_target(self) -> Any:
        return current_target()

    def get_current_stream(self, device: Any = None) -> int:
        """Return the default stream."""
        return 0

    def set_current_device(self, number: int) -> None:
        """Accept the number of the current device."""
        self.utils.set_current_device(number)

    def get_device_capability(self, number: Optional[int] = None) -> Tuple[int, int]:
        """Return the compute capability of a device."""
        return self.utils.get_device_capability(current_number() if number is None else number)

    def get_active_torch_device(self) -> Any:
        import torch
        return torch.device('cpu')

    def get_device_interface(self) -> Any:
        """Return the part of torch.cuda that Triton's benchmarks use."""
        return DeviceInterface

    def get_benchmarker(self) -> Any:
        return count_instructions

    def get_empty_cache_for_benchmark(self) -> List[Any]:
        """Return an object for `clear_cache`."""
        return []

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: there is no cache that affects time."""

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton.backends.nvidia.driver import ty_to_cpp
        return str(ty_to_cpp(ty))

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        from .memory import scratch
        return scratch(size)
