# CPU_LIMIT
import resource, signal
for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass
