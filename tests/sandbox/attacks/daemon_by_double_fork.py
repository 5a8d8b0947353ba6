# EXITED
refused(os.setsid)
refused(os.setpgid, 0, 0)
refused(os.fork)
refused(os.setpgrp)
print("held")
