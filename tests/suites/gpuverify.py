#!/usr/bin/env python3
"""Launches the kernels of GPUVerify's suite (github.com/mc-imperial/gpuverify, testsuite/CUDA) that are labelled as
correct with the checks of races and barriers, and prints what is reported.

Usage: gpuverify.py SUITE_DIR PTXI [WORK_DIR]

Each kernel is launched with the blocks and threads of its label. Pointers are buffers of 8 MiB of zeros, and numbers
are 0 in one launch and 1 in another, since the suite has no input. The exit status is 1 if something is reported that
EXPLAINED does not have. Programs that call functions without a body are not launched. NVCC: the compiler.
"""
import os
import re
import subprocess
import sys
import tempfile

# What the suite assumes of the compiler. Contracts say nothing about one run.
HEADER = '''
#define __requires(...)
#define __ensures(...)
#define __invariant(...) false
#define __global_invariant(...)
#define __assert(...)
#undef assert
#define assert(...)
#define __assume(...)
#define __axiom(...)
#define __requires_fresh_array(...)
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
'''
# Why a program that is labelled as correct has a race in these launches.
EXPLAINED = {
    'warpsync': 'it relies on lanes of a warp that advance together (--warp-sync)',
    'reduced_strength_with_requires': 'it requires a number that is the number of threads',
}
MOST_THREADS = 1024  # of a block; the suite has larger ones, which CUDA does not launch
TYPES = {'.u64': 'u64', '.s64': 's64', '.b64': 'u64', '.u32': 'u32', '.s32': 's32', '.b32': 'u32', '.f32': 'f32',
         '.f64': 'f64', '.u16': 'u16', '.s16': 's16', '.u8': 'u8', '.s8': 's8', '.b8': 'u8'}


def label(text):
    """The blocks and the threads of a correct program, or None."""
    lines = text.splitlines()
    if not lines or lines[0].strip().lower() != '//pass':
        return None
    shape = {'grid': '1', 'block': '1'}
    for option, value in re.findall(r'--(grid|block)Dim=(\S+)', text):
        shape[option] = value.strip('[]')
    return shape


def arguments(ptx, number):
    """The kernel's name, and an argument for each parameter."""
    name, parameters = re.search(r'\.entry (\w+)\s*\((.*?)\)', ptx, re.S).groups()
    result = []
    for kind, size in re.findall(r'\.param (?:\.align \d+ )?(\.\w+)[^,\[\n]*(?:\[(\d+)\])?', parameters):
        if size:
            result += ['-a', 'val:u8[%s]' % size]
        elif kind == '.u64':
            result += ['-a', 'u8[8388608]']
        else:
            result += ['-a', '%s=%d' % (TYPES[kind], number)]
    return name, result


def run(file, shape, number, ptxi, ptx):
    name, args = arguments(open(ptx).read(), number)
    command = [ptxi, 'run', ptx, '-k', name, '-g', shape['grid'], '-b', shape['block'], '--check=race,sync',
               '--on-fault', 'report', '--timeout', '20'] + args
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    found = re.findall(r'^.*(?:error|warning): .*\[(?:race|sync)\..*$', output, re.M)
    for text in found:
        print('%s (numbers are %d): %s' % (file, number, text))
    if found:
        return 'with reports'
    return 'without a report' if 'checked 1 launches' in output else 'not launched'


def compile_ptx(source, work):
    ptx = os.path.join(work, source.replace('/', '_')[-120:] + '.ptx')
    header = os.path.join(work, 'contracts.h')
    with open(header, 'w') as out:
        out.write(HEADER)
    command = [os.environ.get('NVCC', 'nvcc'), '-ptx', '-arch=compute_80', '-lineinfo', '-w', '-include', header,
               source, '-o', ptx]
    if not os.path.exists(ptx) and subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                  check=False).returncode:
        return None
    return ptx if '.entry' in open(ptx).read() else None


def judge(source, suite, ptxi, work):
    """What became of a program: a key of the counts."""
    name = os.path.relpath(source, suite)
    shape = label(open(source, errors='replace').read())
    if not shape:
        return None
    if eval(shape['block'].replace(',', '*')) > MOST_THREADS:
        return 'too large'
    ptx = compile_ptx(source, work)
    if not ptx:
        print('%s: does not compile' % name)
        return 'not compiled'
    results = [run(name, shape, number, os.path.abspath(ptxi), ptx) for number in (0, 1)]
    if 'with reports' not in results:
        return results[0]
    why = [reason for part, reason in EXPLAINED.items() if part in name.split('/')]
    print('%s: %s' % (name, why[0] if why else 'NOT EXPLAINED'))
    return 'explained' if why else 'with reports'


def main(suite, ptxi, work=None):
    work = work or tempfile.mkdtemp()
    os.makedirs(work, exist_ok=True)
    counts = dict.fromkeys(['without a report', 'explained', 'with reports', 'not launched', 'not compiled',
                            'too large'], 0)
    for folder, _, files in sorted(os.walk(suite)):
        for file in sorted(f for f in files if f.endswith('.cu')):
            result = judge(os.path.join(folder, file), suite, ptxi, work)
            if result:
                counts[result] += 1
    print(', '.join('%d %s' % (count, what) for what, count in counts.items()))
    return 1 if counts['with reports'] else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
