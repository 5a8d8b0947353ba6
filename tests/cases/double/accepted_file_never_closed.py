out = open(1, "w")
out.write(str(2 * int(input())))
