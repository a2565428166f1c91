"""Integers that mostly increase, as a string of bits: what native/gaps.hpp writes eight to a byte, the first lowest."""

RESTART, LARGE, WINDOW, MOST = 16, 17, 1024, 32


class Sizes:
    """The k of the Rice code: 2^k is at most the mean of the gaps."""

    def __init__(self):
        self.sum, self.n, self.k = 0, 0, 0

    def learn(self, gap):
        self.sum, self.n = self.sum + min(gap, 2**40), self.n + 1
        if self.n == WINDOW:
            self.sum, self.n = self.sum // 2, self.n // 2
        self.k = max(k for k in range(MOST + 1) if k == 0 or self.n * 2**k <= self.sum)


def gaps_as_bits(values):
    """The bits, as a string of 0 and 1."""
    sizes, found, before = {}, [], None
    for value in map(int, values):
        if before is None:
            found.append(_coded(value, sizes.setdefault(0, Sizes())))
        elif value > before:
            found.append(_coded(value - before - 1, sizes.setdefault(_size_of(before), Sizes())))
        else:
            found.append("0" * RESTART + "1" + _coded(value, sizes.setdefault("restart", Sizes())))
        before = value
    return "".join(found)


def _size_of(before):
    """Its length in bits, and the bit after the highest; 0 is also the size before the first."""
    return 0 if before == 0 else (before.bit_length(), f"{before:b}0"[1])


def _coded(gap, size):
    k, length = size.k, gap.bit_length()
    high = gap >> k
    size.learn(gap)
    if high < RESTART:
        return "0" * high + "1" + _lowest_first(gap % 2**k, k)
    return "0" * LARGE + "1" + _lowest_first(length, 7) + _lowest_first(gap, length)


def _lowest_first(value, n):
    return "".join(str(value >> i & 1) for i in range(n))
