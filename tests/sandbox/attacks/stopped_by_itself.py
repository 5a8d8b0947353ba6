# WALL_LIMIT
import signal
os.kill(OWN, signal.SIGSTOP)
