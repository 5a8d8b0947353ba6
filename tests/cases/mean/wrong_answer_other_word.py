numbers = [*map(float, input().split())]
print("Mean", sum(numbers) / len(numbers))
