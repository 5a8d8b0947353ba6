import fileinput

for line in fileinput.input():
    print(2 * int(line))
