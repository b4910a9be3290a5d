"""Compares the kernels of features.py with torch."""
import features
import pytest
import torch
from test_tutorials import close

CPU = torch.device('cpu')


def run(name):
    """Return the tensors of a feature."""
    return features.FEATURES[name](CPU)


def test_reductions():
    r = run('reductions')
    for axis, warps in ((0, 4), (1, 4), (1, 8)):
        close(r[f'sums{axis}{warps}'], r['x'].double().sum(axis), 1e-6)
        value, index = r['x'].max(axis)
        assert torch.equal(r[f'largest{axis}{warps}'], value) and torch.equal(r[f'where{axis}{warps}'], index.int())


@pytest.mark.parametrize('reverse', [0, 1])
def test_scans(reverse):
    r = run('scans')
    x = r['x'].double().flip(0) if reverse else r['x'].double()
    line, lines = 0, []
    for v in x.tolist():
        line = line * v * 0.5 + v
        lines.append(line)
    turn = (lambda t: t.flip(0)) if reverse else (lambda t: t)
    close(turn(r[f'sums{reverse}']), x.cumsum(0), 1e-5)
    close(turn(r[f'lines{reverse}']), torch.tensor(lines), 1e-5)


def test_sorting():
    r = run('sorting')
    assert torch.equal(r['out'], r['x'].sort(1, descending=True).values)
    assert torch.equal(r['counts'], (r['x'] % 16).flatten().bincount(minlength=16).int())
    assert torch.equal(r['picked'], r['x'].gather(1, r['index'].long()))


def test_mathematics():
    r = run('mathematics')
    x = r['x'].double()
    positive = x.abs() + 0.01
    want = [x.exp(), positive.log(), x.sin() + x.cos(), positive.sqrt() + positive.rsqrt(),
            positive.sqrt() + x / positive, x.erf() + (x * 3).floor() + (x * 5).ceil(),
            x.sigmoid() / (1.5 + x.exp2() + positive.log2()), x * positive + x + x.clamp(-0.5, 0.5)]
    for got, exact in zip(r['out'], want):
        close(got, exact, 1e-4)


def test_casts():
    r = run('casts')
    for name in ('float16', 'bfloat16', 'float8_e5m2', 'float8_e4m3fn', 'int32'):
        want = r['x'].to(getattr(torch, name))
        if name == 'float8_e4m3fn':
            want = r['x'].clamp(-448, 448).to(torch.float8_e4m3fn)
        assert torch.equal(r[name].view(torch.uint8), want.view(torch.uint8)), name


def test_products():
    r = run('products')
    a, b = r['a'].double(), r['b'].double()
    for name, tolerance in (('ieee_float32', 1e-6), ('tf32_float32', 2e-3), ('tf32x3_float32', 1e-6),
                            ('tf32_bfloat16', 1e-2), ('tf32_float16', 2e-3), ('ieee_float64', 1e-14)):
        close(r[name], a @ b, tolerance)
    left, right = ((t * 20).to(torch.int8).int() for t in (r['a'], r['b']))
    assert torch.equal(r['tf32_int8'], left @ right)


def test_atomics():
    r = run('atomics')
    x = r['x']
    assert r['total'].tolist() == [int(x[x % 7 == i].sum()) for i in range(7)]
    assert r['largest'].item() == 3999 and r['turns'].item() == 16


def test_random_numbers():
    r = run('random_numbers')
    assert abs(r['out'].mean()) < 0.1 and 0.9 < r['out'].std() < 1.1 and r['integers'].unique().numel() == 2000


def test_shapes():
    r = run('shapes')
    x, out = r['x'], r['out'].reshape(3, -1)
    left, right = x[:, 0::2], x[:, 1::2]
    assert torch.equal(out[0].reshape(2, 32, 32), torch.stack([right, left]))
    assert torch.equal(out[1].reshape(64, 32), x.T) and torch.equal(out[2].reshape(32, 64), x.flip(1))


def test_descriptors():
    r = run('descriptors')
    out = torch.full((64, 64), torch.nan)
    out[:40, :48] = r['x'][1]
    assert torch.equal(r['out'].nan_to_num(-1), out.nan_to_num(-1))
    blocks = out.nan_to_num(0).reshape(2, 32, 2, 32).sum((0, 2)).int()
    assert torch.equal(r['total'], blocks)


def test_assembly():
    r = run('assembly')
    reversed_bytes = r['x'].view(torch.uint8).reshape(-1, 4).flip(1).contiguous().view(torch.int32).flatten()
    assert torch.equal(r['out'], reversed_bytes)


def test_all_features_are_tested():
    source = open(__file__).read()
    assert [name for name in features.FEATURES if f"run('{name}')" not in source] == []
