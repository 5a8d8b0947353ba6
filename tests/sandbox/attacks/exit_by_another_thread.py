# EXITED
import threading, time
print("held", flush=True)
threading.Thread(target=os._exit, args=(0,)).start()
time.sleep(30)
