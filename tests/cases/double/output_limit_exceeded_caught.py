import os

try:
    for _ in range(1000):
        os.write(1, b"x" * 65536)
except OSError:
    pass
