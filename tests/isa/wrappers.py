#!/usr/bin/env python3
"""Compares the verdicts of the front end and of ptxas on the inline assembly of the CUDA headers.

    wrappers.py [--ptxas PTXAS] [--front-end VERDICTS] [--jobs N] [--show-known] [--print WORD] HEADERS

HEADERS is the folder cuda/__ptx/instructions of CCCL. Each of its asm statements becomes an entry function with
registers for its operands, of the PTX version and for the targets that the comment before it names. Operands that must
be constants get several values. Exits with status 1 if a verdict differs."""

import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

TYPES = {'r': 'b32', 'l': 'b64', 'h': 'b16', 'f': 'f32', 'd': 'f64', 'q': 'b128'}
CONSTANTS = 0, 24
OLDEST = 75  # the lowest target of ptxas 13
# The first PTX version (times 10) of targets that are younger than statements for them.
FIRST = {'100f': 88, '103': 88, '107': 94, '110': 90, '120f': 88, '121': 88}
STRING = r'"(?:[^"\\]|\\.)*"'

Statement = collections.namedtuple('Statement', 'file version targets text operands')


def split_operands(text):
    """Returns the constraints of an asm statement's operands, in their order."""
    return tuple(re.findall(r'"[=+]*([a-z])"\s*\(', text))


def read_statements(path):
    text = open(path).read()
    about = None
    for m in re.finditer(
        r'PTX ISA (\d+),((?:\s*(?://)?\s*SM_\d+[af]?,?)+)'
        r'|asm\s*(?:volatile)?\s*\(\s*((?:' + STRING + r'\s*)+)((?::(?:' + STRING + r'|[^";])*)?)\)\s*;',
        text,
    ):
        if m.group(1):
            targets = re.findall(r'SM_(\d+)([af]?)', m.group(2))
            about = int(m.group(1)), tuple('%d%s' % (max(int(sm), OLDEST), suffix) for sm, suffix in targets)
            continue
        code = ''.join(re.findall(STRING, m.group(3))).replace('""', '')[1:-1]
        code = re.sub(r'\\[nt]', ' ', code)
        code = re.sub(r'" *"', '', code)
        if about:
            yield Statement(os.path.basename(path), *about, ' '.join(code.split()), split_operands(m.group(4)))


def first_version(target):
    return FIRST.get(target, FIRST.get(target.rstrip('af'), 0))


def write_module(statement, target, constant):
    def operand(m):
        if m.group(0) == '%%':
            return '%'
        k = int(m.group(1))
        return str(constant) if statement.operands[k] == 'n' else '%%op%d' % k

    registers = ''.join(
        '.reg .%s %%op%d; ' % (TYPES[o], k) for k, o in enumerate(statement.operands) if o != 'n'
    )
    body = re.sub(r'%(\d+)|%%', operand, statement.text)
    body += '' if body.endswith(('}', ';')) else ';'
    return '.version %d.%d .target sm_%s .address_size 64 .visible .entry k() { %s%s }' % (
        *divmod(max(statement.version, first_version(target)), 10),
        target,
        registers,
        body,
    )


def judge_ptxas(program, target, module):
    with tempfile.NamedTemporaryFile('w', suffix='.ptx') as f:
        f.write(module + '\n')
        f.flush()
        out = subprocess.run(
            [program, '-arch=sm_' + target, f.name, '-o', os.devnull], capture_output=True, text=True
        )
    if not out.returncode:
        return None
    m = re.search(r'(?:error|fatal) *: (.*)', out.stdout + out.stderr)
    return m.group(1) if m else 'exit status %d' % out.returncode


def judge_front_end(program, modules):
    frame = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'frame.ptx')
    text = ''.join('module 0 ? %s\n' % m for m in modules)
    out = subprocess.run([program, frame], input=text, capture_output=True, text=True).stdout.split('\n')
    return [None if o == 'ok' else o for o in out[: len(modules)]]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--ptxas', default='ptxas')
    a.add_argument('--front-end', default='tests/isa/verdicts')
    a.add_argument('--jobs', type=int, default=os.cpu_count())
    a.add_argument('--print', metavar='WORD', help='print modules that contain the word, and judge nothing')
    a.add_argument('--cache', metavar='FILE', help="keep ptxas's verdicts in this file")
    a.add_argument('headers')
    args = a.parse_args()
    cases, verdicts, statements = [], {}, []
    for path in sorted(glob.glob(os.path.join(args.headers, '**', '*.h'), recursive=True)):
        for s in read_statements(path):
            statements.append(s)
            for constant in CONSTANTS if 'n' in s.operands else CONSTANTS[:1]:
                cases += [(len(statements) - 1, t, write_module(s, t, constant)) for t in s.targets]
    if args.print:
        print('\n'.join(m for _, _, m in cases if args.print in m))
        return
    if not cases:
        sys.exit('no statements in ' + args.headers)
    if args.cache and os.path.exists(args.cache):
        verdicts = dict(line.rstrip('\n').split('\t') for line in open(args.cache))
    missing = [c for c in cases if c[2] not in verdicts]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, verdict in zip(missing, pool.map(lambda c: judge_ptxas(args.ptxas, c[1], c[2]), missing)):
            verdicts[case[2]] = verdict or ''
    if args.cache:
        with open(args.cache, 'w') as f:
            f.writelines('%s\t%s\n' % v for v in verdicts.items())
    ours = judge_front_end(args.front_end, [m for _, _, m in cases])
    counts, different = collections.Counter(), 0
    best = {}
    for (s, _, module), answer in zip(cases, ours):
        theirs = verdicts[module]
        taken = best.setdefault(s, [False, False])
        taken[0] |= not theirs
        taken[1] |= answer is None
        if bool(theirs) != bool(answer):
            different += 1
            print('%s %s   -- %s' % ('missing' if answer else 'extra', module, answer or theirs))
    for n, taken in best.items():
        era = 'PTX 9.1 or earlier' if statements[n].version <= 91 else 'PTX 9.2 or later'
        counts[era, 'all'] += 1
        counts[era, 'ptxas'] += taken[0]
        counts[era, 'both'] += taken[0] and taken[1]
    for era in sorted({e for e, _ in counts}):
        print(
            '%s: %d statements, ptxas accepts %d, the front end %d of these'
            % (era, counts[era, 'all'], counts[era, 'ptxas'], counts[era, 'both']),
            file=sys.stderr,
        )
    print('%d modules, %d differences' % (len(cases), different), file=sys.stderr)
    sys.exit(different > 0)


main()
