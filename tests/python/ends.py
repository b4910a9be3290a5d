"""Runs test programs that might crash or hang, each in its own process."""
import os
import pathlib
import subprocess
import sys

import ptxi as package

HEAD = """
import ctypes, gc, os, signal, sys, threading, time
import numpy as np, ptxi
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process that a shell starts in the background ignores it
mod = ptxi.loads('''.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 p) {
  .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [p]; atom.global.add.u32 %r, [%d], 1; ret; }
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
    """Run a program to its end. A program that does not end in time fails the test."""
    env = {**os.environ, 'PYTHONPATH': str(pathlib.Path(package.__file__).parents[1])}
    command = [sys.executable, '-X', 'faulthandler', '-c', HEAD + text]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds)


def prints(text, seconds=SECONDS):
    """Return the output of a program, which must succeed."""
    result = run(text, seconds)
    assert result.returncode == 0, result.stderr
    return result.stdout
