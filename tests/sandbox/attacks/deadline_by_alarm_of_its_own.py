# SIGNALED SIGALRM
import signal, time
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(5)
