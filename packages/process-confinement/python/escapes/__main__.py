"""Tries one escape and tells what the system answered. Never tells the content of a file: its length and SHA-256 only.

    python escapes ATTEMPT CONTEXT.json

A line of JSON for the control (it can write and read its own place), and one for the attempt.
"""

import errno
import hashlib
import json
import os
import sys

import descriptors
import files
import ipc
import kernel
import network
import processes
import resources
import shared_files
from refused import Refused

ATTEMPTS = {
    **files.ATTEMPTS,
    **shared_files.ATTEMPTS,
    **processes.ATTEMPTS,
    **descriptors.ATTEMPTS,
    **network.ATTEMPTS,
    **ipc.ATTEMPTS,
    **kernel.ATTEMPTS,
    **resources.ATTEMPTS,
}


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def own_write(context, attempt):
    """Without it, a program that can do nothing at all looks perfectly confined."""
    path = os.path.join(context["workspace"], "own-" + attempt)
    written = os.urandom(32)
    try:
        with open(path, "wb") as stream:
            stream.write(written)
        with open(path, "rb") as stream:
            return {"held": stream.read() == written, "name": ""}
    except OSError as error:
        return {"held": False, "name": errno.errorcode.get(error.errno, "")}


def run(attempt, context):
    try:
        data = ATTEMPTS[attempt](context)
    except OSError as error:
        return {"outcome": "refused", "errno": error.errno, "name": errno.errorcode.get(error.errno, "")}
    except Refused as refused:
        return {"outcome": "refused", "name": str(refused)}
    except MemoryError:
        return {"outcome": "refused", "errno": errno.ENOMEM, "name": "ENOMEM"}
    if data is None:
        return {"outcome": "succeeded"}
    return {"outcome": "succeeded", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def main():
    attempt, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as stream:
        context = json.load(stream)
    say({"control": own_write(context, attempt)})
    say({"result": run(attempt, context)})


main()
