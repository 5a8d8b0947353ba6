import threading
import time


def main():
    time.sleep(0.05)
    print(2 * int(input()))


threading.Thread(target=main).start()
