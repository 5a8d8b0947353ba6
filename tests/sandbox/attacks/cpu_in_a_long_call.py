# CPU_LIMIT
x = 7 ** (10 ** 8)
