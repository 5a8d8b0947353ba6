numbers = [*map(float, input().split())]
print("mean  %.8g" % (sum(numbers) / len(numbers)))
