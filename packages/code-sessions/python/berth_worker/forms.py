"""How much of the host's bounds the forms of a display take. What is over them must not be sent: the host would end the session."""

_MAX_FORMS = 64
#: Characters of a media type; the host reads at most 1,000 UTF-16 units.
_MAX_TYPE = 500


def size_of(forms, room):
    """In UTF-16 units, as the host counts them. More than `room` for what it would not take."""
    if len(forms) > _MAX_FORMS or any(len(mime) > _MAX_TYPE for mime in forms):
        return room + 1
    size = sum(len(text) for text in forms.values())
    if size > room:
        return size  # not counted more exactly: that would take as much memory again
    return size + sum(_pairs(text) for text in forms.values())


def _pairs(text):
    return 0 if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
