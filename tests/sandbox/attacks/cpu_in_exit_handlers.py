# CPU_LIMIT
import atexit
def handler():
    while True:
        pass
atexit.register(handler)
print("held")
