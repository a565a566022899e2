"""Makes each system call that is given as a JSON list of [name, number, arguments] and tells result and error number."""

import ctypes
import json
import sys

libc = ctypes.CDLL(None, use_errno=True)
results = {}
for name, number, arguments in json.loads(sys.argv[1]):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(argument) for argument in arguments])
    results[name] = [result, ctypes.get_errno()]
print(json.dumps(results))
