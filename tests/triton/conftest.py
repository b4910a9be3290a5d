"""All tests in this directory run Triton kernels with libptxi."""
import pytest

import ptxi_triton


@pytest.fixture(autouse=True)
def backend():
    """Enable the backend for a test."""
    with ptxi_triton.enabled():
        yield
