import sys

line = sys.stdin.buffer.readline()
sys.stdout.buffer.write(b"%d\n" % (2 * int(line)))
