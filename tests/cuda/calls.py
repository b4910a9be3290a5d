#!/usr/bin/env python3
"""Tests the results of CUDA driver calls with valid and invalid arguments.

    calls.py LIBRARY
        Runs the cases of call_cases.py and prints one line for each case.
        With NVIDIA's driver, the output is calls.rec.

    calls.py LIBRARY FILE
        Compares the results with FILE. DIFFERENT lists the allowed differences.

If the driver crashes or hangs, the line of the case ends with the word `crash`.
The script needs only Python's standard library.
"""

import os
import signal
import sys

import graph_cases  # noqa: F401, these modules add to CASES
import library_cases  # noqa: F401
import node_cases  # noqa: F401
import pool_cases  # noqa: F401
import small_cases  # noqa: F401
from call_cases import CASES, Calls

LONGEST = 60  # time limit of a case in seconds
SPOILT = 3  # exit status: the context is unusable after a case

# Allowed differences: prefixes of case names, with reasons
DIFFERENT = {
    'error_names': 'only errors that it gives have names',
    'known_errors': 'only errors that it gives have names',
    'without_context': 'memory, streams and events are not found without a context',
    'CtxGetLimit(7)': 'no limits of graphics',
    'CtxGetLimit(8)': 'no limits of graphics',
    'CtxSetLimit(0,': 'stacks may be larger',
    'CtxSetLimit(2,': 'heaps may be smaller',
    'context_version': 'the version that there is',
    'ModuleLoadData(': 'PTX of later versions, later targets and 32 bits loads, with symbols that are missing',
    'module_options': 'options that change nothing are not looked at',
    'OccupancyMaxActiveBlocksPerMultiprocessor(plain,128,49152)': 'the driver chooses less shared memory than there is',
    'LinkAddData(': 'the linker takes PTX',
    'PointerGetAttribute(5)': 'no tokens for other devices',
    'TexObjectCreate(linear': 'memory of textures must be there',
    'TexObjectCreate(pitch': 'rows of textures must be there',
    'EventCreate(6)': 'one process',
    'capture_badly': 'a question does not spoil a capture',
    'graph kernel(pairs odd)': 'the launch tells',
    'graph copy(': 'the launch tells, and kinds of memory may change',
    'graph memset(': 'the launch tells',
    'capture of(': 'calls that a driver forbids meanwhile do no harm',
    'texture_objects': 'what has no view has none to tell',
    'kernel node attribute(updatable': 'kernels change no nodes',
    'GraphInstantiate(4)': 'kernels launch no graphs',
    'GraphInstantiate(12)': 'kernels launch no graphs',
    'reference_set': 'modes, flags and formats that there are not are refused',
    'reference_fresh': 'all levels, until it is said',
    'reference_made': 'all levels, until it is said',
    'array_flags': 'memory is there at once',
    'LibraryLoadData(': 'libraries are read when they are loaded; PTX of later versions loads, '
                        'with symbols that are missing',
    'library_without_context': 'what a kernel has is known in a context',
    'link_badly': 'LinkComplete tells what does not fit together, and the launch what is missing',
    'link(': 'likewise',
    'link unnamed(': 'likewise',
    'link with a log(': 'likewise',
    'async_again': 'what was freed is not given out again at once',
    'async_memory_is': 'tokens; memory has the size that was asked for',
    'pointer_attributes_of_host': 'likewise',
    'PointerGetAttributes(all)': 'likewise, and it is not shared with other processes and devices',
    'async_in_capture': 'graphs allocate no memory',
    'wait_value_in_capture': 'graphs do not wait for words',
    'MemPoolCreate(': "pools of the device's own memory, of one process",
    'MemGetDefaultMemPool(': 'likewise',
    'MemPoolSetAttribute(5': 'pools keep nothing',
    'MemPoolSetAttribute(6': 'pools keep nothing',
    'pool_counts': 'pools keep nothing',
}


def answers(library, first):
    """Runs cases in a child process. Returns their results and the exit status. The child can end early."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(r)
        with os.fdopen(w, 'w') as f:
            d = Calls(library)
            for name, case in CASES[first:]:
                signal.alarm(LONGEST)
                print(name + ':', *[int(x) for x in case(d)], file=f, flush=True)
                if d('CtxSynchronize'):
                    os._exit(SPOILT)
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        lines = f.read().splitlines()
    return lines, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def all_answers(library):
    lines = []
    while len(lines) < len(CASES):
        got, status = answers(library, len(lines))
        lines += got
        if not lines:
            sys.exit('there is no driver')
        if len(lines) < len(CASES) and status != SPOILT:
            lines.append(CASES[len(lines)][0] + ': crash')
    return lines


def main():
    lines = all_answers(sys.argv[1])
    if len(sys.argv) < 3:
        print('\n'.join(lines))
        return
    with open(sys.argv[2]) as f:
        wanted = dict(line.split(': ', 1) for line in f.read().splitlines() if ': ' in line)
    wrong = 0
    for line in lines:
        name, _, got = line.partition(': ')
        if wanted.get(name) not in (got, 'crash') and not name.startswith(tuple(DIFFERENT)):
            print('%s\n    the driver: %s\n    here:       %s' % (name, wanted.get(name, 'not recorded'), got))
            wrong += 1
    print('%d of %d cases differ' % (wrong, len(lines)))
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
