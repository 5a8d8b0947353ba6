# MEMORY_LIMIT or CPU_LIMIT
n = 1 << (8 << 30)
