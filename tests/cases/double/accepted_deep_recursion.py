import sys

sys.setrecursionlimit(10**6)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


assert depth(20_000) == 20_000
print(2 * int(input()))
