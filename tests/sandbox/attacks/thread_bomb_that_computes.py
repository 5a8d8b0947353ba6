# THREAD_LIMIT or CPU_LIMIT
# At most 3,000 threads, each of which computes outside of the interpreter's lock for a moment.
import hashlib, threading
threading.stack_size(65536)
def work():
    for _ in range(100):
        hashlib.sha256(bytes(1 << 20))
try:
    for _ in range(3000):
        threading.Thread(target=work, daemon=True).start()
except RuntimeError:
    while True:
        pass
while True:
    pass
