"""nvrtc.c in Python: compiles CUDA C++ at run time with NVIDIA's NVRTC, which does not need a GPU.

    pip install ./bindings/python cuda-bindings nvidia-cuda-nvrtc
    python samples/nvrtc.py ["an expression of x"]

Prints the values of the expression for x = 0 to 7, or the messages of the compiler.
"""
import sys

import numpy as np
from cuda.bindings import nvrtc

import ptxi

SOURCE = '''
extern "C" __global__ void f(float *y)
{
    float x = threadIdx.x;
    y[threadIdx.x] = %s;
}
'''


def call(name, *arguments):
    """Call a function of NVRTC. Return its result, or raise RuntimeError."""
    error, *results = getattr(nvrtc, name)(*arguments)
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(error.name)
    return results[0] if results else None


def text(program, what):
    """Return a text of the program: its 'PTX' or its 'ProgramLog'."""
    buffer = b' ' * call(f'nvrtcGet{what}Size', program)
    call(f'nvrtcGet{what}', program, buffer)
    return buffer.rstrip(b'\0').decode()


def compiled(source, *options):
    """Return the PTX of a CUDA C++ program. Exit with the messages of the compiler if it is invalid."""
    program = call('nvrtcCreateProgram', source.encode(), b'f.cu', 0, [], [])
    try:
        call('nvrtcCompileProgram', program, len(options), [o.encode() for o in options])
    except RuntimeError as e:
        sys.exit(f'{text(program, "ProgramLog")}{e}')
    return text(program, 'PTX')


expression = sys.argv[1] if len(sys.argv) > 1 else 'x * x - 3 * x + 0.5f'
mod = ptxi.loads(compiled(SOURCE % expression, '--gpu-architecture=compute_90'))
y = np.empty(8, 'f4')
mod.f[1, len(y)](y)
for x, value in enumerate(y):
    print(f'x = {x}: {expression} = {value:g}')
