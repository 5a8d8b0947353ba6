# WALL_LIMIT
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    time.sleep(60)
