"""Compares the race checks with a model: random kernels, whose races follow from the order of their barriers."""
import dataclasses
import os
import random
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import numpy as np
import pytest

ROUNDS = int(os.environ.get('PTXI_TEST_ROUNDS', '250'))
NEVER = 1 << 30


class Threads:
    """Numbers of all threads of a grid: in the grid, of the thread, lane, warp and block; and the other block of its
    cluster."""

    def __init__(self, count: int, block_size: int) -> None:
        self.count = count
        self.number = np.arange(count)
        self.block, self.thread = np.divmod(self.number, block_size)
        self.warp, self.lane = np.divmod(self.thread, 32)
        self.other_block = self.block ^ 1


# --- addresses: PTX that sets %r3 from %tid (%r0), lane (%r20), warp (%r21), number (%r22), and the same in numpy ---
INDICES: Dict[str, Tuple[str, Callable[[Threads, int], Any]]] = {
    'thread': ('mov.b32 %r3, %r0;', lambda t, x: t.thread),
    'low_bits': ('and.b32 %r3, %r0, {x};', lambda t, x: t.thread & x),
    'double': ('shl.b32 %r3, %r0, 1;', lambda t, x: 2 * t.thread),
    'swapped': ('xor.b32 %r3, %r0, {x};', lambda t, x: t.thread ^ x),
    'one_word': ('mov.b32 %r3, {x};', lambda t, x: x + 0 * t.thread),
    'groups': ('shr.u32 %r3, %r0, {x};', lambda t, x: t.thread >> x),
    'five_times': ('mul.lo.u32 %r3, %r0, 5;', lambda t, x: 5 * t.thread),
    'lane': ('mov.b32 %r3, %r20;', lambda t, x: t.lane),
    'warp': ('mov.b32 %r3, %r21;', lambda t, x: t.warp),
    'of_warp': ('mad.lo.u32 %r3, %r21, 32, {x};', lambda t, x: 32 * t.warp + x),
    'number': ('mov.b32 %r3, %r22;', lambda t, x: t.number),
    'next': ('add.u32 %r3, %r22, 1;', lambda t, x: t.number + 1),
    'reversed': ('mad.lo.u32 %r3, %r21, 32, 31; sub.u32 %r3, %r3, %r20;', lambda t, x: 32 * t.warp + 31 - t.lane),
}
GUARDS: Dict[str, Tuple[str, Callable[[Threads, int], Any]]] = {
    'below': ('setp.lt.u32 %p1, %r0, {x};', lambda t, x: t.thread < x),
    'bits': ('and.b32 %r5, %r0, {x}; setp.ne.u32 %p1, %r5, 0;', lambda t, x: (t.thread & x) != 0),
    'warp': ('setp.eq.u32 %p1, %r21, {x};', lambda t, x: t.warp == x),
}
WEAK = {
    ('ld', 1): 'u8 %r6, [{at}]', ('ld', 2): 'u16 %r6, [{at}]', ('ld', 4): 'u32 %r6, [{at}]',
    ('ld', 8): 'v2.u32 {{%r6, %r7}}, [{at}]', ('ld', 16): 'v4.u32 {{%r6, %r7, %r8, %r9}}, [{at}]',
    ('st', 1): 'u8 [{at}], %r1', ('st', 2): 'u16 [{at}], %r1', ('st', 4): 'u32 [{at}], %r1',
    ('st', 8): 'v2.u32 [{at}], {{%r1, %r1}}', ('st', 16): 'v4.u32 [{at}], {{%r1, %r1, %r1, %r1}}',
}
STRONG = {'ld': 'ld.relaxed.{scope}.{space}.u32 %r6, [{at}];', 'st': 'st.relaxed.{scope}.{space}.u32 [{at}], %r1;',
          'atom': 'atom.relaxed.{scope}.{space}.add.u32 %r6, [{at}], %r1;'}


@dataclasses.dataclass(eq=False)
class Access:
    """An instruction that accesses memory."""
    kind: str             # 'ld', 'st', 'atom', or 'copy': cp.async, which ends when its thread waits for it
    size: int
    scope: Optional[str]  # None: weak
    index: str
    x: int
    guard: Optional[Tuple[str, int]]
    remote: bool = False  # shared memory of the other block of the cluster
    line: int = 0

    def ptx(self, space: str, words: int) -> List[str]:
        lines = [INDICES[self.index][0].format(x=self.x),
                 f'and.b32 %r3, %r3, {4 * words // self.size - 1}; mul.wide.u32 %rd4, %r3, {self.size};',
                 'add.u64 %rd4, %rd4, %rd2;']
        guard = ''
        if self.guard:
            lines.append(GUARDS[self.guard[0]][0].format(x=self.guard[1]))
            guard = '@%p1 '
        if self.remote:
            lines.append('cvt.u32.u64 %r4, %rd4; mapa.shared::cluster.u32 %r4, %r4, %r23;')
            space = 'shared::cluster'
        return lines + [guard + self._instruction(space, '%r4' if self.remote else '%rd4')]

    def _instruction(self, space: str, at: str) -> str:
        if self.kind == 'copy':
            return f'cp.async.ca.shared.global [{at}], [%rd6], {self.size};'
        if self.scope:
            return STRONG[self.kind].format(scope=self.scope, space=space, at=at)
        return f'{self.kind}.{space}.{WEAK[self.kind, self.size]};'.format(at=at)

    def addresses(self, t: Threads, words: int) -> Any:
        return (INDICES[self.index][1](t, self.x) & (4 * words // self.size - 1)) * self.size

    def active(self, t: Threads) -> Any:
        return GUARDS[self.guard[0]][1](t, self.guard[1]) if self.guard else np.ones(t.count, bool)


class Wait:
    """Waits for the copies of the thread."""

    def ptx(self, space: str, words: int) -> List[str]:
        return ['cp.async.wait_all;']


Groups = List[Tuple[Any, Any]]  # for each group of threads that meet: those that arrive, and those that wait


@dataclasses.dataclass
class LaneBarrier:
    """A barrier of lanes of each warp."""
    lanes: int

    def ptx(self, space: str, words: int) -> List[str]:
        return [f'shr.u32 %r5, {self.lanes}, %r20; and.b32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;',
                f'@%p1 bar.warp.sync {self.lanes};']

    def groups(self, t: Threads) -> Groups:
        lanes = self.lanes >> t.lane & 1 == 1
        return [(group, group) for block in range(t.block[-1] + 1) for warp in range(t.warp.max() + 1)
                for group in [lanes & (t.block == block) & (t.warp == warp)]]


class BlockBarrier:
    """A barrier of all threads of the block."""

    def ptx(self, space: str, words: int) -> List[str]:
        return ['bar.sync 0;']

    def groups(self, t: Threads) -> Groups:
        return [(t.block == block, t.block == block) for block in range(t.block[-1] + 1)]


class ClusterBarrier:
    """A barrier of all threads of a cluster of two blocks."""

    def ptx(self, space: str, words: int) -> List[str]:
        return ['barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;']

    def groups(self, t: Threads) -> Groups:
        return [(t.block // 2 == cluster, t.block // 2 == cluster) for cluster in range((t.block[-1] + 1) // 2)]


@dataclasses.dataclass
class WarpBarrier:
    """A barrier of two warps of each block. The first may only arrive."""
    first: int
    second: int
    arrives: bool
    number: int

    def ptx(self, space: str, words: int) -> List[str]:
        return [f'setp.eq.u32 %p1, %r21, {self.first}; setp.eq.u32 %p2, %r21, {self.second};',
                f'@%p1 bar.{"arrive" if self.arrives else "sync"} {self.number}, 64;',
                f'@%p2 bar.sync {self.number}, 64;']

    def groups(self, t: Threads) -> Groups:
        result = []
        for block in range(t.block[-1] + 1):
            second = (t.block == block) & (t.warp == self.second)
            both = (t.block == block) & (t.warp == self.first) | second
            result.append((both, second if self.arrives else both))
        return result


@dataclasses.dataclass
class Mbarrier:
    """An mbarrier of each block, at which some warps arrive, and for which some wait."""
    arriving: List[int]
    waiting: List[int]
    number: int

    def ptx(self, space: str, words: int) -> List[str]:
        at = f'[mbarriers+{8 * self.number}]'
        lines = [f'setp.eq.u32 %p1, %r21, {warp}; @%p1 mbarrier.arrive.shared.b64 %rd7, {at};'
                 for warp in self.arriving]
        for warp in self.waiting:
            name = f'{self.number}_{warp}'
            lines += [f'setp.ne.u32 %p1, %r21, {warp}; @%p1 bra DONE{name};',
                      f'WAIT{name}: mbarrier.try_wait.parity.shared.b64 %p2, {at}, 0; @!%p2 bra WAIT{name};',
                      f'DONE{name}:']
        return lines

    def groups(self, t: Threads) -> Groups:
        arriving, waiting = np.isin(t.warp, self.arriving), np.isin(t.warp, self.waiting)
        return [((t.block == block) & arriving, (t.block == block) & waiting) for block in range(t.block[-1] + 1)]


class Kernel:
    """A random kernel without branches, for blocks of any number or, with clusters, for an even number of blocks.

    Stores write other values in each thread.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.clusters = rng.random() < 0.5
        self.space = rng.choice(['shared', 'global'])
        self.words = rng.choice([16, 32, 64, 256])
        self.threads = rng.choice([32, 64, 96, 128] if self.clusters else [32, 40, 64, 96, 128])
        self.blocks = rng.choice([2, 4] if self.clusters else [1, 2, 3])
        self.operations: List[Any] = [self._synchronization(rng, n) if rng.random() < 0.35 else self._access(rng)
                                      for n in range(1, rng.randint(4, 15))]
        if self.clusters:  # blocks have started before others access their memory, and exit later
            self.operations = [ClusterBarrier(), *self.operations, Wait(), ClusterBarrier()]

    def _synchronization(self, rng: random.Random, number: int) -> Any:
        warps = range((self.threads + 31) // 32)
        kind = rng.choice(['block', 'lanes', 'warps'] + ['cluster', 'mbarrier', 'wait'] * self.clusters)
        if kind == 'lanes':
            return LaneBarrier(rng.choice([0xffffffff, 0xffffffff, 0xffff, 0xff00ff00, 3]))
        if kind == 'warps' and len(warps) > 1 and self.threads % 32 == 0:
            return WarpBarrier(*rng.sample(warps, 2), rng.random() < 0.4, number)
        if kind == 'mbarrier':
            return Mbarrier(*(rng.sample(warps, rng.randint(1, len(warps))) for _ in range(2)), number)
        return ClusterBarrier() if kind == 'cluster' else Wait() if kind == 'wait' else BlockBarrier()

    def _access(self, rng: random.Random) -> Access:
        size = rng.choice([1, 2, 4, 4, 4, 4, 8, 16])
        kind = rng.choice(['ld', 'ld', 'st'])
        scope = rng.choice([None, None, 'cta', 'gpu']) if size == 4 else None
        remote = self.clusters and self.space == 'shared' and rng.random() < 0.3
        if scope and rng.random() < 0.4:
            kind = 'atom'
        elif self.clusters and self.space == 'shared' and size >= 4 and not scope and not remote and rng.random() < 0.3:
            kind = 'copy'
        guard = (rng.choice(list(GUARDS)), rng.choice([1, 2, 3, 8, 16, 20, 32, 48])) if rng.random() < 0.35 else None
        index = rng.choice(list(INDICES))
        x = rng.randint(1, 5) if index == 'groups' else rng.randint(0, 31)
        return Access(kind, size, scope, index, x, guard, remote)

    def ptx(self) -> str:
        """Return the text, and set the lines of accesses."""
        variable = f'.{self.space} .align 128 .b8 memory[{4 * self.words}];'
        mbarriers = [o for o in self.operations if isinstance(o, Mbarrier)]
        lines = ['.version 8.0', '.target sm_90', '.address_size 64', '.global .align 16 .b8 source[2048];',
                 variable if self.space == 'global' else '',
                 f'.visible .entry k() {".reqnctapercluster 2" if self.clusters else ""} {{',
                 variable if self.space == 'shared' else '', '.shared .align 8 .b8 mbarriers[128];',
                 '.reg .b32 %r<32>; .reg .b64 %rd<8>; .reg .pred %p<3>;',
                 'mov.u32 %r0, %tid.x; mov.u64 %rd2, memory; and.b32 %r20, %r0, 31; shr.u32 %r21, %r0, 5;',
                 'mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x; mad.lo.u32 %r22, %r10, %r11, %r0;',
                 'mov.u32 %r23, %cluster_ctarank; xor.b32 %r23, %r23, 1;',
                 'add.u32 %r1, %r22, 1; mul.lo.u32 %r1, %r1, 0x01010101;',
                 'mov.u64 %rd6, source; mul.wide.u32 %rd5, %r0, 16; add.u64 %rd6, %rd6, %rd5;',
                 'setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;']
        lines += [f'mbarrier.init.shared.b64 [mbarriers+{8 * o.number}], {32 * len(o.arriving)};' for o in mbarriers]
        lines += ['READY:', 'bar.sync 0;' if mbarriers else '']
        for operation in self.operations:
            lines += operation.ptx(self.space, self.words)
            if isinstance(operation, Access):
                operation.line = len(lines)
        return '\n'.join(lines + ['ret; }'])

    def depends_on_schedule(self, first: Access, second: Access) -> bool:
        """Whether a strong read may observe a strong write of the pair.

        Then the write happens before what follows the read (PTX ISA, "Causality Order"), so whether the two race
        depends on which of them comes first.
        """
        observes = any(isinstance(o, Access) and o.scope and o.kind != 'st' for o in self.operations)
        return observes and any(a.scope and a.kind != 'ld' for a in (first, second))

    def races(self) -> Set[Tuple[Access, Access]]:
        """Return the pairs of instructions that may race."""
        t = Threads(self.blocks * self.threads, self.threads)
        clock = np.eye(t.count, dtype='i4')  # clock[a, b]: what thread a knows of thread b
        own = clock.diagonal()
        seen: List[_Executed] = []
        for operation in self.operations:
            if isinstance(operation, Access):
                seen.append(_Executed(operation, clock.copy(), np.full(t.count, NEVER)))
                if operation.kind != 'copy':
                    seen[-1].end = own.copy()
            elif isinstance(operation, Wait):
                for e in seen:
                    e.end = np.minimum(e.end, own)
                clock[t.number, t.number] += 1
            else:
                for arrive, wait in operation.groups(t):
                    if arrive.any():
                        clock[wait] = np.maximum(clock[wait], clock[arrive].max(0))
                        clock[arrive, arrive.nonzero()[0]] += 1
        return {(a.access, b.access) for n, b in enumerate(seen) for a in seen[:n + 1] if self._race(t, a, b)}

    def _race(self, t: Threads, first: '_Executed', second: '_Executed') -> bool:
        """Whether some threads race, of which one executes the first access, and the other one the second."""
        a, b = first.access, second.access
        if a.kind == b.kind == 'ld':
            return False
        pairs = a.active(t)[:, None] & b.active(t)[None, :]
        if a is b or 'copy' not in (a.kind, b.kind):
            pairs &= t.number[:, None] != t.number[None, :]
        at, other = a.addresses(t, self.words)[:, None], b.addresses(t, self.words)[None, :]
        pairs &= (at < other + b.size) & (other < at + a.size)
        if self.space == 'shared':
            pairs &= self._owner(t, a)[:, None] == self._owner(t, b)[None, :]
        if a.scope and b.scope:
            pairs &= (t.block[:, None] != t.block[None, :]) & (a.scope != b.scope or a.scope != 'gpu')
        before = second.clock.T >= first.end[:, None]
        after = first.clock >= second.end[None, :]
        return bool((pairs & ~before & ~after).any())

    @staticmethod
    def _owner(t: Threads, access: Access) -> Any:
        return t.other_block if access.remote else t.block


@dataclasses.dataclass
class _Executed:
    """An access: the clocks of all threads when it begins, and each thread's own one when it has ended."""
    access: Access
    clock: Any
    end: Any


@pytest.mark.parametrize('first', range(0, ROUNDS, 50))
def test_random_kernels(ptxi, first):
    reported = wrong = 0
    for seed in range(first, min(first + 50, ROUNDS)):
        kernel = Kernel(seed)
        text = kernel.ptx()
        races = kernel.races()
        with ptxi.checking('race', fail=False) as checks:
            ptxi.loads(text).k[kernel.blocks, kernel.threads]()
        pairs = {tuple(sorted(site.ptx_line for site in f.sites)) for f in checks.findings}
        what = f'seed {seed}, {kernel.blocks} x {kernel.threads} threads: {pairs}\n{text}'
        assert not pairs or races, what
        assert pairs or all(kernel.depends_on_schedule(*pair) for pair in races), what
        reported += len(pairs)
        wrong += len(pairs - {(a.line, b.line) for a, b in races})
    # A record of several instructions of a warp names the last one.
    assert wrong <= reported // 50


def test_model():
    """Lanes write neighbouring words and read that of another lane, or all write one word."""
    kernel = Kernel(0)
    kernel.space, kernel.words, kernel.threads, kernel.blocks = 'shared', 64, 64, 2
    write, read = Access('st', 4, None, 'thread', 0, None), Access('ld', 4, None, 'swapped', 1, None)
    one_word, copy = Access('st', 4, None, 'one_word', 5, None), Access('copy', 4, None, 'thread', 0, None)
    remote = Access('ld', 4, None, 'thread', 0, None, remote=True)
    whole, part, block = LaneBarrier(0xffffffff), LaneBarrier(0xfffe), BlockBarrier()
    cases = [([write, read], 1), ([write, block, read], 0), ([write, whole, read], 0), ([write, part, read], 1),
             ([one_word], 1), ([read, WarpBarrier(0, 1, False, 1), write], 0), ([write, block, remote], 1),
             ([write, ClusterBarrier(), remote], 0), ([copy, block, read], 1), ([copy, Wait(), block, read], 0),
             ([copy, block, Wait(), read], 1), ([write, Mbarrier([0, 1], [0, 1], 0), read], 0)]
    for kernel.operations, count in cases:
        assert len(kernel.races()) == count
