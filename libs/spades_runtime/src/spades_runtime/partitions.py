"""Which partition holds a key: Kafka's default partitioner, so every client agrees."""

from functools import lru_cache

_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Return Kafka's 32-bit murmur2 of `data`, unsigned."""
    length = len(data)
    h = (0x9747B28C ^ length) & _MASK
    whole = length & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little")
        k = (k * _M) & _MASK
        k ^= k >> 24
        k = (k * _M) & _MASK
        h = ((h * _M) & _MASK) ^ k
    if length & 3:
        h ^= int.from_bytes(data[whole:], "little")
        h = (h * _M) & _MASK
    h ^= h >> 13
    h = (h * _M) & _MASK
    return h ^ (h >> 15)


@lru_cache(maxsize=65_536)
def partition_of_bytes(key: bytes, count: int) -> int:
    """Return the partition of an encoded key."""
    return (murmur2(key) & 0x7FFFFFFF) % count


def partition_of(key: str, count: int) -> int:
    """Return the partition of a key among `count` partitions, as Kafka's default partitioner does."""
    return partition_of_bytes(key.encode(), count)
