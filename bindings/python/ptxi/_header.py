"""Reads ptxi.h: every number, structure and prototype that this package uses comes from the header, none is typed again.

Understands the C that the header is written in: enums, lists `#define LIST(X) X(NAME, number, ...)` and enums made of
them, structures and unions of scalars, pointers, arrays and each other, and prototypes marked PTXI_API."""
import ctypes
import enum
import os
import pathlib
import re
from typing import Any, Dict, List

_SCALARS = {
    'char': ctypes.c_char, 'int': ctypes.c_int, 'unsigned': ctypes.c_uint, 'unsigned int': ctypes.c_uint,
    'unsigned char': ctypes.c_ubyte, 'unsigned short': ctypes.c_ushort, 'float': ctypes.c_float, 'size_t': ctypes.c_size_t,
    'int32_t': ctypes.c_int32, 'uint32_t': ctypes.c_uint32, 'int64_t': ctypes.c_int64, 'uint64_t': ctypes.c_uint64,
    'long long': ctypes.c_longlong, 'unsigned long long': ctypes.c_ulonglong,
}


def path() -> pathlib.Path:
    """The header: beside this file where the package is installed, else that of the source tree."""
    here = pathlib.Path(__file__).resolve().parent
    for p in (here / 'ptxi.h', here.parents[2] / 'include' / 'ptxi.h'):
        if p.exists():
            return p
    raise ImportError(f'no ptxi.h in {here}, which is neither an installed package nor in the source tree')


class Header:
    """What the header declares.

    `enums`      the name of an enum type, such as 'ptxiFault', to an IntEnum without the members' common prefix
    `constants`  every enumerator and number, such as 'PTXI_RANGE_READ', to its value
    `structs`    the name of a structure or union to a subclass of ctypes.Structure or ctypes.Union
    `functions`  the name of a function to the ctypes types of its arguments; all return a result but `voids`"""

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
        members = self._members(body)
        self.constants.update(members)
        if not name:
            return
        prefix = os.path.commonprefix(list(members))
        prefix = prefix[:prefix.rindex('_') + 1]
        short = {m[len(prefix):]: v for m, v in members.items() if not re.search(r'(^|RESULT_)MAX$', m[len(prefix):])}
        self.enums[name] = enum.IntEnum(name[len('ptxi'):], short, module='ptxi')
        self.enums[name].__doc__ = f'{name} of ptxi.h, which says what the members mean; here without their prefix {prefix}.'
        self._types[name] = ctypes.c_int

    def _type(self, declaration: str) -> Any:
        """The ctypes type of 'const char *'; of a pointer to anything else, a c_void_p, which takes byref() and arrays."""
        if '*' in declaration or '[' in declaration:
            return ctypes.c_char_p if re.fullmatch(r'const char \*', declaration) else ctypes.c_void_p
        return self._types[re.sub(r'\bconst\b', '', declaration).strip()]

    def _nested(self, match: Any) -> str:
        """A member `struct { ... } name;` as one of a type that gets a name."""
        name = f'nested{len(self._types)}'
        self._struct(match[1], name, match[2])
        return f'{name} {match[3]};'

    def _count(self, text: str) -> int:
        """The number of elements in '[3]' or '[8 - sizeof(type)]'."""
        number, type_ = re.fullmatch(r'(\d+)(?: - sizeof\((\w+)\))?', text).groups()  # type: ignore[union-attr]
        return int(number) - (ctypes.sizeof(self._types[type_]) if type_ else 0)

    def _struct(self, kind: str, name: str, body: str) -> Any:
        fields: List[Any] = []
        body = re.sub(r'^#.*$|\b(_A|a)lignas\(\d+\)', '', body, flags=re.M)  # no field stands elsewhere for it
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
