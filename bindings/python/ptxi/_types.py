"""What is known of NumPy's types."""
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def is_float(dtype: Any) -> bool:
    """NumPy's own floats, and those of ml_dtypes, which NumPy knows by name only."""
    return bool(dtype.kind == 'f' or (dtype.kind == 'V' and 'float' in dtype.name))


def is_of_kernels(dtype: Any) -> bool:
    """Whether elements are to a kernel what they are to NumPy: neither Python's objects nor in another byte order."""
    return not dtype.hasobject and bool(dtype.isnative)
