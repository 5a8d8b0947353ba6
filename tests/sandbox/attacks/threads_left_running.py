# EXITED
import threading, time
for _ in range(20):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print("held")
