"""Programs of tests that could crash or hang: each in a process of its own."""
import os
import pathlib
import subprocess
import sys

import ptxi as package

HEAD = """
import ctypes, gc, os, signal, sys, threading, time
import numpy as np, ptxi
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts the suite in the background ignores it
mod = ptxi.loads('''.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 p) { .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [p]; atom.global.add.u32 %r, [%d], 1; ret; }
.visible .entry forever() { L: bra L; }
''')
x = np.zeros(1, 'u4')

def press(seconds=0.2):
    def run():
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=run, daemon=True).start()
"""
SECONDS = 60


def run(text, seconds=SECONDS):
    """A program to its end; one that has none fails the test."""
    env = {**os.environ, 'PYTHONPATH': str(pathlib.Path(package.__file__).parents[1])}
    return subprocess.run([sys.executable, '-X', 'faulthandler', '-c', HEAD + text], env=env, capture_output=True, text=True, timeout=seconds)


def prints(text, seconds=SECONDS):
    """What a program prints that must end well."""
    result = run(text, seconds)
    assert result.returncode == 0, result.stderr
    return result.stdout
