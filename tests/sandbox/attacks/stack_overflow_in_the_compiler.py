# EXITED 1 or SIGNALED SIGSEGV or MEMORY_LIMIT
sys.setrecursionlimit(10**9)
eval("-" * 10**6 + "1")
