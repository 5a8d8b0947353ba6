# SIGNALED SIGSEGV or EXITED 1
# cpu_s: 4
import pickle
sys.setrecursionlimit(10**9)
value = []
for _ in range(600_000):
    value = [value]
pickle.dumps(value)
