import sys

sys.stdout.write(f"{2 * int(input())}  \r\n\r\n")
