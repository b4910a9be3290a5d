"""Runs the PTX that record.py has recorded with libptxi, with the same parameters, and compares all bytes of memory.

    compare.py LAUNCHES.pickle.gz [NAME...]
"""
import gzip
import pickle
import sys
import types

import numpy as np
import torch
import triton
import tutorials
from triton.tools.tensor_descriptor import TensorDescriptor

import ptxi
import ptxi_triton
from ptxi_triton import launcher

ptxi_triton.enable()
tutorials.allocate.device = 'cpu'
triton.set_allocator(tutorials.allocate)
with gzip.open(sys.argv[1]) as f:
    recorded = pickle.load(f)
print(recorded['info'])
wanted = sys.argv[2:]


def storages_of(launch):
    """Return the memory before a launch, by the addresses on the GPU."""
    storages = {}
    for address, data in launch['before'].items():
        raw = np.zeros(len(data) + 512, np.uint8)
        start = -raw.ctypes.data % 256
        storages[address] = raw[start:start + len(data)]
        storages[address][:] = np.frombuffer(data, np.uint8)
    return storages


def relocate(storages, moved):
    """Replace the addresses in memory that `moved` maps to others."""
    for s in storages.values():
        if moved and len(s) % 8 == 0:
            words = s.view(np.uint64)
            for old, new in moved.items():
                words[words == old] = new


def argument(d, storages):
    """Return an argument from its description."""
    if d[0] == 'value':
        return d[1]
    if d[0] == 'tuple':
        return tuple(argument(x, storages) for x in d[1])
    tensor = torch.from_numpy(storages[d[1]])[d[2]:].view(getattr(torch, d[3].split('.')[-1]))
    return tensor if d[0] == 'tensor' else TensorDescriptor(tensor, *d[4:8])


def replay(launch):
    """Run a launch. Return its memory afterwards, by the addresses on the GPU."""
    storages = storages_of(launch)
    moved = {address + offset: storages[address].ctypes.data + offset for address, offset in launch['pointed']}
    relocate(storages, moved)
    metadata = types.SimpleNamespace(**launch['metadata'])
    metadata.tensordesc_meta = getattr(metadata, 'tensordesc_meta', None) or None
    made = launcher.Launcher(types.SimpleNamespace(signature=launch['signature']), metadata)
    binary = launch['ptx'].encode() + (b'' if metadata.enable_fp_fusion else launcher.NO_FMA)
    _, function, *_ = launcher.load(metadata.name, binary, metadata.shared, ptxi.current())
    with ptxi_triton.opened(*(storages[address] for address, _ in launch['pointed'])):
        made(*launch['grid'], 0, function, (metadata.num_warps, metadata.num_ctas, metadata.shared), None, None, None,
             *(argument(d, storages) for d in launch['arguments']))
    relocate(storages, {new: old for old, new in moved.items()})
    return storages


def differences(launch):
    """Return the number of bytes that differ, and of all bytes."""
    got = replay(launch)
    wrong = total = 0
    for address, data in launch['after'].items():
        want = np.frombuffer(launch['before'][address] if data is None else data, np.uint8)
        wrong, total = wrong + int((want != got[address]).sum()), total + len(want)
    return wrong, total


different = 0
selected = [x for x in recorded['launches'] if not wanted or x['tutorial'] in wanted]
for launch in selected:
    wrong, total = differences(launch)
    different += wrong > 0
    print(launch['tutorial'], launch['metadata']['name'], launch['grid'], f'{wrong} of {total} bytes differ')
print(f'{len(selected)} launches, {different} with differences')
sys.exit(different > 0)
