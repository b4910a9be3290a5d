#!/usr/bin/env python3
"""Records the textures and surfaces of a GPU.

    textures.py [--driver LIB --prefix ptxi] OUT      writes OUT/textures.rec

textures.c describes the recording and compares it. Most cases keep only some rows. The driver is NVIDIA's, or a library
with the same calls under another prefix. Only Python's standard library is needed."""

import argparse
import array
import os
import struct
import sys

from texture_driver import Driver, Failure, format_of, run, tex_desc
from texture_filters import all_cases

KINDS = ['array', 'mip', 'linear', 'pitch']
PLENTY = 50 # rows of a case

# One row in N is kept. The first matching name prefix selects N. 0 keeps none: the results are redundant or not
# known to the last bit.
STEPS = [
    ('gather/a2d', 0),
    ('gather/cube', 0),
    ('depth/f32-16', 0),
    ('depth/u16-16', 0),
    ('depth/f16-16', 0),
    ('suld/unaligned', 0),
    ('weights/3d-0', 0),
    ('weights/3d-2', 0),
    ('cube/precise', 0),
    ('read/u16-linear', 0),
    ('read/s16-linear', 0),
    ('suld/', 7),
    ('gather/', 3),
    ('linear/', 3),
    ('equal/', 4),
    ('sustp/u16-x4-v', 0),
    ('sustp/u32-x4-v', 0),
    ('sustp/s16-x4-v', 0),
    ('sustp/f32-x4-v', 0),
    ('sustp/s16-x2', 0),
    ('sustp/s8-x2', 0),
    ('sustp/u32-x2', 0),
    ('sustp/s32-x2', 0),
    ('sustp/u32-x1', 0),
    ('sustp/s32-x1', 0),
    ('sustp/f32-x2', 0),
    ('sustp/f16-x2', 0),
    ('sustp/u16-x2', 0),
    ('sustp/s32-x4', 0),
    ('weights/wide', 0),
    ('weights/norm-65536-0', 0),
    ('weights/norm-16384-0', 0),
    ('weights/norm-65536', 16),
    ('weights/norm', 11),
    ('weights/1d', 9),
    ('weights/', 8),
    ('arith/u16-3d', 0),
    ('arith/s16-3d', 0),
    ('arith/f16-3d', 0),
    ('arith/f32-3d-half', 0),
    ('arith/', 17),
    ('onehot/f32', 41),
    ('onehot/u8-3d', 16),
    ('onehot/', 0),
    ('srgb/linear', 7),
    ('read/f32', 7),
    ('read/u8', 3),
    ('read/s8', 3),
    ('read/u16-half', 0),
    ('read/s16-half', 0),
    ('read/f16-half', 0),
    ('read/', 61),
    ('address/3d', 4),
    ('address/', 5),
    ('border/', 8),
    ('integer/', 3),
    ('cube/1-66', 0),
    ('cube/', 9),
    ('level/sweep-0', 0),
    ('level/sweep', 13),
    ('level/', 5),
    ('blend/', 11),
    ('grad/1d', 13),
    ('grad/2d-100x37-0', 13),
    ('grad/', 0),
    ('cancel1/', 0),
    ('cancel/', 3),
    ('cancel8/', 4),
    ('cancel-levels/', 5),
    ('apart/', 3),
    ('blend3/', 12),
    ('level-size/20000-1', 8),
    ('level-size/', 0),
    ('size/low-65537-1-1', 3),
    ('size/', 0),
    ('plain/', 4),
    ('ilevel/2d-1.5', 5),
    ('ilevel/a2d-1.5', 5),
    ('ilevel/memory', 1),
    ('ilevel/1d-array', 1),
    ('ilevel/3d', 5),
    ('ilevel/', 0),
    ('srgb3/border-1', 7),
    ('srgb3/border-2', 7),
    ('srgb3/border', 0),
    ('srgb3/', 9),
    ('gsize/y', 7),
    ('gsize/', 11),
    ('gone/', 0),
    ('gtwo/random', 6),
    ('gtwo/sweep', 9),
    ('gtwo/', 0),
    ('grange/', 3),
    ('g3d/random-64-32-16', 5),
    ('g3d/pairs-64-32-16', 5),
    ('g3d/', 0),
    ('gcube/random', 5),
    ('gcube/', 5),
    ('random/', 5),
    ('an/hot', 3),
    ('an/', 0),  # the others have large textures
]


def step(name):
    return next((n for prefix, n in STEPS if name.startswith(prefix)), 1)


def blob(b):
    return struct.pack('<I', len(b)) + b + b'\0' * (-len(b) % 4)


def shortened(b):
    """Encodes pieces: literal words and the number of words that continue the sequence of the last two."""
    words = array.array('I', b + b'\0' * (-len(b) % 4))
    out, some, n = array.array('I'), array.array('I'), 0
    while n < len(words):
        more = n
        while 2 <= more < len(words) and words[more] == (2 * words[more - 1] - words[more - 2]) & 0xffffffff:
            more += 1
        if more - n > 2:
            out.extend([len(some), *some, more - n])
            some, n = array.array('I'), more
        else:
            some.append(words[n])
            n += 1
    if some:
        out.extend([len(some), *some, 0])
    return out.tobytes()


class Resources:
    """The resources of the previous cases."""

    def __init__(self):
        self.known, self.count = {}, 0

    def encode(self, b):
        self.count += 1
        first = self.known.setdefault(b, self.count)
        return (
            struct.pack('<2I', len(b), 0) + shortened(b) if first == self.count else struct.pack('<2I', len(b), first)
        )


def rows(words, width, n):
    return b''.join(words[k * width:(k + 1) * width].tobytes() for k in range(0, len(words) // width, n))


def kept(c):
    """Selects the rows of a case to keep. Large cases keep fewer rows than in the table, down to a third."""
    n, count = step(c['name']), len(c['rows']) // c['nin']
    if c['tex'] is None and not c['name'].startswith('suld'):
        return c['rows']
    return array.array('I', rows(c['rows'], c['nin'], n * min(max(count // (PLENTY * n), 1), 3)))


def encode(c, y, after, resources):
    r = c['res']
    return (
        blob(c['name'].encode())
        + blob(c['op'].encode())
        + struct.pack(
            '<9I',
            KINDS.index(r['kind']),
            format_of(r),
            r['ch'],
            r['w'],
            r['h'],
            r['d'],
            r['flags'],
            r['levels'],
            r.get('pitch', 0),
        )
        + resources.encode(r['data'])
        + blob(tex_desc(c['tex']) if c['tex'] is not None else b'')
        + struct.pack('<3I', c['nin'], c['nout'], len(c['rows']) // c['nin'])
        + c['rows'].tobytes()
        + y.tobytes()
        + blob(after)
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument('out')
    p.add_argument('--driver', default='libcuda.so.1')
    p.add_argument('--prefix', default='cu')
    p.add_argument('--only', default='')
    a = p.parse_args()
    driver = Driver(a.driver, a.prefix)
    print(driver.about)
    count = 0
    with open(os.path.join(a.out, 'textures.rec'), 'wb') as f:
        f.write(b'ptxitex2')
        resources = Resources()
        for c in all_cases():
            if not step(c['name']) or not c['name'].startswith(a.only):
                continue
            c['rows'] = kept(c)
            try:
                y, after = run(driver, c)
            except Failure as e:
                sys.exit('%s: %s' % (c['name'], e))
            f.write(encode(c, y, after, resources))
            count += 1
    print('%d cases' % count)


if __name__ == '__main__':
    main()
