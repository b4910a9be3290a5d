#!/usr/bin/env python3
"""Records the asynchronous copies of a GPU.

    copies.py [--driver LIB --prefix ptxi] OUT      writes OUT/copies.rec and OUT/copies.full

copies.c describes the recording and compares it. copies.full is for debugging. It holds all changed bytes, cases with
unknown meaning, and the tensor maps written by the driver. The driver is NVIDIA's, or a library with the same calls
under another prefix. Only Python's standard library is needed."""

import argparse
import os
import pickle
import random
import struct
import sys
import time
import zlib

from copy_cases import DATA, OUT, SMEM, all_cases, verdicts
from copy_driver import REFUSED, TILED, Driver, encode, pattern, run

WHOLE = 512  # bytes of `out` recorded in full, for a fraction of the cases
EVERY = 8
NO_DRIVER = 3  # a child's exit status


def blob(b):
    return struct.pack('<I', len(b)) + b


def map_bytes(m, rank=None):
    """Returns the encoded arguments of a map."""
    n = len(m['dims'])

    def some(form, v):
        return struct.pack('<%d%s' % (len(v), form), *v)
    head = struct.pack(
        '<BBBBBBBQ',
        m['mode'],
        n if rank is None else rank,
        n,
        m['interleave'] & 255,
        m['swizzle'] & 255,
        m['promotion'] & 255,
        m['fill'] & 255,
        m['base'],
    )
    lists = struct.pack('<I', m['type']) + some('Q', m['dims']) + some('Q', m['strides']) + some('I', m['steps'])
    if m['mode'] == TILED:
        return head + lists + some('I', m['box'])
    return head + lists + some('i', m['lower']) + some('i', m['upper']) + struct.pack('<II', m['channels'], m['pixels'])


def text_bytes(text, first):
    """Encodes a kernel as the lengths of the prefix and suffix shared with the first one, and the text between them."""
    begin = len(os.path.commonprefix([text, first]))
    rest, other = text[begin:], first[begin:]
    end = len(os.path.commonprefix([rest[::-1], other[::-1]]))
    return struct.pack('<II', begin, end) + blob(rest[:len(rest) - end].encode())


def changes(after, before):
    """Returns the XOR of two buffers. It is mostly zeros."""
    return (int.from_bytes(after, 'little') ^ int.from_bytes(before, 'little')).to_bytes(len(after), 'little')


def judge(drv, questions):
    return [(None, *encode(drv, m, 1 << 40, rank, null, misaligned)) for m, rank, null, misaligned in questions]


def record_verdicts(make, full):
    """Appends the verdicts of the driver to `full`. The driver may crash."""
    questions = {}
    for q in verdicts():
        questions.setdefault(map_bytes(q[0], q[1]) + struct.pack('<BB', *q[2:]), q)
    for known, (error, rc, bits) in zip(questions, in_children(make, list(questions.values()), judge, 256)):
        full.append((*questions[known], None if error else rc, bits))


def masked(out, ctas):
    """Returns the output with the mbarriers cleared."""
    b = bytearray(out)
    for k in range(ctas):
        b[k * OUT + SMEM + 16:(k + 1) * OUT] = bytes(OUT - SMEM - 16)
    return bytes(b)


def in_children(make, todo, work, many):
    """Calls work(driver, items) in child processes, for up to `many` items at once.

    After a fault or crash the items run one by one to find the failing item. The next item runs in a new process.
    Yields the results, which are tuples that start with an error or None."""
    at = alone = 0  # items before `alone` run one by one
    while at < len(todo):
        r, w = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(r)
            try:
                drv = make()
            except Exception as e:
                print(e, flush=True)
                os._exit(NO_DRIVER)
            with os.fdopen(w, 'wb') as f:
                while at < len(todo):
                    got = work(drv, todo[at:at + (many if at >= alone else 1)])
                    pickle.dump(got, f)
                    f.flush()
                    at += len(got)
                    if any(g[0] and not g[0].startswith(REFUSED) for g in got):
                        break
            os._exit(0)
        os.close(w)
        with os.fdopen(r, 'rb') as f:
            before = at
            while True:
                try:
                    got = pickle.load(f)
                except EOFError:
                    break
                if len(got) > 1 and any(g[0] and not g[0].startswith(REFUSED) for g in got):
                    break
                at += len(got)
                yield from got
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == NO_DRIVER:
            sys.exit('there is no driver')
        if at < alone and at == before:
            yield ('the process ended', b'', b'')
            at += 1
        elif at < len(todo) and at >= alone:
            alone = at + many


def rank(name):
    """Returns a sort key. Cases that may fault come last."""
    return (
        0
        if name.startswith(('row/0-16', 'bulk/'))
        else 3 if name.startswith('odd/') else 2 if name.startswith(('illegal/', 'interleave/')) else 1
    )


def write_recording(path, full):
    """Selects from `full` the verdicts of the driver, and the cases with a known meaning that ran."""
    judged = [
        map_bytes(m, rank) + struct.pack('<BBI', null, misaligned, rc)
        for m, rank, null, misaligned, rc, bits in full['verdicts']
        if rc is not None
    ]
    texts, lines = {}, []
    for c, error, data, out in full['cases']:
        if c['probe'] or (error and error.startswith(REFUSED)):
            continue
        data, out = (changes(data, pattern(*c['data'])), changes(out, pattern(*c['out']))) if data else (data, out)
        out = masked(out, c['grid'])
        lines.append(
            blob(c['name'].encode())
            + struct.pack(
                '<IIIII',
                texts.setdefault(c['text'], len(texts)),
                c['grid'],
                c['block'],
                c['map'] is not None,
                bool(error),
            )
            + (map_bytes(c['map']) if c['map'] else b'')
            + struct.pack('<4I', *c['data'], *c['out'])
            + struct.pack('<16I', *[x & 0xFFFFFFFF for x in c['args']])
            + struct.pack('<II', zlib.crc32(data[:DATA]), zlib.crc32(out))
            + blob(out[:WHOLE] if len(lines) % EVERY == 0 else b'')
        )
    first = next(iter(texts), '')
    with open(path, 'wb') as f:
        f.write(
            b'ptxicpy1'
            + struct.pack('<III', len(texts), len(judged), len(lines))
            + b''.join(text_bytes(t, first if k else '') for k, t in enumerate(texts))
            + b''.join(judged)
            + b''.join(lines)
        )
    print('%d cases, %d of them recorded; %d maps judged' % (len(full['cases']), len(lines), len(judged)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('out')
    p.add_argument('--driver', default='libcuda.so.1')
    p.add_argument('--prefix', default='cu')
    p.add_argument('--only', default='')
    p.add_argument('--fresh', type=int, default=0, help='other cases of the same kinds, and no verdicts')
    p.add_argument('--limit', type=float, default=1e9, help='seconds')
    a = p.parse_args()
    make = lambda: Driver(a.driver, a.prefix)
    cases = [c for c in all_cases(a.fresh) if c['name'].startswith(a.only)]
    full = dict(verdicts=[], cases=[])
    if not a.fresh:
        record_verdicts(make, full['verdicts'])
    print('%d maps judged' % len(full['verdicts']), flush=True)
    order, began = (
        sorted(random.Random(0).sample(range(len(cases)), len(cases)), key=lambda k: rank(cases[k]['name'])),
        time.time(),
    )  # if time runs out, every group is partly covered
    results = {}
    for k, got in zip(order, in_children(make, [cases[k] for k in order], run, 32)):
        results[k] = got
        if got[0]:
            print('%.1f s: %s: %s' % (time.time() - began, cases[k]['name'], got[0]), flush=True)
        if len(results) == 64 and all(r[0] for r in results.values()):
            sys.exit('nothing works')
        if time.time() - began > a.limit:
            print('the time is over after %d cases' % len(results), flush=True)
            break
    full['about'] = make().about
    print('%.1f s: %s' % (time.time() - began, full['about']), flush=True)
    for k in sorted(results):
        c, (error, data, out) = cases[k], results[k]
        full['cases'].append(
            (c, error, changes(data, pattern(*c['data'])), changes(out, pattern(*c['out'])))
            if data
            else (c, error, b'', b'')
        )
        if not error and struct.unpack_from('<I', out, SMEM)[0] != 1:
            print('%s: the wait did not end' % c['name'])
    with open(os.path.join(a.out, 'copies.full'), 'wb') as f:
        f.write(zlib.compress(pickle.dumps(full), 6))
    write_recording(os.path.join(a.out, 'copies.rec'), full)


if __name__ == '__main__':
    main()
