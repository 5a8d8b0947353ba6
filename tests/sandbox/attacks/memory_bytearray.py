# MEMORY_LIMIT
# cpu_s: 5
held = [bytearray(64 << 20) for _ in range(32)]
