# CPU_LIMIT
import re
re.match("(a*)*b", "a" * 64)
