# EXITED
import signal
others = {1, os.getppid(), outside["sentinel"], *outside["pids"]}
for pid in others - {OWN}:
    harmless = (0, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH)
    for number in harmless if pid == 1 else (*harmless, signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMIN):
        refused(os.kill, pid, number)
        refused(call, 200, pid, int(number))  # tkill
        refused(call, 234, pid, pid, int(number))  # tgkill
        refused(call, 62, pid | (1 << 32), int(number))  # the kernel reads the low half
        refused(call, 129, pid, int(number), ctypes.create_string_buffer(128))  # rt_sigqueueinfo
        refused(call, 297, pid, pid, int(number), ctypes.create_string_buffer(128))
    refused(os.pidfd_open, pid)
refused(os.killpg, os.getpgrp() or 1, 0)
refused(os.kill, 0, 0)
refused(os.kill, OWN, signal.SIGKILL)
refused(call, 234, OWN, OWN, int(signal.SIGKILL))
refused(call, 62, OWN, int(signal.SIGKILL) | (7 << 32))
refused(call, 424, 0, int(signal.SIGTERM), 0, 0)
print("held")
