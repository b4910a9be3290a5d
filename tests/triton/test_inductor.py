"""torch.compile with Inductor's Triton code on tensors of the CPU."""
import pytest
import torch
import torch._inductor.config
from torch._inductor.utils import run_and_get_code


@pytest.fixture(autouse=True)
def inductor():
    """Let Inductor write Triton kernels for the CPU, and compile them in this process."""
    torch._dynamo.reset()
    with torch._inductor.config.patch(cpu_backend='triton', compile_threads=1, force_disable_caches=True):
        yield


def compiled(function, *arguments):
    """Return the result of a function that torch compiles. Asserts that it ran Triton kernels."""
    result, codes = run_and_get_code(torch.compile(function, fullgraph=True), *arguments)
    assert any('triton_heuristics' in code and '@triton.jit' in code for code in codes)
    return result


def test_pointwise():
    x, y = torch.randn(1000), torch.randn(1000)
    assert torch.equal(compiled(lambda x, y: torch.relu(x * 2 + y) - 1, x, y), torch.relu(x * 2 + y) - 1)


def test_functions():
    x = torch.rand(33, 65) + 0.5
    function = lambda x: torch.sin(x) + torch.exp(-x) * torch.tanh(x) + torch.rsqrt(x)  # noqa: E731
    torch.testing.assert_close(compiled(function, x), function(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('shape', [(16, 100), (3, 5000), (1, 100000)])
def test_softmax_and_sums(shape):
    x = torch.randn(shape)
    torch.testing.assert_close(compiled(lambda x: torch.softmax(x, 1), x), torch.softmax(x, 1), rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(compiled(lambda x: x.sum(0) + x.var(), x), x.sum(0) + x.var(), rtol=1e-4, atol=1e-4)


def test_layer_norm_and_its_gradient():
    torch.manual_seed(0)
    x, weight, bias = torch.randn(20, 64), torch.randn(64), torch.randn(64)

    def loss(x, weight, bias):
        return torch.nn.functional.gelu(torch.nn.functional.layer_norm(x, (64,), weight, bias)).square().sum()

    def gradients(function):
        leaves = [t.clone().requires_grad_() for t in (x, weight, bias)]
        function(*leaves).backward()
        return [t.grad for t in leaves]

    for got, want in zip(gradients(torch.compile(loss)), gradients(loss)):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_indexing_views_and_types():
    x, at = torch.randn(50, 40), torch.randint(0, 50, (30,))
    function = lambda x, at: ((x[at, ::2] * 10).int().float().T + at.float()).contiguous()  # noqa: E731
    assert torch.equal(compiled(function, x, at), function(x, at))


def test_random_numbers_and_dropout():
    x = torch.ones(4000)
    torch.manual_seed(1)
    out = compiled(lambda x: torch.nn.functional.dropout(x, 0.25), x)
    assert 0.2 < (out == 0).float().mean() < 0.3
    torch.testing.assert_close(out[out != 0], torch.full((1,), 4 / 3).expand(int((out != 0).sum())))


def test_dynamic_shapes():
    function = torch.compile(lambda x: x.cos() * 2, dynamic=True)
    for n in (10, 100, 1000):
        x = torch.randn(n)
        torch.testing.assert_close(function(x), x.cos() * 2)


def test_a_model():
    torch.manual_seed(2)
    layers = torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8)
    model = torch.nn.Sequential(*layers)
    x = torch.randn(16, 32)
    with torch.no_grad():
        torch.testing.assert_close(compiled(model, x), model(x), rtol=1e-4, atol=1e-5)


def test_sort():
    x = torch.randn(4, 100)
    x[0, 5], x[1, 3:9] = float('nan'), 0.5
    for got, want in zip(compiled(lambda x: x.sort(stable=True, dim=1), x), x.sort(stable=True, dim=1)):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
