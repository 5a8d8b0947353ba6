held = bytearray(4 << 30)
print(2 * int(input()))
