import os

print(2 * int(input()))  # never flushed, as in any Python
os._exit(0)
