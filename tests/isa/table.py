"""The instruction table as legality.c prints it: rows, forms and operands of them, and mutations."""

import itertools
import re
import subprocess

VALUE, IMMEDIATE, ADDRESS, LABEL, TABLE, CALL, ONLY_SINK = range(7)
FIXED, SLOT, DOUBLE, BITS = range(4)
WRITE, OPTIONAL, SINK, WIDER, PAIR, BRACES, COORDS, VECTOR_OK = 1, 2, 4, 32, 64, 256, 512, 2048


class Row:
    def __init__(self, number, mnemonic, syntax, operands, ptx, targets):
        self.number, self.mnemonic, self.syntax, self.operands = number, mnemonic, syntax, operands
        self.ptx, self.targets = int(ptx), targets.split()
        self.slots, self.specs = [], []

    def has_target(self, target):
        """Whether the row exists for the target, by the rules of ptxi_isa_target_ok()."""
        sm, suffix = split_target(target[3:])
        for need in self.targets:
            least, kind = split_target(need)
            if kind == 'a' and (sm, suffix) == (least, 'a'):
                return True
            if kind == 'f' and suffix and sm // 10 == least // 10 and sm >= least:
                return True
            if not kind and sm >= least:
                return True
        return False


def split_target(name):
    """Returns the number and the suffix of '103a'. sm_101 is an older name of sm_110."""
    m = re.match(r'(\d+)([af]?)', name)
    sm = int(m.group(1))
    return 110 if sm == 101 else sm, m.group(2)


def read_table(program):
    rows, types = [], {}
    for line in subprocess.run([program, 'rows'], check=True, capture_output=True, text=True).stdout.split('\n'):
        f = line.split('\t')
        if f[0].startswith('row '):
            rows.append(Row(int(f[0][4:]), *f[1:]))
        elif f[0] == 'slot':
            rows[-1].slots.append((f[1], f[2] == '1', f[3].split()))
        elif f[0] == 'spec':
            rows[-1].specs.append((f[1],) + tuple(int(x) for x in f[2:]))
        elif f[0] == 'type':
            types[f[1]] = (int(f[2]), f[3])
    return rows, types


class Operands:
    """Writes operands of a row for given qualifiers."""

    def __init__(self, types):
        self.types = types
        self.names = list(types)

    def type_of(self, spec, words):
        rule, t = spec[2:4]
        if rule == FIXED:
            return self.names[t] if t < len(self.names) else None
        word = words[t]
        if word not in self.types:
            return None
        bits, cls = self.types[word]
        if rule == DOUBLE:
            return {'U': 'u', 'S': 's'}.get(cls, 'b') + str(bits * 2)
        return 'b%d' % bits if rule == BITS else word

    def register(self, t, n, wider=False):
        if t == 'pred':
            return '%%p%d' % n
        bits = self.types[t][0] if t in self.types else int(t[1:])
        return {128: '%%q%d', 64: '%%d%d', 32: '%%r%d', 8: '%%h%d' if wider else '%%b%d'}.get(bits, '%%h%d') % n

    def immediate(self, t, ranges):
        return str(ranges[1]) if ranges else '0f3F000000' if t == 'f32' else '8'

    def address(self, words, spec_name):
        if 'local' in words:
            return 'lvar'
        if 'const' in words:
            return 'cvar'
        if 'param::func' in words or ('param' in words and self.store):
            return 'fresult' if self.store else 'fparam'
        if 'param' in words or 'param::entry' in words:
            return 'kparam'
        return '%d' + str({'a': 40}.get(spec_name, 41))

    def write(self, row, words, without):
        """Returns the operand text. `without` is the operand to omit, with all following ones, or half of a pair."""
        self.store = row.mnemonic == 'st'
        out, n = '', 0
        for i, spec in enumerate(row.specs):
            name, kind, flags = spec[0], spec[1], spec[5]
            if i == without and flags & PAIR:
                continue
            if i == without:
                break
            t = self.type_of(spec, words)
            n += 8
            if kind == ADDRESS:
                text = '[' + (self.register(t, n) if t else self.address([w for w in words if w], name))
                inner = []
                for later in row.specs[i + 1:]:
                    if later[5] & COORDS:
                        inner.append(self.value(later, words, n))
                        n += 8
                    else:
                        break
                text += ''.join(', ' + x for x in inner) + ']'
            elif flags & COORDS:
                continue
            elif kind == IMMEDIATE:
                text = self.immediate(t, spec[6:])
            elif kind == ONLY_SINK:
                text = '_'
            elif kind == LABEL:
                text = 'label'
            elif kind == TABLE:
                text = 'table'
            elif kind == CALL:
                text = 'callee'
            else:
                text = self.value(spec, words, n)
            out += ('|' if flags & PAIR else ', ' if out else '') + text
        return out

    def value(self, spec, words, n):
        t = self.type_of(spec, words)
        vector = spec[4]
        if vector & 0x8000:
            m = re.match(r'm\d+n(\d+)|[a-z]?(\d+)', words[vector & 0xff] or '0')
            vector = int(m.group(1) or m.group(2)) << (vector >> 8 & 15) >> (vector >> 12 & 7) if m else 0
        if not t:
            return '8'
        if not vector and not spec[5] & BRACES:
            return self.register(t, n, spec[5] & WIDER)
        return '{' + ', '.join(self.register(t, n + k, spec[5] & WIDER) for k in range(max(vector, 1))) + '}'


def expansions(row, limit, rng):
    """Returns choices of a word (or None) for each slot."""
    choices = [([None] if optional else []) + words for _, optional, words in row.slots]
    total = 1
    for c in choices:
        total *= len(c)
    if total <= limit:
        yield from itertools.product(*choices)
        return
    for i, c in enumerate(choices):  # every word a few times, then random words
        for w in c:
            for _ in range(4):
                yield tuple(w if i == k else rng.choice(o) for k, o in enumerate(choices))
    for _ in range(limit):
        yield tuple(rng.choice(c) for c in choices)


def operand_choices(row):
    return [None] + [i for i, spec in enumerate(row.specs) if spec[5] & OPTIONAL]


# Replacements for a register, or for any operand.
REGISTERS = ['%p', '%b', '%h', '%r', '%d', '%u16_', '%s32_', '%u64_', '%f16_', '%f16x2_', '%f32_', '%f64_']
OTHERS = [
    '7',
    '-1',
    '300',
    '0x123456789',
    '0f3F800000',
    '0d3FF0000000000000',
    '[%d40]',
    '[%d40+8]',
    '[7]',
    'cvar',
    '!%p9',
    '-%r9',
    'label',
    '_',
    '%tid.x',
    'WARP_SZ',
    'gvar',
    'gvar+4',
    'svar',
    'lvar',
    'kparam',
    'callee',
    '%laneid',
    '%clock64',
    '[%r41]',
    '[%h41]',
    '[gvar]',
    '[svar+8]',
]


def mutate_operands(text, rng):
    """Replaces, removes or duplicates one register, operand or vector element."""
    registers = list(re.finditer(r'%[a-z]+(?=\d)', text))
    kind = rng.randrange(6)
    if kind <= 2 and registers:
        m = rng.choice(registers)
        return text[:m.start()] + rng.choice(REGISTERS) + text[m.end():]
    parts = re.findall(r'(?:\{[^}]*\}|\[[^]]*\]|[^,{[])+', text)
    k = rng.randrange(len(parts))
    if kind == 3:
        parts[k] = rng.choice(OTHERS)
    elif kind == 4:
        del parts[k]
    else:
        elements = parts[k].strip(' {}').split(', ')
        elements = rng.choice([elements + elements[:1], elements[:-1], elements * 2, elements[:1]])
        parts[k] = '{' + ', '.join(elements) + '}' if rng.random() < .7 else ', '.join(elements)
    return ', '.join(x.strip() for x in parts if x.strip())


def spell(mnemonic, words):
    return '.'.join([mnemonic] + [w for w in words if w])


def vocabulary(rows, types):
    """Returns the words that mutations of the rows use. ptxas ignores a meaningless .pred."""
    return sorted({w for r in rows for _, _, words in r.slots for w in words} | set(types) - {'pred'})
