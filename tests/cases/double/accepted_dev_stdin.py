with open("/dev/stdin") as file:
    print(2 * int(file.read()))
