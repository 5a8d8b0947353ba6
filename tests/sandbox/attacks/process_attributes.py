# EXITED
import struct
PR = {"SET_PDEATHSIG": 1, "SET_DUMPABLE": 4, "SET_KEEPCAPS": 8, "SET_TIMING": 14, "SET_SECCOMP": 22, "CAPBSET_DROP": 24,
      "SET_TSC": 26, "SET_SECUREBITS": 28, "SET_TIMERSLACK": 29, "SET_MM": 35, "SET_CHILD_SUBREAPER": 36,
      "SET_NO_NEW_PRIVS": 38, "SET_THP_DISABLE": 41, "CAP_AMBIENT": 47, "SET_SPECULATION": 53, "SET_IO_FLUSHER": 57,
      "SET_SYSCALL_USER_DISPATCH": 59, "SCHED_CORE": 62, "SET_MDWE": 65, "SET_MEMORY_MERGE": 67, "SET_PTRACER": 0x59616D61}
for name, option in PR.items():
    for argument in (0, 1, 2, outside["sentinel"]):
        refused(call, 157, option, argument, 0, 0, 0)
        refused(call, 157, option | (1 << 32), argument, 0, 0, 0)  # the kernel reads the low half
print("held")
