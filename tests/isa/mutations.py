#!/usr/bin/env python3
"""Compares the front end with ptxas on random mutations of each row of the instruction table.

    mutations.py [--ptxas PTXAS] [--table LEGALITY] [--front-end VERDICTS] [--since N] [--count N] [--family fabric,cvt]
                 [--part K/N] [--jobs N] [--store FILE] [--seed N] [--rows] [--show-known]

Each row whose PTX version (times 10) is --since or later gets --count mutations. A mutation is a random form of the row
in which one or two of these happen: a qualifier is removed, replaced, inserted, repeated or moved; an operand is
replaced, removed or repeated; the target or the PTX version is another one. Accepted instructions must also compile.
--part 0/8 takes every eighth row from the first one on, 7/8 those from the eighth one on, and so divides the work.
--rows prints the counts of each row. legality.known lists intended differences. Exits with status 1 for others."""

import argparse
import random
import sys

import ptxas
import table

TRIES = 200  # of finding a new mutation; a few rows have not as many as asked for


def random_form(row, rng):
    return [rng.choice(([None] if optional else []) + words) for _, optional, words in row.slots]


def change_qualifiers(words, vocabulary, rng):
    """Returns the qualifiers of a form, without the empty slots, with one change."""
    words = [w for w in words if w]
    kind, at = rng.randrange(5), rng.randrange(len(words)) if words else 0
    if kind == 0 or not words:
        return words[:at] + [rng.choice(vocabulary)] + words[at:]
    if kind == 1:
        return words[:at] + words[at + 1 :]
    if kind == 2:
        return words[:at] + [rng.choice(vocabulary)] + words[at + 1 :]
    if kind == 3:
        return words[: at + 1] + words[at:]
    rest = words[:at] + words[at + 1 :]
    to = rng.randrange(len(rest) + 1)
    return rest[:to] + [words[at]] + rest[to:]


def mutation(row, ops, vocabulary, targets, newest, rng):
    """Returns a random mutation."""
    words = random_form(row, rng)
    operands = ops.write(row, words, rng.choice(table.operand_choices(row)))
    target, version = rng.choice([t for t in targets if row.has_target(t)]), newest
    for _ in range(rng.choice((1, 1, 1, 1, 2))):
        kind = rng.randrange(20)
        if kind < 10:
            words = change_qualifiers(words, vocabulary, rng)
        elif kind < 18:
            operands = table.mutate_operands(operands, rng) if operands else rng.choice(table.OTHERS)
        elif kind == 18:
            target = rng.choice(targets)
        else:
            version = rng.randrange(row.ptx - 1, newest + 1)
    if version < ptxas.TARGETS[target]:
        version = newest
    return ptxas.Question(target, version, table.spell(row.mnemonic, words), operands, True)


def mutations(row, ops, vocabulary, targets, newest, count, rng):
    found = {}
    tries = 0
    while len(found) < count and tries < TRIES * count:
        found[mutation(row, ops, vocabulary, targets, newest, rng)] = True
        tries += 1
    return list(found)


def part(text):
    first, parts = text.split('/')
    return slice(int(first), None, int(parts))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ptxas.add_arguments(a)
    a.add_argument('--table', default='tests/isa/legality', help='the program made from legality.c')
    a.add_argument('--since', type=int, default=92)
    a.add_argument('--count', type=int, default=1000)
    a.add_argument('--family')
    a.add_argument('--part', type=part, default=slice(None), metavar='K/N')
    a.add_argument('--rows', action='store_true')
    args = a.parse_args()
    rows, types = table.read_table(args.table)
    ops = table.Operands(types)
    newest = ptxas.newest_version(args.ptxas)
    targets = [t for t, first in ptxas.TARGETS.items() if newest >= first]
    families = args.family.split(',') if args.family else sorted({r.mnemonic for r in rows})
    new = [r for r in rows if args.since <= r.ptx <= newest and r.mnemonic in families][args.part]
    row_of = {}
    for row in new:
        vocabulary = table.vocabulary([r for r in rows if r.mnemonic == row.mnemonic], types)
        rng = random.Random('%d %s %s %s' % (args.seed, row.mnemonic, row.syntax, row.operands))
        for q in mutations(row, ops, vocabulary, targets, newest, args.count, rng):
            row_of.setdefault(q, []).append(row)
    report = ptxas.Report(args)
    names = {r: '%s%s %s' % (r.mnemonic, r.syntax, r.operands) if args.rows else r.mnemonic for r in new}
    progress = ptxas.Progress('mutations', 0)
    report.compare_questions(list(row_of), ptxas.Store(args.store), progress, lambda q: {names[r] for r in row_of[q]})
    report.print_counts('mutations')
    print('%d rows of PTX %.1f and later' % (len(new), args.since / 10), file=sys.stderr)
    sys.exit(report.total['others'] > 0)


main()
