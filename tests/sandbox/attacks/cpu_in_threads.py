# CPU_LIMIT
import hashlib, threading
def work():
    while True:
        hashlib.sha512(bytes(1 << 20))
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
work()
