# EXITED or EXITED 1 or SIGNALED SIGSEGV or MEMORY_LIMIT or CPU_LIMIT
import re
sys.setrecursionlimit(10**9)
re.compile("(" * 20_000 + ")" * 20_000)
print("held")
