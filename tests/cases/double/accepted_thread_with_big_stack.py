import sys
import threading

sys.setrecursionlimit(1 << 20)
threading.stack_size(1 << 27)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def main():
    assert depth(50_000) == 50_000
    print(2 * int(input()))


thread = threading.Thread(target=main)
thread.start()
thread.join()
