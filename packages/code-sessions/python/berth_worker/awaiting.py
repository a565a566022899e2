"""Top-level await. One loop for the session's whole life, so that what one cell opened the next can use."""
import asyncio

_loop = None


def run(coroutine):
    """Tasks that the cell left behind go on whenever a later cell awaits."""
    global _loop
    if _loop is None or _loop.is_closed():
        _loop = asyncio.new_event_loop()
    asyncio.set_event_loop(_loop)
    task = _loop.create_task(coroutine)
    try:
        return _loop.run_until_complete(task)
    except BaseException:
        if not task.done():  # interrupted while it waited
            task.cancel()
            try:
                _loop.run_until_complete(task)
            except (Exception, asyncio.CancelledError):
                pass  # what it says about being cancelled matters less than why it was
        raise
