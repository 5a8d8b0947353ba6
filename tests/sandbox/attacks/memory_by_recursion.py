# MEMORY_LIMIT or SIGNALED SIGSEGV
import threading
sys.setrecursionlimit(10**9)
threading.stack_size(512 << 20)
def deeper(n):
    data = bytearray(1 << 16)
    return deeper(n + 1) + len(data) if n < 30_000 else 0
failed = []
def run():
    try:
        deeper(0)
    except MemoryError:
        failed.append(1)
try:
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
except RuntimeError:
    pass
raise MemoryError
