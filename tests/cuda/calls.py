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
import memory_cases  # noqa: F401
import node_cases  # noqa: F401
import pool_cases  # noqa: F401
import small_cases  # noqa: F401
from call_cases import CASES, Calls

TIME_LIMIT = 60  # of a case, in seconds
CONTEXT_LOST = 3  # exit status: the context is unusable after a case

# Allowed differences: prefixes of case names, with reasons
DIFFERENT = {
    'alloc node(managed)': 'graphs allocate no managed memory',
    'user_objects': 'references that the caller or the graph does not have cannot be released',
    'error_names': 'only errors that the library returns have names',
    'known_errors': 'likewise',
    'without_context': 'memory, streams and events cannot be looked up without a context',
    'CtxGetLimit(7)': 'there are no limits for graphics',
    'CtxGetLimit(8)': 'there are no limits for graphics',
    'CtxSetLimit(0,': 'stacks may be larger than with the driver',
    'CtxSetLimit(2,': 'heaps may be smaller than with the driver',
    'context_version': 'the library returns its own version',
    'ModuleLoadData(': 'PTX of later versions, for later targets, with 32-bit addresses or undefined symbols loads',
    'module_options': 'options without an effect are not checked',
    'OccupancyMaxActiveBlocksPerMultiprocessor(plain,128,49152)':
        'the driver chooses less shared memory than the device has',
    'LinkAddData(': 'the linker accepts only PTX',
    'PointerGetAttribute(5)': 'there are no tokens for peer access',
    'TexObjectCreate(linear': 'the memory of a texture must exist',
    'TexObjectCreate(pitch': 'the rows of a texture must exist',
    'EventCreate(6)': 'events cannot be shared with other processes',
    'capture_badly': 'a query does not invalidate a capture',
    'graph kernel(pairs odd)': 'the launch reports the error',
    'graph copy(': 'the launch reports errors, and kinds of memory may change',
    'graph memset(': 'the launch reports errors',
    'capture of(': 'calls that the driver forbids during a capture are allowed',
    'texture_objects': 'no resource view is returned for an object without one',
    'kernel node attribute(updatable': 'kernels cannot update nodes',
    'reference_set': 'unknown modes, flags and formats are errors',
    'reference_fresh': 'all mipmap levels are used until a range is set',
    'reference_made': 'likewise',
    'array_flags': 'arrays have memory from the beginning',
    'LibraryLoadData(': 'libraries are parsed when they are loaded; '
                        'PTX of later versions or with undefined symbols loads',
    'library_without_context': 'properties of a kernel are known only in a context',
    'link_badly': 'LinkComplete reports conflicting declarations, and the launch reports undefined symbols',
    'link(': 'likewise',
    'link unnamed(': 'likewise',
    'link with a log(': 'likewise',
    'async_again': 'freed memory is not reused at once',
    'async_memory_is': 'there are no tokens for peer access, and memory has exactly the requested size',
    'pointer_attributes_of_host': 'likewise',
    'PointerGetAttributes(all)': 'likewise, and memory is not shared with other processes and devices',
    'MemPoolCreate(1,8,': 'there is no fabric',
    'MemPoolSetAttribute(5': 'pools keep no unused memory',
    'MemPoolSetAttribute(6': 'pools keep no unused memory',
    'pool_counts': 'pools keep no unused memory',
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
                signal.alarm(TIME_LIMIT)
                print(name + ':', *[int(x) for x in case(d)], file=f, flush=True)
                if d('CtxSynchronize'):
                    os._exit(CONTEXT_LOST)
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
        if len(lines) < len(CASES) and status != CONTEXT_LOST:
            lines.append(CASES[len(lines)][0] + ': crash')
    return lines


def main():
    lines = all_answers(sys.argv[1])
    if len(sys.argv) < 3:
        print('\n'.join(lines))
        return
    with open(sys.argv[2]) as f:
        wanted = dict(line.split(': ', 1) for line in f.read().splitlines() if ': ' in line)
    wrong = unrecorded = 0
    for line in lines:
        name, _, got = line.partition(': ')
        if name not in wanted:
            unrecorded += 1
        elif wanted[name] not in (got, 'crash') and not name.startswith(tuple(DIFFERENT)):
            print('%s\n    the driver: %s\n    here:       %s' % (name, wanted[name], got))
            wrong += 1
    print('%d of %d cases differ; %d are not recorded yet' % (wrong, len(lines) - unrecorded, unrecorded))
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
