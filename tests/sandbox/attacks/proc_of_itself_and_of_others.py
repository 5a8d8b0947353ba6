# EXITED
pids = ["self", "thread-self", "1", "2", str(os.getppid()), str(OWN), *map(str, outside["pids"])]
for pid in pids:
    for name in ("mem", "environ", "maps", "smaps", "cmdline", "status", "stat", "stack", "syscall", "auxv", "pagemap",
                 "mountinfo", "cgroup", "fdinfo/0", "io", "limits", "sched", "wchan", "root/etc/passwd", "cwd/x",
                 "map_files", "task", "net/unix", "net/tcp"):
        refused(os.open, f"/proc/{pid}/{name}", os.O_RDONLY, also=(errno.ENOENT, errno.ESRCH, errno.ENOTDIR))
    refused(os.listdir, f"/proc/{pid}", also=(errno.ENOENT,))
    refused(os.listdir, f"/proc/{pid}/fd", also=(errno.ENOENT,))
refused(os.listdir, "/proc")
for pid in {"1", str(os.getppid())}:
    refused(os.open, f"/proc/{pid}/ns/pid", os.O_RDONLY)
    for name in ("exe", "cwd", "root", "fd/0", "fd/1", "fd/2", "fd/3", "fd/4", "fd/5", "ns/net"):
        refused(os.readlink, f"/proc/{pid}/{name}", also=(errno.ENOENT,))
        refused(os.open, f"/proc/{pid}/{name}", os.O_RDWR, also=(errno.ENOENT, errno.EISDIR))
print("held")
