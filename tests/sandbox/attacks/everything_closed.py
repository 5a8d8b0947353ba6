# EXITED
os.write(1, b"held\n")
os.closerange(0, 4096)
