# CPU_LIMIT or WALL_LIMIT
import threading
def compute():
    while True:
        pass
threading.Thread(target=compute, daemon=True).start()
call(60, 0)
