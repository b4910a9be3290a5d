#!/usr/bin/env python3
"""Compares the verdicts of the front end and of ptxas on the output of LLVM's tests.

    llvm.py [--ptxas PTXAS] [--front-end VERDICTS] [--bin FOLDER] [--jobs N] [--store FILE] [--show-known]
            [--print WORD] TESTS

TESTS is the folder llvm/test/CodeGen/NVPTX of LLVM's sources, of the same version as llc and opt in FOLDER. The
commands in RUN lines are executed without FileCheck, and all PTX that llc writes is judged. 32-bit modules and those
whose target or PTX version ptxas does not have are judged by ptxas, too, which rejects them. --print shows modules that
contain the word, and judges nothing. Exits with status 1 if a verdict differs."""

import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

import ptxas

LIMIT = 120  # seconds of one command
STRING_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)
MODULE = re.compile(r'^\.version \d', re.M)


def commands_of(text):
    """Returns the commands of a test, without those that need ptxas and those that must fail."""
    lines = re.findall(r'RUN:\s*(.*?)\s*$', text, re.M)
    joined = re.sub(r'\\\n\s*', ' ', '\n'.join(lines))
    joined = re.sub(r'%if [^\n]*?%\{.*?%\}', '', joined, flags=re.S)
    return [c for c in joined.split('\n') if c and not re.match(r'(FileCheck|diff)\b|.*(\bnot\b|%\()', c)]


def run_test(path, binaries):
    """Returns the PTX that the test's commands write, and the commands that failed."""
    modules, failed = [], []
    environment = dict(os.environ, PATH=binaries + ':' + os.environ['PATH'], PYTHONDONTWRITEBYTECODE='1')
    with tempfile.TemporaryDirectory() as folder:
        for command in commands_of(open(path, errors='replace').read()):
            command = re.split(r'\|\s*(?:FileCheck|%ptxas-verify|count)\b', command)[0]
            substitutes = {'%t': folder + '/t', '%s': path, '%S': os.path.dirname(path), '%python': sys.executable}
            for name, value in substitutes.items():
                command = command.replace(name, value)
            try:
                out = subprocess.run(
                    ['bash', '-c', command], capture_output=True, text=True, errors='replace', env=environment,
                    cwd=folder, timeout=LIMIT,
                )
            except subprocess.TimeoutExpired:
                failed.append(command)
                continue
            if out.returncode:
                failed.append(command)
            elif MODULE.search(out.stdout):
                modules.append(out.stdout)
        for name in sorted(os.listdir(folder)):
            if os.path.isfile(os.path.join(folder, name)):
                text = open(os.path.join(folder, name), errors='replace').read()
                if MODULE.search(text):
                    modules.append(text)
    return [one_line(m) for m in modules], failed


def one_line(module):
    """Returns the module without comments, in one line."""
    return ' '.join(STRING_OR_COMMENT.sub(lambda m: m.group(1) or ' ', module[MODULE.search(module).start() :]).split())


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ptxas.add_arguments(a)
    a.add_argument('--bin', default='/usr/lib/llvm-22/bin', help='the folder with llc and opt')
    a.add_argument('--print', metavar='WORD')
    a.add_argument('tests')
    args = a.parse_args()
    files = glob.glob(os.path.join(os.path.abspath(args.tests), '*'))
    paths = sorted(p for p in files if p.endswith(('.ll', '.py', '.mir')))
    tests = collections.defaultdict(set)
    failed = []
    progress = ptxas.Progress('tests', len(paths))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, (modules, failures) in zip(paths, pool.map(lambda p: run_test(p, args.bin), paths)):
            for m in modules:
                tests[m].add(os.path.basename(path))
            failed += failures
            progress.step()
    if args.print is not None:
        print('\n'.join(m for m in tests if args.print in m))
        return
    if not tests:
        sys.exit('no PTX from the tests in ' + args.tests)
    report = ptxas.Report(args)
    verdicts = report.compare_modules(list(tests), ptxas.Store(args.store), ptxas.Progress('modules', 0))
    both = sum(theirs == ptxas.ACCEPTED and ours is None for theirs, ours in verdicts.values())
    for command in failed:
        print('failed: ' + command, file=sys.stderr)
    print('%d tests, %d commands failed; the front end accepts %d of the modules that ptxas accepts'
          % (len({t for names in tests.values() for t in names}), len(failed), both), file=sys.stderr)
    report.print_counts('modules')
    sys.exit(report.total['others'] > 0)


main()
