# WALL_LIMIT
import time
time.sleep(60)
