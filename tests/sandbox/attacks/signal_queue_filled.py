# EXITED
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
sent = 0
try:
    for _ in range(200_000):
        os.kill(OWN, signal.SIGRTMIN)
        sent += 1
except OSError as error:
    assert error.errno == errno.EAGAIN
print("held")
