print("the answer is")
print(2 * int(input()))
