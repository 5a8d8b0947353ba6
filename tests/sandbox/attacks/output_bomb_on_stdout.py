# OUTPUT_LIMIT
for _ in range(200):
    os.write(1, b"x" * (1 << 20))
