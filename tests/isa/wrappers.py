#!/usr/bin/env python3
"""Compares the verdicts of the front end and of ptxas on the inline assembly of the CUDA headers.

    wrappers.py [--ptxas PTXAS] [--front-end VERDICTS] [--jobs N] [--store FILE] [--show-known] [--print WORD] HEADERS

HEADERS is the folder cuda/__ptx/instructions of CCCL. Each of its asm statements becomes an entry function with
registers for its operands, of the PTX version and for the targets that the comment before it names. Operands that must
be constants get several values. A statement is accepted if it is for one target and value. Exits with status 1 if a
verdict differs."""

import argparse
import collections
import glob
import os
import re
import sys

import ptxas

TYPES = {'r': 'b32', 'l': 'b64', 'h': 'b16', 'f': 'f32', 'd': 'f64', 'q': 'b128'}
CONSTANTS = 0, 24, 128
# The first PTX version (times 10) of targets that are younger than statements for them.
FIRST = {'75': 63, '100f': 88, '103': 88, '107': 94, '110': 90, '120f': 88, '121': 88}
STRING = r'"(?:[^"\\]|\\.)*"'

ABOUT = r'PTX\s+ISA\s+(\d+)(?:-(\d+))?((?:,\s*(?://)?\s*SM_\d+[af]?)*)'
ASM = r'asm\s*(?:volatile)?\s*\(\s*((?:' + STRING + r'\s*)+)((?::(?:' + STRING + r'|[^";])*)?)\)\s*;'
# shfl_sync.h says nothing about its statements.
SHUFFLES = 60, (str(ptxas.OLDEST),)

Statement = collections.namedtuple('Statement', 'file version targets text operands')


def split_operands(text):
    """Returns the constraints of an asm statement's operands, in their order."""
    return tuple(re.findall(r'"[=+]*([a-z])"\s*\(', text))


def read_statements(path):
    text = open(path).read()
    about = SHUFFLES
    for m in re.finditer(ABOUT + '|' + ASM, text):
        if m.group(1):
            targets = re.findall(r'SM_(\d+)([af]?)', m.group(3)) or [(ptxas.OLDEST, '')]
            about = int(m.group(1)), tuple('%d%s' % (max(int(sm), ptxas.OLDEST), suffix) for sm, suffix in targets)
            continue
        code = ''.join(re.findall(STRING, m.group(4))).replace('""', '')[1:-1]
        code = re.sub(r'" *"', '', code)
        code = re.sub(r'//.*?(\\n|$)', '', code)
        code = re.sub(r'\\[nt]', ' ', code)
        yield Statement(os.path.basename(path), *about, ' '.join(code.split()), split_operands(m.group(5)))


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


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ptxas.add_arguments(a)
    a.add_argument('--print', metavar='WORD', help='print modules that contain the word, and judge nothing')
    a.add_argument('headers')
    args = a.parse_args()
    cases, statements = [], []
    for path in sorted(glob.glob(os.path.join(args.headers, '**', '*.h'), recursive=True)):
        for s in read_statements(path):
            statements.append(s)
            for constant in CONSTANTS if 'n' in s.operands else CONSTANTS[:1]:
                cases += [(len(statements) - 1, write_module(s, t, constant)) for t in s.targets]
    if args.print:
        print('\n'.join(m for _, m in cases if args.print in m))
        return
    if not cases:
        sys.exit('no statements in ' + args.headers)
    report = ptxas.Report(args)
    verdicts = report.compare_modules(
        list(dict.fromkeys(m for _, m in cases)), ptxas.Store(args.store), ptxas.Progress('wrappers', 0), True
    )
    counts, best = collections.Counter(), {}
    for s, module in cases:
        theirs, ours = verdicts[module]
        accepted = best.setdefault(s, [False, False])
        accepted[0] |= theirs == ptxas.ACCEPTED
        accepted[1] |= ours is None
    for n, accepted in best.items():
        era = 'PTX 9.1 or earlier' if statements[n].version <= 91 else 'PTX 9.2 or later'
        counts[era, 'all'] += 1
        counts[era, 'ptxas'] += accepted[0]
        counts[era, 'both'] += accepted[0] and accepted[1]
    for era in sorted({e for e, _ in counts}):
        print(
            '%s: %d statements, ptxas accepts %d, the front end %d of these'
            % (era, counts[era, 'all'], counts[era, 'ptxas'], counts[era, 'both']),
            file=sys.stderr,
        )
    report.print_counts('modules')
    sys.exit(report.total['others'] > 0)


main()
