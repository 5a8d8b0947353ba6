# EXITED
SIGCHLD, VM, FS, FILES, SIGHAND, PTRACE, PARENT, THREAD = 17, 0x100, 0x200, 0x400, 0x800, 0x2000, 0x8000, 0x10000
for flags in (0, SIGCHLD, PARENT, PARENT | SIGCHLD, PTRACE | SIGCHLD, FILES | FS | SIGCHLD, 0x100000000 | SIGCHLD):
    refused(call, 56, flags, 0, 0, 0, 0)
for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    refused(call, 56, namespace | SIGCHLD, 0, 0, 0, 0)
    refused(call, 56, namespace | VM | SIGHAND | THREAD, 0, 0, 0, 0, also=(errno.EINVAL,))
print("held")
