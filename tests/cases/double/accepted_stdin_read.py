import sys

sys.stdout.write(str(2 * int(sys.stdin.read())))
