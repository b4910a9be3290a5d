"""Parses ptxi.h: all numbers, structures and prototypes of this package come from the header.

The parser handles only the C that ptxi.h uses: enums, lists of the form `#define LIST(X) X(NAME, number, ...)` and
enums generated from them, structures and unions of scalars, pointers, arrays and each other, and prototypes marked
PTXI_API.
"""
import ctypes
import enum
import os
import pathlib
import re
from typing import Any, Dict, List

_SCALARS = {
    'char': ctypes.c_char, 'int': ctypes.c_int, 'unsigned': ctypes.c_uint, 'unsigned int': ctypes.c_uint,
    'unsigned char': ctypes.c_ubyte, 'unsigned short': ctypes.c_ushort,
    'float': ctypes.c_float, 'double': ctypes.c_double, 'size_t': ctypes.c_size_t,
    'int32_t': ctypes.c_int32, 'uint32_t': ctypes.c_uint32, 'int64_t': ctypes.c_int64, 'uint64_t': ctypes.c_uint64,
    'long long': ctypes.c_longlong, 'unsigned long long': ctypes.c_ulonglong,
}


def path() -> pathlib.Path:
    """Return the path of ptxi.h: next to this file in an installed package, else in the source tree."""
    here = pathlib.Path(__file__).resolve().parent
    for p in (here / 'ptxi.h', here.parents[2] / 'include' / 'ptxi.h'):
        if p.exists():
            return p
    raise ImportError(f'ptxi.h not found: {here} is neither an installed package nor part of the source tree')


class Header:
    """The declarations of the header.

    `enums`      maps the name of an enum type, such as 'ptxiFault', to an IntEnum without the members' common prefix
    `constants`  maps each enumerator and numeric macro, such as 'PTXI_RANGE_READ', to its value
    `structs`    maps the name of a structure or union to a subclass of ctypes.Structure or ctypes.Union
    `functions`  maps the name of a function to the list of the ctypes types of its parameters
    `voids`      names of the functions without a result; all others return a ptxiResult
    """

    def __init__(self, text: str) -> None:
        text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S).replace('\\\n', ' ')
        self.enums: Dict[str, Any] = {}
        self.constants: Dict[str, int] = {}
        self.structs: Dict[str, Any] = {}
        self.functions: Dict[str, List[Any]] = {}
        self.voids: List[str] = []
        self._types: Dict[str, Any] = dict(_SCALARS)
        self._lists = dict(re.findall(r'^#define +(\w+)\(X\) +(.*)$', text, re.M))
        for name, value in re.findall(r'^#define +(PTXI_\w+) +(\d+)(?:ULL)?\s*$', text, re.M):
            self.constants[name] = int(value)
        for body, name in re.findall(r'\benum(?:\s+\w+)?\s*\{(.*?)\}\s*(\w*)\s*;', text, re.S):
            self._enum(name, body)
        for name in re.findall(r'typedef\s+struct\s+\w+\s*\*\s*(\w+)\s*;', text):
            self._types[name] = ctypes.c_void_p
        for type_, name in re.findall(r'typedef\s+([a-z ]+?)\s+(\w+)\s*;', text):
            self._types[name] = _SCALARS[type_]
        for name in re.findall(r'typedef\s+\w+\s+\(\*(\w+)\)', text):
            self._types[name] = ctypes.c_void_p
        for kind, name, body in re.findall(r'typedef\s+(struct|union)\s+(\w+)\s*\{(.*?)\}\s*\2\s*;', text, re.S):
            self.structs[name] = self._struct(kind, name, body)
        for returns, name, arguments in re.findall(r'PTXI_API\s+(\w+)\s+(\w+)\((.*?)\)\s*;', text, re.S):
            self._function(returns, name, arguments)

    def _members(self, body: str) -> Dict[str, int]:
        """Return the enumerators in the body of an enum, with their values."""
        found: Dict[str, int] = {}
        makers = dict(re.findall(r'#define +(\w+)\([^)]*\) +(\w+)##name *=', body))
        for maker, prefix in makers.items():
            for list_ in re.findall(r'(\w+)\(' + maker + r'\)', body):
                for name, number in re.findall(r'X\((\w+), *(\d+)', self._lists[list_]):
                    found[prefix + name] = int(number)
        plain = re.sub(r'^\s*(#.*|\w+\(\w+\)\s*)$', '', body, flags=re.M)
        for name, number in re.findall(r'(\w+)\s*=\s*(0x[0-9a-f]+|\d+)', plain):
            found[name] = int(number, 0)
        return found

    def _enum(self, name: str, body: str) -> None:
        """Add an enum to `constants` and, if its type has a name, to `enums`."""
        members = self._members(body)
        self.constants.update(members)
        if not name:
            return
        prefix = os.path.commonprefix(list(members))
        prefix = prefix[:prefix.rindex('_') + 1]
        short = {m[len(prefix):]: v for m, v in members.items() if not re.search(r'(^|RESULT_)MAX$', m[len(prefix):])}
        self.enums[name] = enum.IntEnum(name[len('ptxi'):], short, module='ptxi')
        self.enums[name].__doc__ = f'The enum {name} of ptxi.h, without the prefix {prefix} of its members. See ptxi.h.'
        self._types[name] = ctypes.c_int

    def _type(self, declaration: str) -> Any:
        """Return the ctypes type for a C type.

        `const char *` is c_char_p. Any other pointer is c_void_p, which accepts byref() and arrays.
        """
        if '*' in declaration or '[' in declaration:
            return ctypes.c_char_p if re.fullmatch(r'const char \*', declaration) else ctypes.c_void_p
        return self._types[re.sub(r'\bconst\b', '', declaration).strip()]

    def _nested(self, match: Any) -> str:
        """Replace a member `struct { ... } name;` by a member of a new named type, which is added to the types."""
        name = f'nested{len(self._types)}'
        self._struct(match[1], name, match[2])
        return f'{name} {match[3]};'

    def _count(self, text: str) -> int:
        """Return the number of elements in '3' or '8 - sizeof(type)', the text between the brackets of an array."""
        number, type_ = re.fullmatch(r'(\d+)(?: - sizeof\((\w+)\))?', text).groups()  # type: ignore[union-attr]
        return int(number) - (ctypes.sizeof(self._types[type_]) if type_ else 0)

    def _struct(self, kind: str, name: str, body: str) -> Any:
        """Create the ctypes class for a structure or union."""
        fields: List[Any] = []
        body = re.sub(r'^#.*$|\b(_A|a)lignas\(\d+\)', '', body, flags=re.M)  # alignas changes no offset in ptxi.h
        body = re.sub(r'(struct|union)\s*\{([^{}]*)\}\s*(\w+)\s*;', self._nested, body)
        for line in filter(None, (s.strip() for s in body.split(';'))):
            match = re.fullmatch(r'(.+?[ *])((?:\w+(?:\[[^]]+\])?(?:, *)?)+)', ' '.join(line.split()))
            assert match, line
            for field in match[2].split(','):
                count = re.search(r'\[(.+)\]', field)
                t = self._type(match[1].strip())
                fields.append((field.strip().split('[')[0], t * self._count(count[1]) if count else t))
        base = ctypes.Structure if kind == 'struct' else ctypes.Union
        self._types[name] = type(name, (base,), {'_fields_': fields})
        return self._types[name]

    def _function(self, returns: str, name: str, arguments: str) -> None:
        """Add a prototype to `functions` and, if it returns nothing, to `voids`."""
        types = []
        arguments = re.sub(r'\(\*\w+\)\([^)]*\)', '*', arguments)  # function pointers
        for a in arguments.split(','):
            a = ' '.join(a.split())
            if a not in ('void', '...'):
                types.append(self._type(re.sub(r'\s*\b\w+(\[\])?$', r'\1', a) if not a.endswith('*') else a))
        self.functions[name] = types
        if returns == 'void':
            self.voids.append(name)


header = Header(path().read_text())
