import sys

print(2 * int(input()))
while True:
    sys.stderr.write("x" * 65536)
