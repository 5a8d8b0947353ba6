# MEMORY_LIMIT
held = [bytearray(64 << 20) for _ in range(32)]
