# EXITED
import resource
for pid in (os.getppid(), outside["sentinel"]):
    for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
        refused(resource.prlimit, pid, kind)
        refused(resource.prlimit, pid, kind, (0, 0))
    refused(os.setpriority, os.PRIO_PROCESS, pid, 19)
    refused(os.sched_setaffinity, pid, {0})
    refused(os.sched_setscheduler, pid, os.SCHED_IDLE, os.sched_param(0))
refused(os.setpriority, os.PRIO_PGRP, 0, 19)
refused(os.nice, 5)
refused(os.sched_setaffinity, 0, {0})
print("held")
