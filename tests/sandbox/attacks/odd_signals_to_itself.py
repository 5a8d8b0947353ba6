# EXITED
import signal
count = [0]
def handler(number, frame):
    count[0] += 1
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD, signal.SIGWINCH, signal.SIGPIPE, signal.SIGRTMIN):
    signal.signal(number, handler)
    os.kill(OWN, number)
    signal.raise_signal(number)
assert count[0] == 12, count
print("held")
