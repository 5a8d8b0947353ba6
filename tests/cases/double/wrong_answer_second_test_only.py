number = int(input())
print(2 if number == 1 else 0)
