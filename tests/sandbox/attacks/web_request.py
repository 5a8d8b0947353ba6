# EXITED
import urllib.request
for address in (f"http://127.0.0.1:{outside['tcp']}/", "http://localhost/", "file:///etc/passwd", f"file://{outside['file']}"):
    try:
        urllib.request.urlopen(address, timeout=1)
        raise AssertionError(address)
    except OSError:
        pass
print("held")
