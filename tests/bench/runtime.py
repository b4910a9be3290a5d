#!/usr/bin/env python3
"""Measure what programs of the CUDA runtime cost besides their kernels.

    runtime.py NVCC BUILD [ROUNDS]

NVCC is the compiler and BUILD the build directory of libptxi. Prints a Markdown table: the time of a launch by each
API, and the time from the start of a process until its main() for programs with few and many kernels. The program
with the most kernels is also measured until its first launch has ended.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = [0, 200]

KERNEL = """
__global__ void k%d(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] = x[i] * %d.0f + sqrtf(x[i]);
}
"""
MAIN = """
#include <unistd.h>

int main(int argc, char **)
{
    float *x;

    if (argc > 1) {
        if (cudaMalloc(&x, 4096) || (k0<<<8, 128>>>(x, 1024), cudaDeviceSynchronize()))
            return 1;
    }
    return write(1, "m", 1) != 1;
}
"""


def compiled(nvcc, folder, source):
    """Compile a program for the shared runtime. Return its path."""
    program = folder / source.stem
    subprocess.run([nvcc, '-O2', '-gencode=arch=compute_90,code=compute_90', '-cudart', 'shared', '-o', program,
                    f'-I{HERE.parent.parent / "include"}', source], check=True)
    return program


def source_of(kernels):
    """Return a program with a number of kernels."""
    text = ''.join(KERNEL % (i, i) for i in range(kernels))
    return text + (MAIN if kernels else MAIN.replace('(k0<<<8, 128>>>(x, 1024), cudaDeviceSynchronize())',
                                                     'cudaDeviceSynchronize()'))


def started(command, env):
    """Return the time in ms from the start of a process until it writes a byte."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as p:
        byte = p.stdout.read(1)
        end = time.perf_counter()
    if byte != b'm' or p.returncode:
        raise SystemExit(f'{command[0]} failed')
    return (end - start) * 1e3


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    nvcc, build, rounds = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), int((sys.argv + ['31'])[3])
    folders = [build / 'bindings/cudart/.libs', build / 'bindings/cuda/.libs', build / '.libs']
    env = {**os.environ, 'LD_LIBRARY_PATH': ':'.join(map(str, folders))}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        launches = compiled(nvcc, folder, HERE / 'launches.cu')
        times = subprocess.run([launches], env=env, check=True, capture_output=True, text=True).stdout.split()
        programs = {}
        for kernels in KERNELS:
            (folder / f'kernels{kernels}.cu').write_text(source_of(kernels))
            programs[f'{kernels} kernels, until main()'] = [compiled(nvcc, folder, folder / f'kernels{kernels}.cu')]
        programs[f'{KERNELS[-1]} kernels, until the end of the first launch'] = [folder / f'kernels{KERNELS[-1]}', '1']
        found = {name: [] for name in programs}
        for _ in range(rounds):
            for name, command in programs.items():
                found[name].append(started(command, env))
    print('| what | time |\n|---|---|')
    for name, ns in zip(['<<<>>>', 'cuLaunchKernel', 'ptxiLaunchKernel'], times):
        if ns != '0':
            print(f'| launch of an empty kernel by `{name}` | {float(ns) / 1e3:.2f} us |')
    for name, ms in found.items():
        print(f'| {name} | {statistics.median(ms):.1f} ms |')


if __name__ == '__main__':
    main()
