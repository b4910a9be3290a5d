"""Compares the kernels of tutorials.py with torch, and where the order of operations is known, bit by bit."""
import math

import pytest
import torch
import tutorials

import ptxi_triton

CPU = torch.device('cpu')


@pytest.fixture
def run(monkeypatch):
    """A function that runs a tutorial by its name."""
    monkeypatch.setattr(tutorials, 'opened', ptxi_triton.opened)
    return lambda name: tutorials.TUTORIALS[name](CPU)


def close(got, want, tolerance):
    """Assert that the largest difference is small, relative to the largest number."""
    difference = (got.double() - want.double()).abs().max() / want.double().abs().max()
    assert difference < tolerance, f'the relative difference is {difference:.2g}'
    assert torch.isfinite(got.float()).all()


def test_vector_add(run):
    r = run('vector_add')
    assert torch.equal(r['out'], r['x'] + r['y'])


def test_softmax(run):
    r = run('softmax')
    close(r['out'], torch.softmax(r['x'].double(), 1), 1e-6)


@pytest.mark.parametrize('name', ['matmul', 'matmul_fp8', 'matmul_cluster'])
def test_matmul(run, name):
    r = run(name)
    b = r['b'].double().T if name == 'matmul_fp8' else r['b'].double()
    want = r['a'].double() @ b
    close(r['c'], want, 1e-3)
    if 'leaky' in r:
        close(r['leaky'], torch.where(want >= 0, want, 0.01 * want), 1e-3)


def test_matmul_tf32(run):
    r = run('matmul_tf32')
    close(r['c'], r['a'].double() @ r['b'].double(), 2e-3)


def test_matmul_of_integers_is_exact():
    """Sums of small integers have no rounding errors, so every bit is known."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randint(-16, 17, s, generator=generator).half() for s in ((136, 104), (104, 72)))
    for options in ({}, {'num_warps': 8, 'BM': 128}, {'num_stages': 1}, {'num_ctas': 2, 'BM': 128}):
        assert torch.equal(tutorials.run_matmul(a, b, dtype=torch.float32, **options), a.float() @ b.float())


def test_dropout(run):
    r = run('dropout')
    x, kept = r['x'], {seed: r[f'out{seed}'] != 0 for seed in (123, 512)}
    for seed, mask in kept.items():
        close(r[f'out{seed}'][mask], (x.double() / (1 - 0.4))[mask], 1e-6)
        assert 0.55 < mask.float().mean() < 0.65
    assert not torch.equal(*kept.values())
    again = run('dropout')
    assert torch.equal(r['out123'], again['out123'])


def test_layer_norm(run):
    r = run('layer_norm')
    x, weight, bias = (r[k].double().requires_grad_() for k in ('x', 'weight', 'bias'))
    y = torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, 1e-5)
    y.backward(r['dy'].double())
    close(r['y'], y.detach(), 1e-3)
    for name, want in (('dx', x.grad), ('dw', weight.grad), ('db', bias.grad)):
        close(r[name], want, 1e-3)


@pytest.mark.parametrize('causal', [False, True])
def test_attention(run, causal):
    r = run('attention_causal' if causal else 'attention')
    q, k, v = (r[name].double().requires_grad_() for name in 'qkv')
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[1:], dtype=torch.bool).tril(), -math.inf)
    out = torch.softmax(scores, 2) @ v
    out.backward(r['dout'].double())
    close(r['out'], out.detach(), 3e-3)
    for name, x in zip(('dq', 'dk', 'dv'), (q, k, v)):
        close(r[name], x.grad, 6e-3)


def test_group_gemm(run):
    r = run('group_gemm')
    for i in range(3):
        close(r[f'c{i}'], r[f'a{i}'].double() @ r[f'b{i}'].double(), 1e-3)


@pytest.mark.parametrize('name', ['matmul_persistent', 'matmul_tma', 'matmul_descriptor'])
def test_persistent_matmul(run, name):
    r = run(name)
    close(r['c'], r['a'].double() @ r['b'].double().T, 1e-3)


def test_three_ways_to_load_a_matrix_have_one_result(run):
    results = [run(name)['c'] for name in ('matmul_tma', 'matmul_descriptor')]
    assert torch.equal(*results)


def test_libdevice(run):
    r = run('libdevice')
    x = r['x'].double()
    close(r['out'], torch.asin(x) + torch.erf(x) * 2 ** x, 1e-6)


def test_all_tutorials_are_tested():
    source = open(__file__).read()
    assert [name for name in tutorials.TUTORIALS if f"'{name}'" not in source] == []
