# SIGNALED SIGABRT
import resource
assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
os.abort()
