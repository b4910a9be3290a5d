"""Triton kernels on the CPU, with the bits of a GPU: a backend of Triton that runs kernels with libptxi.

    import ptxi_triton, torch, triton

    ptxi_triton.enable()
    kernel[grid](torch_tensor_on_the_cpu, numpy_array, n, BLOCK=128)

Triton compiles the kernels as for the GPU that the current ptxi.Device simulates. The environment variable
TRITON_DEFAULT_BACKEND=ptxi does the same as `enable()` for a whole program, without a change to it. `enabled()` is a
context manager. Without any of these Triton works as if this package were not installed.

Kernels use torch tensors on the CPU, NumPy arrays, ptxi buffers, and other objects that ptxi kernels accept, in place.
A launch returns when the kernel has ended, and raises ptxi.LaunchError, which is a RuntimeError, if it failed.

Triton imports this package to find the backend. It imports ptxi only when the backend is used.
"""
import contextlib
from typing import Any, Iterator

__all__ = ['Tensor', 'disable', 'enable', 'enabled', 'opened']


def enable() -> None:
    """Run Triton kernels with libptxi from now on, in all threads. Kernels that were compiled before stay valid."""
    from . import driver
    driver.activate()


def disable() -> None:
    """End `enable()`: Triton selects a driver as it does without this package."""
    from . import driver
    driver.deactivate()


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """Run Triton kernels with libptxi inside the `with` statement."""
    from . import driver
    before = driver.activate()
    try:
        yield
    finally:
        driver.deactivate(before)


@contextlib.contextmanager
def opened(*arrays: Any) -> Iterator[None]:
    """Let kernels access tensors and arrays that are not their arguments, inside the `with` statement.

    Kernels that find addresses in memory need this. A kernel can access its arguments without it.

        addresses = torch.tensor([x.data_ptr() for x in tensors])
        with ptxi_triton.opened(*tensors):
            kernel[grid](addresses)
    """
    from . import memory
    with memory.opened(arrays):
        yield


def Tensor(array: Any) -> Any:
    """Return a NumPy array, or another object that ptxi kernels accept, with the members that Triton's tensors have.

    Kernels take arrays as they are. Triton's TensorDescriptor, for one, needs this:

        TensorDescriptor.from_tensor(ptxi_triton.Tensor(array), [64, 64])
    """
    from . import memory
    return memory.Tensor(array)
