import os
import signal

print(2 * int(input()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
