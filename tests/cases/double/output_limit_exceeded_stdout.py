print("x" * (4 << 20))
