print(2 * int(open(0).read()))
