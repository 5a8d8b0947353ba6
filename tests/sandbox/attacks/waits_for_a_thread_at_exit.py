# WALL_LIMIT
import threading
print("held")
threading.Thread(target=threading.Event().wait).start()
