# SIGNALED SIGSEGV or EXITED 1
# cpu_s: 4
sys.setrecursionlimit(10**9)
value = 0
for _ in range(2_000_000):
    value = (value,)
hash(value)
