"""Cases of textures.py for anisotropic ellipses: sample positions and weights along the longer axis."""
import math
import random
from texture_cases import *

Q = random.Random(4711)
G2 = tex('2d', mode='.grad', tail=', {%c2,%c3}, {%c4,%c5}')


def T2(a, filter=LINEAR, addr=CLAMP, flags=NORM | NOTRI, **k):
    return T(filter, addr, flags, aniso=a, **k)


def row(p, dx, dy, n=256.0):
    return tuple(fb(v) for v in (p[0], p[1], dx[0] / n, dx[1] / n, dy[0] / n, dy[1] / n))


def grid_of(f, w, h, ch=4):
    return res(ch=ch, w=w, h=h, data=b''.join(floats(*f(x, y)) for y in range(h) for x in range(w)))


def rnd_dir():
    t = Q.uniform(0, 2 * math.pi)
    return math.cos(t), math.sin(t)


def rnd_grad(minor=(-3, 5), ratio=5.0):
    """Returns gradients in texels that give an ellipse with a random shape."""
    m, r = 2 ** Q.uniform(*minor), 2 ** Q.uniform(-.2, ratio)
    u = rnd_dir()
    k = Q.randrange(4)
    a, b = (u[0] * m * r, u[1] * m * r), (-u[1] * m, u[0] * m)
    if k == 1:
        a, b = b, a
    elif k > 1:
        a, b = (a[0] / 2 + b[0], a[1] / 2 + b[1]), (b[0] - a[0] / 2, b[1] - a[1] / 2)
        if k == 3:
            b = (-b[0], -b[1])
    return a, b


def ellipses():
    wing = grid_of(lambda x, y: (abs(x - 128), abs(y - 128), (x - 128) ** 2, (y - 128) ** 2), 256, 256)
    c = (128.5 / 256, 128.5 / 256)
    rows = []
    for e in range(6):
        for i in range(32):
            for j in range(32):
                a, b = 8 * (1 + i / 32), 8 * (1 + j / 32) / 2 ** e
                rows.append(row(c, (a, b), (-b / 40, a / 40)))
    case('an/dir', G2, wing, T2(16), rows, 4)
    rows = []
    for i in range(6):
        for e in range(3):
            for j in range(512):
                a, b = 8 * (1 + i / 6), 8 * (1 + j / 512) / 2 ** e
                rows.append(row(c, (a, b), (-b / 40, a / 40)))
                if j % 4 == 0:
                    rows.append(row(c, (b, -a), (a / 40, b / 40)))
    case('an/dir-fine', G2, wing, T2(16), rows, 4)
    rows = []
    for k in range(3000):
        a = Q.choice((-1, 1)) * 2 ** Q.uniform(2, 4), Q.choice((-1, 1)) * 2 ** Q.uniform(2, 4) * 2 ** -Q.choice(
            (0, 0, 1, 2, 3)
        )
        b = -a[1] / 40, a[0] / 40
        k %= 3
        d = (a, b) if k == 0 else ((a[0] / 2 + b[0], a[1] / 2 + b[1]), (a[0] / 2 - b[0], a[1] / 2 - b[1]))
        if k == 2:
            d = d[0], (-d[1][0], -d[1][1])
        rows.append(row(c, *d))
    case('an/dir-kinds', G2, wing, T2(16), rows, 4)
    rows = []
    for q in range(0, 1040):
        rows.append(row(c, (2 ** (q / 256), 0), (0, 1)))
        rows.append(row(c, (0, -2 ** (q / 256) * 1.5), (1.5, 0)))
    for a in (2, 4, 8, 16):
        case('an/q-%d' % a, G2, wing, T2(a), rows, 4)
    rows = [row(c, *rnd_grad((-1, 1))) for _ in range(2500)]
    for a in (2, 4, 8, 16):
        case('an/wing-%d' % a, G2, wing, T2(a), rows, 4)
    # a half plane: the weight of each side
    side = grid_of(lambda x, y: (max(0, x - 128), max(0, 128 - x), max(0, y - 128), max(0, 128 - y)), 256, 256)
    case('an/side-16', G2, side, T2(16), rows[:1200], 4)
    case('an/side-4', G2, side, T2(4), rows[1200:1800], 4)
    # single texels: the rounding of the weights
    hot = res(ch=1, w=64, h=64, data=floats(*[1.0 if (x, y) == (32, 32) else 0 for y in range(64) for x in range(64)]))
    rows = []
    for k in range(5000):
        d = rnd_grad((-.2, .2), 4.3)
        m = d[0] if math.hypot(*d[0]) > math.hypot(*d[1]) else d[1]
        n = math.hypot(*m)
        t = Q.uniform(-n / 2 - .5, n / 2 + .5)
        p = 32.5 + m[0] / n * t + Q.uniform(-.8, .8), 32.5 + m[1] / n * t + Q.uniform(-.8, .8)
        rows.append(row((p[0] / 64, p[1] / 64), *d, n=64.0))
    for a in (4, 16):
        case('an/hot-%d' % a, G2, hot, T2(a), rows, 1)
