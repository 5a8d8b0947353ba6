def endless(n):
    return endless(n + 1)


print(endless(0))
