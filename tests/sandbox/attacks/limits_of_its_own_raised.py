# EXITED
import resource
for name in ("CPU", "DATA", "AS", "FSIZE", "NOFILE", "CORE", "STACK", "MEMLOCK", "NPROC", "SIGPENDING", "NICE"):
    kind = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:
        assert name not in ("CPU", "DATA", "AS", "FSIZE", "NOFILE", "CORE"), name
        continue
    try:
        resource.setrlimit(kind, (hard, hard + 1))
        raise AssertionError(name)
    except ValueError:
        pass
print("held")
