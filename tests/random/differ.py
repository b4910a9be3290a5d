#!/usr/bin/env python3
"""Compares results of random programs between a GPU and this library.

    differ.py [options] RANDOM OUT FIRST COUNT

RANDOM is the program tests/random/random. OUT is the output directory. MODE.gpu and MODE.ours contain the output of
`random run`. MODE.txt lists differing programs with some rows of the differing columns. MODE selects the ptxas options,
with equivalent options for the library: `fused` (default), `apart` (no fused multiply-add), `plain` (no optimisation).
With `jit` the driver gets PTX. PTXI_SEED selects other programs.

--ptx DIRECTORY uses existing modules from `cuda.py compile`; FIRST and COUNT select them. Without a GPU, --library -
compares the library with itself. With --keep FILE nothing runs: FILE becomes a compressed recorded file for `random
check`, from the programs with GPU results in OUT."""

import argparse
import array
import concurrent.futures
import gzip
import itertools
import os
import shutil
import subprocess
import time

MODES = {'fused': ([], '-'), 'apart': (['-fmad=false'], '-apart'), 'plain': (['-O0'], '-plain'), 'jit': (None, '-')}
ROWS = 1024


class Failure(Exception):
    pass


def command(*words, **more):
    p = subprocess.run(words, capture_output=True, **more)
    if p.returncode:
        raise Failure(
            '%s: %d: %s'
            % (' '.join(words[:3]), p.returncode, (p.stdout[-300:] + p.stderr[-700:]).decode(errors='replace'))
        )
    return p.stdout


def image(args, first, count):
    """Returns the text and machine code of a module, or an error message."""
    text = '%s/%06d.ptx' % (args.work, first)
    try:
        if args.ptx:
            shutil.copy('%s/%06d.ptx' % (args.ptx, first), text)
        else:
            with open(text, 'wb') as f:
                f.write(command(args.random, 'write', str(first), str(count)))
        for mode in args.modes:
            if args.library[0] != '-' and mode != 'jit':
                command(
                    args.ptxas,
                    '-arch=sm_90a',
                    *MODES[mode][0],
                    text,
                    '-o',
                    '%s/%06d.%s' % (args.work, first, mode),
                    timeout=100
                )
    except (Failure, OSError, subprocess.TimeoutExpired) as e:
        return first, str(e)
    return first, None


def run(args, library, suffix, modules):
    """Returns output lines by program. Skips failing or hanging programs; a new process runs the following ones."""
    lines, failures, began = {}, [], time.time()
    todo = [(m, n) for m in modules for n in range(m, m + args.size)]
    while todo and time.time() - began < args.seconds:
        rest = [(m, [n for _, n in numbers]) for m, numbers in itertools.groupby(todo, lambda pair: pair[0])]
        text = ''.join('%s/%06d.%s %d %d\n' % (args.work, m, suffix, numbers[0], len(numbers)) for m, numbers in rest)
        p = subprocess.run([args.random, 'run', library, str(args.limit)], input=text, capture_output=True, text=True)
        for line in p.stdout.splitlines():
            lines[int(line.split()[0])] = line
        done = next((k for k, (m, n) in enumerate(todo) if n not in lines), len(todo))
        if done < len(todo):
            failures.append('%s: %d: %d: %s' % (library, todo[done][1], p.returncode, p.stderr[-500:] or 'no end'))
        todo = todo[done + 1:]
    return lines, failures


def suffix_of(args, mode):
    return 'ptx' if args.library[0] == '-' or mode == 'jit' else mode


def outputs(args, library, suffix, number):
    module = number // args.size * args.size
    return array.array(
        'Q', command(args.random, 'dump', library, '%s/%06d.%s' % (args.work, module, suffix), str(number))
    )


def describe(args, mode, number, ours, theirs):
    """Returns rows of the differing columns."""
    text = ['program %d %s\n  gpu  %s\n  ours %s\n' % (number, mode, theirs, ours)]
    try:
        a = outputs(args, args.library, suffix_of(args, mode), number)
        b = outputs(args, MODES[mode][1], 'ptx', number)
    except Failure as e:
        return text[0] + str(e) + '\n'
    for column in range(len(a) // ROWS):
        rows = [r for r in range(ROWS) if a[column * ROWS + r] != b[column * ROWS + r]]
        if rows:
            text.append('  column %d: %d rows differ\n' % (column, len(rows)))
            text += [
                '    row %d: gpu %016x ours %016x\n' % (r, a[column * ROWS + r], b[column * ROWS + r])
                for r in rows[:6]
            ]
    return ''.join(text)


def compare(args, mode, modules, pool):
    parts = [modules[i::args.processes] for i in range(args.processes)]
    suffix = suffix_of(args, mode)
    theirs, ours, failures = {}, {}, []
    for into, library, kind in (theirs, args.library, suffix), (ours, MODES[mode][1], 'ptx'):
        for lines, failed in pool.map(lambda part: run(args, library, kind, part), parts):
            into.update(lines)
            failures += failed
    for name, lines in ('gpu', theirs), ('ours', ours):
        with open('%s/%s.%s' % (args.out, mode, name), 'w') as f:
            f.write(''.join(lines[n] + '\n' for n in sorted(lines)))
    differ = [n for n in sorted(theirs) if n in ours and ours[n] != theirs[n]]
    with open('%s/%s.txt' % (args.out, mode), 'w') as f:
        f.write(''.join(x + '\n' for x in failures))
        f.write(''.join(pool.map(lambda n: describe(args, mode, n, ours[n], theirs[n]), differ[:args.describe])))
    print(
        '%s: %d programs on both, %d differ, %d failures: %s'
        % (mode, len(set(ours) & set(theirs)), len(differ), len(failures), differ[:200]),
        flush=True,
    )


def digests(args, mode):
    with open('%s/%s.gpu' % (args.out, mode)) as f:
        return {int(line.split()[0]): line.split()[1] for line in f}


def keep(args):
    fused, apart = digests(args, 'fused'), digests(args, 'apart')
    text = [command(args.random, 'write', '0', '0').decode()]
    for n in range(args.first, args.first + args.count):
        if n in fused and n in apart:
            text.append('//= %d %s %s\n' % (n, fused[n], apart[n]))
            text.append(command(args.random, 'write', str(n), '1').decode()[len(text[0]):])
    with open(args.keep, 'wb') as f:
        f.write(gzip.compress(''.join(text).encode(), 9, mtime=0))
    print('%s: %d programs, %d bytes' % (args.keep, len(text) // 2, os.path.getsize(args.keep)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--library', default='libcuda.so.1')
    p.add_argument('--ptxas', default=shutil.which('ptxas') or '/usr/local/cuda/bin/ptxas')
    p.add_argument('--ptx', metavar='DIRECTORY')
    p.add_argument('--modes', default='fused,apart,plain')
    p.add_argument('--size', type=int, default=16, help='programs a module')
    p.add_argument('--processes', type=int, default=8, help='that run modules at once')
    p.add_argument('--seconds', type=int, default=1000000, help='for assembling, and after which no run begins')
    p.add_argument('--limit', type=int, default=5, help='seconds that a program may take')
    p.add_argument('--describe', type=int, default=120, help='how many differences to describe')
    p.add_argument('--keep', metavar='FILE')
    for name in 'random', 'out':
        p.add_argument(name)
    for name in 'first', 'count':
        p.add_argument(name, type=int)
    args = p.parse_args()
    if args.keep:
        return keep(args)
    args.modes, args.work, began = args.modes.split(','), os.path.join(args.out, 'work'), time.time()
    os.makedirs(args.work, exist_ok=True)
    good = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def job(first):
            return image(args, first, args.size) if time.time() - began < args.seconds else (first, 'late')
        wrong = {}
        for first, failure in pool.map(job, range(args.first, args.first + args.count, args.size)):
            wrong.setdefault(failure, []).append(first)
        good = wrong.pop(None, [])
        print(
            '%d modules in %.0f s, %d late' % (len(good), time.time() - began, len(wrong.pop('late', []))), flush=True
        )
        for text, modules in list(wrong.items())[:20]:
            print('modules %s: %s' % (modules, text), flush=True)
        for mode in args.modes:
            compare(args, mode, good, pool)
    print('%.0f s' % (time.time() - began))
    shutil.rmtree(args.work)


main()
