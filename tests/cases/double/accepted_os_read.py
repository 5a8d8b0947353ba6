import os

os.write(1, str(2 * int(os.read(0, 100))).encode())
