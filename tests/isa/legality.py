#!/usr/bin/env python3
"""Compares the forms that the front end accepts with those that ptxas accepts.

    legality.py [--ptxas PTXAS] [--table LEGALITY] [--front-end VERDICTS] [--family add,cvt] [--targets N]
                [--target sm_90a,...] [--limit N] [--sample N] [--version N] [--jobs N] [--store FILE] [--seed N]
                [--record FILE] [--show-known]

Expands every row over types, modifiers and spaces, with sampling above --limit combinations. Mutates each form:
removes, inserts, replaces, repeats or moves one qualifier or operand. Both sides judge all forms, each for --targets
random targets. LEGALITY is the program built from legality.c. legality.known lists intended differences. Exits with
status 1 for other differences."""

import argparse
import itertools
import random
import sys

import ptxas
import table


def forms_of(rows, ops, limit, operands, rng):
    """Returns (spelling, operand text) of all expansions and mutations, and the set with mutated operands."""
    forms, mutated = {}, set()
    families = {}
    for r in rows:
        families.setdefault(r.mnemonic, []).append(r)
    for family in families.values():
        vocabulary = table.vocabulary(family, ops.types)
        for r in family:
            n = 0
            for words in table.expansions(r, limit, rng):
                for without in table.operand_choices(r):
                    forms.setdefault((table.spell(r.mnemonic, words), ops.write(r, words, without)), r)
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
                            forms.setdefault((table.spell(r.mnemonic, order), ops.write(r, words, None)), r)
                for _ in range(operands):
                    text = ops.write(r, words, rng.choice(table.operand_choices(r)))
                    if text:
                        form = table.spell(r.mnemonic, words), table.mutate_operands(text, rng)
                        if form not in forms:
                            mutated.add(form)
                        forms[form] = r
                for mutant in mutants:
                    source = tuple(w if w in ops.types and m not in ops.types else m for m, w in zip(mutant, words))
                    forms.setdefault((table.spell(r.mnemonic, mutant), ops.write(r, source, None)), r)
    return forms, mutated


def record(path, verdicts, known, rng):
    """Writes equal numbers of accepted and rejected forms of one target for verdicts.c; half as many with mutated
    operands."""
    with open(path, 'a') as f:
        for accepted, mutated in itertools.product((ptxas.ACCEPTED, ptxas.REJECTED), (False, True)):
            some = sorted(q for q, v in verdicts.items() if v == accepted and q.compiled == mutated)
            for q in rng.sample(some, min(len(some), 4 if mutated else 8)):
                kind = 'missing' if accepted == ptxas.ACCEPTED else 'extra'
                line = '%s %s %s %s;' % (q.target, kind, q.form, q.operands)
                if not any(k.search(line) for k in known):
                    f.write('%s %d %s %s %s;\n' % (q.target[3:], q.version, accepted, q.form, q.operands))


def sample_of(forms, mutants, counts, rng):
    """Returns so many forms without and with mutated operands."""
    groups = sorted(set(forms) - mutants), sorted(mutants)
    return [f for g, n in zip(groups, counts) for f in rng.sample(g, min(len(g), n))]


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ptxas.add_arguments(a)
    a.add_argument('--table', default='tests/isa/legality', help='the program made from legality.c')
    a.add_argument('--record', metavar='FILE', help="write a sample of ptxas's verdicts")
    a.add_argument('--family')
    a.add_argument('--target')
    a.add_argument('--targets', type=int, default=99, help='judge each form for so many random targets')
    a.add_argument('--limit', type=int, default=400)
    a.add_argument('--operands', type=int, default=4, help='mutations of the operands of a form')
    a.add_argument('--sample', type=int, help='so many forms of each family and no more')
    a.add_argument('--version', type=int, help='PTX version times 10, instead of the newest')
    return a.parse_args()


def main():
    args = arguments()
    rows, types = table.read_table(args.table)
    version = args.version or ptxas.newest_version(args.ptxas)
    ops = table.Operands(types)
    families = sorted(set(args.family.split(',')) if args.family else {r.mnemonic for r in rows})
    targets = args.target.split(',') if args.target else list(ptxas.TARGETS)
    targets = [t for t in targets if version >= ptxas.TARGETS[t]]
    store, report = ptxas.Store(args.store), ptxas.Report(args)
    rng = random.Random(args.seed)
    if args.record:
        open(args.record, 'w').close()
    for number, family in enumerate(families):
        of_family = [r for r in rows if r.mnemonic == family]
        forms, mutants = forms_of(of_family, ops, args.limit, args.operands, random.Random(args.seed))
        if args.record or args.sample:
            counts = (150, 60) if args.record else (args.sample // 2,) * 2
            forms = sample_of(forms, mutants, counts, rng)
        questions = [
            ptxas.Question(t, version, *f, f in mutants)
            for f in forms
            for t in rng.sample(targets, min(args.targets, len(targets)))
        ]
        progress = ptxas.Progress('%s (%d of %d mnemonics)' % (family, number + 1, len(families)), 0)
        verdicts = report.compare_questions(questions, store, progress, lambda q: {q.target})
        for t in targets if args.record else []:
            record(args.record, {q: v for q, v in verdicts.items() if q.target == t}, report.known, rng)
    report.print_counts('forms')
    sys.exit(report.total['others'] > 0)


main()
