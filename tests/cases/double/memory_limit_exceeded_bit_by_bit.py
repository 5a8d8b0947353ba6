held = []
while True:
    held.append(bytearray(1 << 22))
