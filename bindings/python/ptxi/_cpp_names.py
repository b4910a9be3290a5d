"""Names of C++ functions in the encoding of the Itanium C++ ABI, "External Names (a.k.a. Mangling)"."""
import re
from typing import Dict, Iterable, List

_LENGTH = re.compile(r'\d+')


def qualified(symbol: str) -> str:
    """Return the name of a function with its namespaces, such as 'space::scale', or '' if it has no such name.

    Arguments of templates and types of parameters are left out.
    """
    if not symbol.startswith('_Z'):
        return ''
    nested = symbol.startswith('N', 2)
    at = 3 if nested or symbol.startswith('L', 2) else 2  # in a namespace or class; static
    parts: List[str] = []
    while nested or not parts:
        length = _LENGTH.match(symbol, at)
        if not length:
            break
        at = length.end() + int(length[0])
        parts.append(symbol[length.end():at])
    return '::'.join(p for p in parts if not p.startswith('_GLOBAL__N_'))


def by_name(symbols: Iterable[str]) -> Dict[str, List[str]]:
    """Return the symbols of each C++ name, with its namespaces and without."""
    found: Dict[str, List[str]] = {}
    for symbol in symbols:
        name = qualified(symbol)
        for form in {name, name.rpartition('::')[2]} - {''}:
            found.setdefault(form, []).append(symbol)
    return found
