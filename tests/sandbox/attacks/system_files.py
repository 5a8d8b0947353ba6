# EXITED
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/kcore",
             "/proc/sys/vm/overcommit_memory", "/proc/self/oom_score_adj", "/proc/self/uid_map", "/proc/self/attr/current",
             "/proc/self/timerslack_ns", "/proc/self/clear_refs", "/proc/self/coredump_filter", "/proc/self/mem",
             "/proc/self/task/1/comm", "/proc/thread-self/comm", "/sys/kernel/mm/ksm/run", "/sys/power/state",
             "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs", "/sys/kernel/debug"):
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        refused(os.open, path, flags, also=(errno.ENOENT, errno.EISDIR))
print("held")
