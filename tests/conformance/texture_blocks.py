"""Cases of textures.py for block formats: all end point values and all modes."""
import random
from texture_cases import *

MANY, ROW = 512, 256  # blocks; in a row


def pairs(q):
    """End points of 5 and 6 bits in both orders; texels 0 to 3 have codes 0 to 3."""
    out = []
    for k in range(4096):
        r, g, b = (k % 32, k // 32 % 32), (k % 64, k // 64), (q.randrange(32), q.randrange(32))
        c = [r[e] << 11 | g[e] << 5 | b[e] for e in (0, 1)]
        for first, second in (c, c[::-1]):
            out.append(struct.pack('<HHI', first, second, 0xe4 | q.getrandbits(24) << 8))
    return out


def blocks_of(fmt, q):
    size = BLOCKS[fmt][1]
    by = lambda n: bytes(q.randrange(256) for _ in range(n))
    if fmt == 'bc1':
        return pairs(q)
    if fmt in ('bc4', 'bc4m'):
        codes = sum(k << 3 * k for k in range(8)) | sum((7 - k) << 3 * (k + 8) for k in range(8))
        return [bytes((a, b)) + codes.to_bytes(6, 'little') for a in range(256) for b in range(256)]
    if fmt[:3] == 'bc7':
        out = []
        for k in range(8192 if fmt == 'bc7' else 1024):
            m, v = k % 9, q.getrandbits(128)
            v = v >> (m + 1) << (m + 1) | (1 << m if m < 8 else 0)
            out.append((v & ~0xff if m == 8 else v).to_bytes(16, 'little'))
        return out
    if fmt[:3] == 'bc6':
        out = []
        for k in range(16384):
            v = q.getrandbits(128)
            if k % 8 == 7:
                v = (
                    v & ~31 | 3 | q.choice((16, 20, 24, 28, 0, 4, 8, 12))
                )  # modes with one part, and undefined modes
            out.append(v.to_bytes(16, 'little'))
        return out
    return [by(size) for _ in range(2048)]


def blocks():
    for fmt in BLOCKS:
        all_ = blocks_of(fmt, random.Random(99))
        step = len(all_) // ROW // 2 * ROW  # two rows: the first and the middle one
        some = all_[:ROW] + all_[step:step + ROW]
        r = res(
            fmt=fmt,
            ch=1 if fmt[:3] == 'bc4' else 2 if fmt[:3] == 'bc5' else 3 if fmt[:3] == 'bc6' else 4,
            w=4 * ROW,
            h=4 * MANY // ROW,
            data=b''.join(some),
        )
        texels = [(x, y) for y in range(4) for x in range(4)][:4 if fmt == 'bc1' else 8 if fmt[:3] == 'bc4' else 16]
        rows = [
            (fb(4 * (k % ROW) + x + 0.5), fb(4 * (k // ROW) + y + 0.5))
            for k in range(MANY)
            for n in (0, 1)
            for x, y in (texels[(k * 5 + n * 3) % len(texels)],)
        ]
        one = r['ch'] == 1
        case(
            'block/' + fmt,
            tex('2d').replace('%d1,%d2,%d3', '_,_,_') if one else tex('2d'),
            r,
            T(POINT, CLAMP, SRGB if fmt[-1] == 's' else 0),
            rows,
            1 if one else 4,
        )
