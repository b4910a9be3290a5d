"""Runs tutorials.py and features.py on a GPU, and records each launch: PTX, parameters, and memory before and after.

    record.py LAUNCHES.pickle.gz        on a machine with a GPU, PyTorch and Triton 3.6 or later

compare.py runs the recorded PTX with libptxi.
"""
import contextlib
import gzip
import pickle
import sys

import features
import torch
import triton
import triton.compiler.compiler as compiler
import tutorials
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = torch.device('cuda')
FIELDS = ('name', 'num_warps', 'num_ctas', 'shared', 'launch_cooperative_grid', 'launch_pdl', 'global_scratch_size',
          'global_scratch_align', 'profile_scratch_size', 'profile_scratch_align', 'tensordesc_meta',
          'enable_fp_fusion', 'cluster_dims')
launches, extra = [], []
current = None


class Storages:
    """The storages of a launch by their addresses."""

    def __init__(self):
        self.by_address = {}

    def add(self, tensor):
        """Add the storage of a tensor. Return its address, and the offset of the tensor."""
        s = tensor.untyped_storage()
        self.by_address.setdefault(s.data_ptr(), s)
        return s.data_ptr(), tensor.data_ptr() - s.data_ptr()

    def bytes(self):
        """Return the contents of the storages by their addresses."""
        torch.cuda.synchronize()
        out = {}
        for address, s in self.by_address.items():
            t = torch.empty(0, dtype=torch.uint8, device=DEVICE).set_(s)
            out[address] = t.cpu().numpy().tobytes()
        return out


def describe(x, storages):
    """Return an argument as compare.py reads it."""
    if x is None or isinstance(x, (bool, int, float, str)):
        return ('value', x)
    if isinstance(x, torch.Tensor):
        return ('tensor', *storages.add(x), str(x.dtype))
    if isinstance(x, TensorDescriptor):
        return ('descriptor', *storages.add(x.base), str(x.base.dtype), list(x.shape), list(x.strides),
                list(x.block_shape), x.padding, bool(getattr(x, 'round_f32_to_tf32', False)))
    if isinstance(x, tuple):
        return ('tuple', [describe(y, storages) for y in x])
    if hasattr(x, 'base') and hasattr(x, 'data_ptr'):
        return describe(x.base, storages)
    return ('value', None)  # a constexpr that is no number


class Recorder:
    """Launches a kernel in place of Triton's launcher, and records the launch."""

    def __init__(self, kernel, run):
        self.kernel, self.run = kernel, run

    def __getattr__(self, name):
        return getattr(self.run, name)

    def __call__(self, x, y, z, stream, function, packed, metadata, enter, leave, *arguments):
        storages = Storages()
        described = [describe(a, storages) for a in arguments]
        pointed = [storages.add(t) for t in extra]
        before = storages.bytes()
        self.run(x, y, z, stream, function, packed, metadata, enter, leave, *arguments)
        after = storages.bytes()
        m, src = self.kernel.metadata, self.kernel.src
        launches.append({
            'tutorial': current, 'grid': (int(x), int(y), int(z)), 'ptx': self.kernel.asm['ptx'],
            'metadata': {f: getattr(m, f) for f in FIELDS if hasattr(m, f)},
            'signature': dict(src.signature), 'arguments': described, 'pointed': pointed,
            'before': before, 'after': {a: (None if b == before[a] else b) for a, b in after.items()},
        })


init = compiler.CompiledKernel._init_handles


def init_handles(self):
    """Load a kernel, and let a Recorder launch it."""
    first = self.module is None
    init(self)
    if first:
        self._run = Recorder(self, self._run)


compiler.CompiledKernel._init_handles = init_handles


@contextlib.contextmanager
def opened(*tensors):
    """Record tensors that kernels find through addresses in memory."""
    extra.extend(tensors)
    yield
    del extra[:]


tutorials.opened = opened
for current, function in {**tutorials.TUTORIALS, **features.FEATURES}.items():
    function(DEVICE)
info = {'triton': triton.__version__, 'torch': torch.__version__, 'device': torch.cuda.get_device_name()}
with gzip.open(sys.argv[1], 'wb', 6) as f:
    pickle.dump({'info': info, 'launches': launches}, f)
print(info, len(launches), 'launches')
