numbers = [*map(float, input().split())]
print("mean %.3f" % (sum(numbers) / len(numbers)))
