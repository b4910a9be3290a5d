#!/usr/bin/env python3
"""Compares the forms accepted by the instruction table with those accepted by ptxas.

    legality.py [--ptxas PTXAS] [--table LEGALITY] [--front-end VERDICTS] [--family add,cvt]
                [--target sm_90a,...] [--limit N] [--sample N] [--seed N] [--version N] [--record FILE] [--show-known]

Expands every row over types, modifiers and spaces, with sampling above --limit combinations. Mutates each form:
removes, inserts, replaces, repeats or moves one qualifier or operand. Both sides judge all forms for each target.
LEGALITY is the program built from legality.c. legality.known lists intended differences. Exits with status 1 for other
differences."""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = {  # target: the first PTX version (times 10) that has it, if ptxas may be older
    'sm_75': 0,
    'sm_80': 0,
    'sm_86': 0,
    'sm_89': 0,
    'sm_90': 0,
    'sm_90a': 0,
    'sm_100': 0,
    'sm_100a': 0,
    'sm_100f': 0,
    'sm_103a': 0,
    'sm_107a': 94,
    'sm_107f': 94,
    'sm_110a': 0,
    'sm_120': 0,
    'sm_120a': 0,
    'sm_120f': 0,
    'sm_121a': 0,
}
VALUE, IMMEDIATE, ADDRESS, LABEL, TABLE, CALL, ONLY_SINK = range(7)
FIXED, SLOT, DOUBLE, BITS = range(4)
WRITE, OPTIONAL, SINK, WIDER, PAIR, BRACES, COORDS, VECTOR_OK = 1, 2, 4, 32, 64, 256, 512, 2048
BATCH = 250
CRASH = 'crash'


class Row:
    def __init__(self, number, mnemonic, syntax, operands):
        self.number, self.mnemonic, self.syntax, self.operands = number, mnemonic, syntax, operands
        self.slots, self.specs = [], []


def newest_version(ptxas):
    """Returns the newest PTX version (times 10) of ptxas 13: 9.0 belongs to release 13.0, 9.5 to release 13.5."""
    out = subprocess.run([ptxas, '--version'], check=True, capture_output=True, text=True).stdout
    m = re.search(r'release 13\.(\d)', out)
    if not m:
        sys.exit('legality.py: ptxas 13 is needed')
    return 90 + int(m.group(1))


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

    def pattern(self, row, words, without):
        """Returns a regular expression for the operand texts accepted by the row."""
        text = re.escape(self.write(row, words, without, True)).replace(r'\ ', ' ')
        return re.sub('@(\\d+)@(.*?)@', lambda m: self.alternatives(row.specs[int(m.group(1))], m.group(2)), text)

    def alternatives(self, spec, text):
        out = [] if spec[1] == IMMEDIATE else [text]
        if spec[5] & SINK:
            out.append('_')
        if not spec[5] & WRITE:
            for first, last, step in zip(*[iter(spec[6:])] * 3):
                out += [str(v) for v in range(first, min(last, 4096) + 1, step)] + [str(last)]
            if len(spec) == 6 and '0f' not in text:
                out.append('\\d+')
            elif len(spec) == 6:
                out.append(text)
        return '(?:' + '|'.join(out) + ')'

    def write(self, row, words, without, marks=False):
        """Returns the operand text. `without` is the operand to omit, with all following ones, or half of a pair.
        With marks, replaceable parts have the form @operand@text@."""
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
                        inner.append(self.value(later, words, n, marks and '@%d@' % row.specs.index(later)))
                        n += 8
                    else:
                        break
                text += ''.join(', ' + x for x in inner) + ']'
            elif flags & COORDS:
                continue
            elif kind == IMMEDIATE:
                text = self.immediate(t, spec[6:])
                text = '@%d@%s@' % (i, text) if marks else text
            elif kind == ONLY_SINK:
                text = '_'
            elif kind == LABEL:
                text = 'label'
            elif kind == TABLE:
                text = 'table'
            elif kind == CALL:
                text = 'callee'
            else:
                text = self.value(spec, words, n, marks and '@%d@' % i)
            out += ('|' if flags & PAIR else ', ' if out else '') + text
        return out

    def value(self, spec, words, n, mark=False):
        t = self.type_of(spec, words)
        vector = spec[4]
        if vector & 0x8000:
            m = re.match(r'm\d+n(\d+)|[a-z]?(\d+)', words[vector & 0xff] or '0')
            vector = int(m.group(1) or m.group(2)) << (vector >> 8 & 15) >> (vector >> 12 & 7) if m else 0
        if not t:
            return '8'
        if not vector and not spec[5] & BRACES:
            return (
                '%s%s@' % (mark, self.register(t, n, spec[5] & WIDER))
                if mark
                else self.register(t, n, spec[5] & WIDER)
            )
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


def run_ptxas(program, version, target, lines, ending):
    """Runs ptxas on the lines (form, operands) in the frame. Returns a dictionary from index to message, the whole
    output, and the exit status (negative after a crash)."""
    text, where = '', {}
    b128 = '.reg .b128 %q<240>;' if version >= 83 and int(re.sub(r'\D', '', target)) >= 70 else ''
    for part in open(os.path.join(HERE, 'frame.ptx')):
        if part.strip() not in ('@FUNC', '@ENTRY'):
            text += (
                part.replace('@VERSION', '%d.%d' % divmod(version, 10))
                .replace('@TARGET', target)
                .replace('@B128', b128)
            )
            continue
        line = text.count('\n')
        for i, (form, operands) in enumerate(lines):
            if ('[f' in operands) == (part.strip() == '@FUNC'):
                line += 1
                where[line] = i
                text += '%s %s;\n' % (form, operands)
    with tempfile.NamedTemporaryFile('w', suffix='.ptx', delete=False) as f:
        f.write(text + ending)
    out = subprocess.run([program, '-arch=' + target, f.name, '-o', os.devnull], capture_output=True, text=True)
    os.unlink(f.name)
    bad = {}
    for message in (out.stdout + out.stderr).split('\n'):
        m = re.match(r'.*, line (\d+); (?:error|fatal) *: (.*)', message)
        if m and int(m.group(1)) in where:
            bad.setdefault(
                where[int(m.group(1))],
                'syntax' if 'Parsing error' in m.group(2) or '; fatal' in message else m.group(2),
            )
    return bad, out.stdout + out.stderr, out.returncode


def parse(program, version, target, lines):
    """Returns the invalid lines. A deliberate error at the end of the file prevents code generation."""
    order = sorted(range(len(lines)), key=lambda i: '[f' not in lines[i][1])  # order in the file
    bad = {}
    while order:
        found, out, _ = run_ptxas(
            program,
            version,
            target,
            [lines[i] for i in order],
            '.visible .entry last() {\nbogus.instruction %r0;\n}\n',
        )
        syntax = [k for k, message in found.items() if message == 'syntax']
        if not syntax and 'bogus' not in out:
            # other errors are also fatal, and some lines crash ptxas
            rest = (
                halves(parse, program, version, target, [lines[i] for i in order])
                if len(order) > 1
                else {0: found.get(0, 'no end')}
            )
            bad.update({order[k]: m for k, m in rest.items()})
            break
        bad.update({order[k]: m for k, m in found.items()})
        order = order[syntax[0] + 1:] if syntax else []  # a syntax error hides all later errors
    return bad


def generate(program, version, target, lines):
    """Returns the lines that ptxas parses but does not compile; CRASH for lines that crash it."""
    if not lines:
        return {}
    bad, _, status = run_ptxas(program, version, target, lines, '')
    if status == 0:
        return {}
    if len(lines) == 1:
        return {0: CRASH if status < 0 else bad.get(0, 'no code')}
    if not bad:
        return halves(generate, program, version, target, lines)
    # ptxas turns a form into a function with the types of the first use. Later uses may fail for this reason alone.
    bad = {i: m for i in bad for m in generate(program, version, target, [lines[i]]).values()}
    back = [i for i in range(len(lines)) if i not in bad]
    rest = (
        generate(program, version, target, [lines[i] for i in back])
        if len(back) < len(lines)
        else halves(generate, program, version, target, lines)
    )
    bad.update({back[i]: m for i, m in rest.items()})
    return bad


def halves(judge, program, version, target, lines):
    half = len(lines) // 2
    bad = judge(program, version, target, lines[:half])
    bad.update({half + i: m for i, m in judge(program, version, target, lines[half:]).items()})
    return bad


def judge_ptxas(program, version, target, forms, mutants):
    """Returns the verdicts of ptxas: a dictionary from form to message, None for accepted forms. Forms with mutated
    operands must also compile. A crash is no verdict."""
    verdict = {}
    for i in range(0, len(forms), BATCH):
        part = forms[i:i + BATCH]
        bad = parse(program, version, target, part)
        # 32-bit cvta parses, but no longer compiles
        parsed = [
            k
            for k in range(len(part))
            if k not in bad and (part[k] in mutants or re.match(r'cvta\b.*\.u32', part[k][0]))
        ]
        # at the first 32-bit address, ptxas assumes a 32-bit program, unless a narrower address precedes it
        narrow = [
            k for k in parsed if re.search(r'\[%(?!(d|u64_|f64_)\d)', part[k][1]) or part[k][0].startswith('cvta')
        ]
        for group in [[k] for k in narrow] + [[k for k in parsed if k not in narrow]]:
            bad.update({group[k]: m for k, m in generate(program, version, target, [part[k] for k in group]).items()})
        for k, f in enumerate(part):
            verdict[f] = bad.get(k)
    return verdict


def judge_front_end(program, version, target, forms):
    """Returns the verdicts of the front end: a dictionary from form to message, None for accepted forms."""
    text = ''.join('%s %d ? %s %s;\n' % (target[3:], version, *f) for f in forms)
    out = subprocess.run(
        [program, os.path.join(HERE, 'frame.ptx')], input=text, capture_output=True, text=True
    ).stdout.split('\n')
    return {f: None if o == 'ok' else o for f, o in zip(forms, out)}


def judge_table(program, version, target, spellings):
    sm = target[3:]
    text = ''.join('%s %d %s\n' % (sm, version, s) for s in spellings)
    out = subprocess.run([program, 'match'], input=text, check=True, capture_output=True, text=True).stdout.split('\n')
    return dict(zip(spellings, out))


def known_differences():
    out = []
    for line in open(os.path.join(HERE, 'legality.known')):
        line = line.rstrip('\n')
        if line and line[0] not in '#>':
            out.append(re.compile(line.split('    #')[0]))
    assert len(out) <= 30
    return out


def forms_of(rows, ops, limit, operands, rng):
    """Returns (spelling, operand text) of all expansions and mutations, and the set with mutated operands."""
    forms, mutated = {}, set()
    families = {}
    for r in rows:
        families.setdefault(r.mnemonic, []).append(r)
    for family in families.values():
        vocabulary = sorted(
            {w for r in family for _, _, words in r.slots for w in words} | set(ops.types) - {'pred'}
        )  # ptxas ignores a meaningless .pred
        for r in family:
            n = 0
            for words in expansions(r, limit, rng):
                for without in operand_choices(r):
                    forms.setdefault((spell(r.mnemonic, words), ops.write(r, words, without)), r)
                n += 1
                if n > limit // 10 + 3 and rng.random() > (limit // 10 + 3) / n:
                    continue
                mutants = []
                for s, (_, _, slot_words) in enumerate(r.slots):
                    mutants.append(words[:s] + (None,) + words[s + 1:])
                    for _ in range(3):
                        w = rng.choice(vocabulary)
                        mutants.append(words[:s] + (w,) + words[s + 1:])
                written = [w for w in words if w]
                for k in range(len(written)):  # repeat, and swap with the next
                    for order in (
                        written[: k + 1] + written[k:],
                        written[:k] + written[k : k + 2][::-1] + written[k + 2 :],
                    ):
                        if rng.random() < .5:
                            forms.setdefault((spell(r.mnemonic, order), ops.write(r, words, None)), r)
                for _ in range(operands):
                    text = ops.write(r, words, rng.choice(operand_choices(r)))
                    if text:
                        form = spell(r.mnemonic, words), mutate_operands(text, rng)
                        if form not in forms:
                            mutated.add(form)
                        forms[form] = r
                for mutant in mutants:
                    source = tuple(w if w in ops.types and m not in ops.types else m for m, w in zip(mutant, words))
                    forms.setdefault((spell(r.mnemonic, mutant), ops.write(r, source, None)), r)
    return forms, mutated


def table_accepts(rows, ops, form, operands, answer):
    """Returns whether a row with matching qualifiers accepts the operands. Compares the operand text."""
    words = form.split('.')[1:]
    for number in answer.split():
        if number.startswith('!'):
            continue
        r = rows[int(number)]
        filled = fill(r, words)
        for without in operand_choices(r):
            if re.fullmatch(ops.pattern(r, filled, without), operands):
                return True
    return False


def fill(row, words):
    """Assigns words to slots like ptxi_isa_match()."""
    out = [None] * len(row.slots)
    start = {'T': 0, 'S': 0, 'L': 0}
    for w in words:
        cls = 'T' if w in fill.types else 'S' if w in fill.spaces else 'L' if w in ('row', 'col') else None
        for s in range(start.get(cls, 0), len(row.slots)):
            if out[s] is None and w in row.slots[s][2]:
                out[s] = w
                if cls:
                    start[cls] = s + 1
                break
    return tuple(out)


fill.spaces = {
    'const',
    'global',
    'local',
    'param',
    'param::entry',
    'param::func',
    'shared',
    'shared::cta',
    'shared::cluster',
}


def record(path, target, version, theirs, mutants, known, rng):
    """Writes equal numbers of accepted and rejected forms for verdicts.c; half as many with mutated operands."""
    with open(path, 'a') as f:
        for taken, mutated in itertools.product((True, False), repeat=2):
            some = [
                x
                for x, message in sorted(theirs.items())
                if (message is None) == taken and (x in mutants) == mutated and message != CRASH
            ]
            for form, operands in rng.sample(some, min(len(some), 4 if mutated else 8)):
                line = '%s %s %s %s;' % (target, 'missing' if taken else 'extra', form, operands)
                if not any(k.search(line) for k in known):
                    f.write('%s %d %s %s %s;\n' % (target[3:], version, '+' if taken else '-', form, operands))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--ptxas', default='ptxas')
    a.add_argument('--table', default='tests/isa/legality')
    a.add_argument(
        '--front-end', help='the program made from verdicts.c: it judges in place of the table, operands too'
    )
    a.add_argument('--record', metavar='FILE', help="write a sample of ptxas's verdicts")
    a.add_argument('--family')
    a.add_argument('--target')
    a.add_argument('--limit', type=int, default=400)
    a.add_argument('--operands', type=int, default=4, help='mutations of the operands of a form')
    a.add_argument('--sample', type=int, help='so many forms of each family and no more')
    a.add_argument('--version', type=int, help='PTX version times 10, instead of the newest')
    a.add_argument('--seed', type=int, default=1)
    a.add_argument(
        '--show-known',
        action='store_true',
        help='also print the differences that legality.known lists, each after the line that matches it',
    )
    args = a.parse_args()
    rows, types = read_table(args.table)
    version = args.version or newest_version(args.ptxas)
    fill.types = set(types)
    ops = Operands(types)
    wanted = [r for r in rows if not args.family or r.mnemonic in args.family.split(',')]
    known = known_differences()
    differences = 0
    counts = {}
    rng = random.Random(args.seed)
    if args.record:
        open(args.record, 'w').close()
    for family in sorted({r.mnemonic for r in wanted}):
        forms, mutants = forms_of(
            [r for r in wanted if r.mnemonic == family],
            ops,
            args.limit,
            args.operands if args.front_end else 0,
            random.Random(args.seed),
        )
        if args.record or args.sample:
            groups = sorted(set(forms) - mutants), sorted(mutants)
            most = (150, 60) if args.record else (args.sample // 2,) * 2
            forms = {f: forms[f] for g, n in zip(groups, most) for f in rng.sample(g, min(len(g), n))}
        for target, first in TARGETS.items():
            if version < first or (args.target and target not in args.target.split(',')):
                continue
            if args.front_end:
                answers = judge_front_end(args.front_end, version, target, list(forms))
            else:
                answers = judge_table(args.table, version, target, sorted({f for f, _ in forms}))
            theirs = judge_ptxas(args.ptxas, version, target, list(forms), mutants)
            count = counts.setdefault(target, [0, 0, 0])
            for form, operands in forms:
                if theirs[form, operands] == CRASH:
                    continue
                ours = (
                    answers[form, operands] is None
                    if args.front_end
                    else table_accepts(rows, ops, form, operands, answers[form])
                )
                message = theirs[form, operands]
                count[0] += 1
                count[1] += message is None
                if ours == (message is None):
                    continue
                line = '%s %s %s %s;' % (target, 'extra' if ours else 'missing', form, operands)
                why = next((k.pattern for k in known if k.search(line)), None)
                count[2] += why is not None
                if why and not args.show_known:
                    continue
                differences += why is None
                print(
                    (why + '\t' if why else '')
                    + '%s   %s' % (line, '-- ' + (message or args.front_end and answers[form, operands] or '')),
                    flush=True,
                )
            if args.record:
                record(args.record, target, version, theirs, mutants, known, rng)
    for target, count in counts.items():
        print('%s: %d forms, %d accepted by ptxas, %d known differences' % (target, *count), file=sys.stderr)
    sys.exit(differences > 0)


main()
