"""Parts of work for jobs that know only their number, such as those of a Slurm array."""
import os
import re
import zlib
from typing import Any, NamedTuple, Optional, Union


class Shard(NamedTuple):
    """Part `index` of `count` parts, from 0. `str()` is the form of the option --shard, from 1: '1/4' is the first."""
    index: int  # type: ignore[assignment]  # tuple has methods of these names
    count: int  # type: ignore[assignment]

    def __str__(self) -> str:
        return f'{self.index + 1}/{self.count}'

    def bounds(self, total: int) -> 'tuple[int, int]':
        """Return the begin and the end of the part of `total` things."""
        return total * self.index // self.count, total * (self.index + 1) // self.count

    def has(self, name: str) -> bool:
        """Return whether something with this name belongs to the part. Every process gives the same answer."""
        return zlib.crc32(name.encode()) % self.count == self.index


def shard(text: Union[str, Shard, None] = None) -> Optional[Shard]:
    """Return the part that a text such as '2/8' means.

    Without a text, the environment variable PTXI_SHARD is used. Without that, the result is None.
    """
    text = os.environ.get('PTXI_SHARD') if text is None else text
    if isinstance(text, Shard) or not text:
        return text if isinstance(text, Shard) else None
    found = re.fullmatch(r'(\d+)/(\d+)', text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f'{text!r} is not a shard; use I/N with I from 1 to N, such as 2/8')
    return Shard(int(found[1]) - 1, int(found[2]))


def part_of(items: Any, which: Union[str, Shard, None]) -> Any:
    """Return the part of a sequence."""
    part = shard(which)
    return items if part is None else items[slice(*part.bounds(len(items)))]
