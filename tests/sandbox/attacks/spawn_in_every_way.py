# EXITED
import subprocess
refused(os.posix_spawn, "/bin/true", ["true"], {})
refused(os.posix_spawnp, "true", ["true"], {})
refused(subprocess.run, ["/bin/true"])
refused(subprocess.run, "true", shell=True)
refused(subprocess.Popen, ["/bin/true"], start_new_session=True)
refused(os.popen, "true")
assert os.system("true") != 0
print("held")
