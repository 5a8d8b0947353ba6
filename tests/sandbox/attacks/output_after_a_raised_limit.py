# OUTPUT_LIMIT
import resource
for size in (resource.RLIM_INFINITY, 1 << 40):
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    except ValueError:
        pass
for _ in range(100):
    os.write(1, b"x" * (1 << 20))
