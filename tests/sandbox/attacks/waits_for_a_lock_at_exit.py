# WALL_LIMIT
import atexit, threading
print("held")
atexit.register(threading.Event().wait)
