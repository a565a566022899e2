"""What attempts share: how one says that it was refused without an error number, and how one tries several ways."""


class Refused(Exception):
    """The attempt had no effect; the text is its name in the report."""


def first_success(ways):
    """The result of the first way that is not refused; else the last refusal. No way at all is a refusal too."""
    refusal = Refused("nothing to try")
    for way in ways:
        try:
            return way()
        except (OSError, Refused) as error:
            refusal = error
    raise refusal
