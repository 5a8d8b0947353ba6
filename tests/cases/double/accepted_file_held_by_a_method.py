write = open(1, "w").write
write(str(2 * int(input())))
