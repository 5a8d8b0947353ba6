# CPU_LIMIT
while True:
    os.getppid()
    os.pread(0, 1, 0)
