# CPU_LIMIT or SIGNALED SIGXCPU or EXITED 1
# cpu_s: 3
# The kernel's SIGKILL shall not look as if the machine had killed the program.
import resource, time
resource.setrlimit(resource.RLIMIT_CPU, (0, 0))
while True:
    pass
