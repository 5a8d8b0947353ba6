numbers = [*map(float, input().split())]
print("mean", sum(numbers) / len(numbers))
