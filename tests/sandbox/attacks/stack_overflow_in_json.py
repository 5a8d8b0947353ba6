# SIGNALED SIGSEGV or EXITED 1
import json
sys.setrecursionlimit(10**9)
json.loads("[" * 10**6)
