import math

assert not hasattr(math, "seen"), "another test's state"
math.seen = True
print(2 * int(input()))
