# EXITED
import glob
for path in (outside["file"], outside["home_file"], "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc",
             outside["judge_source"], outside["test_source"], "/proc/mounts", "/etc/ssl/private", "/var/log/syslog"):
    refused(open, path, also=(errno.ENOENT, errno.ENOTDIR))
    refused(os.open, path, os.O_RDONLY, also=(errno.ENOENT, errno.ENOTDIR))
for folder in (outside["folder"], "/", "/root", "/home", "/etc", "/tmp", "/dev", "/dev/shm", "/work", "/var", "/sys"):
    refused(os.listdir, folder, also=(errno.ENOENT,))
assert glob.glob("/tmp/*") == glob.glob("/root/*") == glob.glob("/*") == []
assert [*os.walk(outside["folder"])] == []
print("held")
