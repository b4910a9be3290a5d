#!/usr/bin/env python3
"""Runs the cases of ptx95/cases.txt on a GPU, or on a library with the same calls, and prints the digests.

    ptx95.py [--ptxas PTXAS] [--driver LIBRARY] [--prefix PREFIX]

ptxas 13.5 assembles the kernels for NVIDIA's driver. For another library, --driver libptxi.so --prefix ptxi. Exits with
status 1 if a digest is not the recorded one."""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'conformance'))
import record  # noqa: E402


def fnv(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return '%016x' % h


def image_of(kernel, ptxas):
    source = os.path.join(HERE, 'ptx95', kernel + '.ptx')
    if not ptxas:
        return open(source, 'rb').read()
    with tempfile.NamedTemporaryFile(suffix='.cubin') as f:
        subprocess.run([ptxas, '-arch=sm_90a', source, '-o', f.name], check=True)
        return f.read()


def run(driver, ptxas, kernel, operands, blocks, threads, size):
    data = open(os.path.join(HERE, 'ptx95', operands + '.bin'), 'rb').read()
    module = driver.load(image_of(kernel, ptxas))
    source, results = driver.allocate(len(data)), driver.allocate(size)
    driver.write(source, data)
    driver.launch(driver.function(module, 'k'), blocks, threads, ctypes.c_uint64(source), ctypes.c_uint64(results))
    driver.synchronize()
    return fnv(driver.read(results, size))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--ptxas', default='ptxas')
    a.add_argument('--driver', default='libcuda.so.1')
    a.add_argument('--prefix', default='cu')
    args = a.parse_args()
    driver = record.Driver(args.driver, args.prefix)
    different = 0
    for line in open(os.path.join(HERE, 'ptx95', 'cases.txt')):
        if line.startswith('#'):
            continue
        kernel, operands, blocks, threads, size, recorded = line.split()
        ptxas = args.ptxas if args.prefix == 'cu' else None
        got = run(driver, ptxas, kernel, operands, int(blocks), int(threads), int(size))
        different += got != recorded
        print(kernel, operands, blocks, threads, size, got, 'as recorded' if got == recorded else 'NOT as recorded')
    sys.exit(different > 0)


main()
