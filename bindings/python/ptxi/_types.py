"""Properties and names of types."""
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def with_article(name: str) -> str:
    """Return the name of a type with its article, for an error message."""
    return f'{"an" if name[:1] in "aeio" else "a"} {name}'


def is_float(dtype: Any) -> bool:
    """Return whether the type is a float of NumPy or of ml_dtypes. NumPy reports the latter as kind 'V'."""
    return bool(dtype.kind == 'f' or (dtype.kind == 'V' and 'float' in dtype.name))


def is_of_kernels(dtype: Any) -> bool:
    """Return whether kernels can use elements of the type in place.

    They cannot use Python objects or elements in the other byte order.
    """
    return not dtype.hasobject and bool(dtype.isnative)
