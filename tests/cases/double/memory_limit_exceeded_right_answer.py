held = bytearray(400 << 20)
print(2 * int(input()))
